"""Workers of a queue: SLURM and PBS by stand-ins of their programs, Kubernetes up to the call."""

import inspect
import json
import os
import stat
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from mam.cli import app
from mam.data import encode_png
from mam.scale import answers_in
from mam.scale.clusters import opened_cluster
from mam.scale.queues import queue_settings

pytest.importorskip("distributed")
pytest.importorskip("dask_jobqueue")

ROOT = Path(__file__).parents[2]
# What the programs of a queue do here: run the script at once, and end it with all that it started.
SUBMIT = """#!/bin/sh
echo "$@" >> "$QUEUE_LOG"
cd "$QUEUE_HOME"
cp "$1" job-$$.sh  # as a queue does; it is removed when this ends
setsid sh job-$$.sh >/dev/null 2>&1 &
echo "{said}"
"""
CANCEL = """#!/bin/sh
echo cancel "$@" >> "$QUEUE_LOG"
kill -9 -- "-${1%%.*}"
"""
PROGRAMS = {
    "slurm": ("sbatch", "Submitted batch job $!", "scancel"),
    "pbs": ("qsub", "$!.head", "qdel"),
}
SETTINGS = "{queue: long, cores: 1, processes: 1, memory: 2GB, interface: lo, walltime: '00:10:00'}"


@pytest.fixture
def queue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Path:
    """A YAML file for a queue that is there."""
    submit, said, cancel = PROGRAMS[request.param]
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, text in ((submit, SUBMIT.replace("{said}", said)), (cancel, CANCEL)):
        (programs / name).write_text(text)
        (programs / name).chmod(0o755 | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("QUEUE_LOG", str(tmp_path / "asked.txt"))
    monkeypatch.setenv("QUEUE_HOME", str(programs))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    path = tmp_path / "queue.yaml"
    path.write_text(f"kind: {request.param}\nworkers: 2\nsettings: {SETTINGS}\n")
    return path


def environment(name: str) -> tuple[Any, str | None]:
    from dask import config

    return config.get(name), os.environ.get("MALLOC_TRIM_THRESHOLD_")


@pytest.mark.parametrize(
    "queue", ["slurm", pytest.param("pbs", marks=pytest.mark.slow)], indirect=True
)
def test_a_command_by_a_queue(queue: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "in").mkdir()
    for row in (20, 30):
        picture = np.zeros((60, 80), np.uint8)
        picture[row : row + 3, 10:70] = 255
        (tmp_path / "in" / f"{row}.png").write_bytes(encode_png(picture))
    # Jobs begin elsewhere than the command, which is given relative paths.
    monkeypatch.chdir(tmp_path)
    words = ["group", "in", "--model", "curves", "--cluster", str(queue), "--out", "out", "--json"]
    found = CliRunner().invoke(app, words, catch_exceptions=False)
    assert found.exit_code == 0, found.output
    told = json.loads(found.stdout)
    assert (told["items"], told["errors"], told["out"]) == (2, 0, "out")
    answers = {name: answer.value for name, answer in answers_in(tmp_path / "out")}
    assert sorted(answers) == ["in/20.png", "in/30.png"]
    assert all(len(answer["curves"]) == 1 for answer in answers.values())
    asked = (tmp_path / "asked.txt").read_text().splitlines()
    assert len([line for line in asked if not line.startswith("cancel")]) == 2


@pytest.mark.parametrize("queue", ["slurm"], indirect=True)
def test_workers_of_a_queue_are_set_as_those_of_this_machine(queue: Path) -> None:
    with opened_cluster(str(queue)) as client:
        client.wait_for_workers(1, timeout=60)
        told = client.submit(environment, "distributed.worker.profile.enabled").result()
    assert told == (False, None)


def test_a_queue_is_asked_for_what_the_file_says(tmp_path: Path) -> None:
    import dask_jobqueue

    path = tmp_path / "slurm.yaml"
    settings = "{queue: long, cores: 4, memory: 8GB, walltime: '02:00:00'"
    settings += ", scheduler_options: {dashboard_address: ':0'}}"  # another's may have its port
    path.write_text(f"kind: slurm\nworkers: 3\nsettings: {settings}\n")
    name, kind, workers, known = queue_settings(str(path))
    assert (name, kind, workers) == ("slurm", dask_jobqueue.SLURMCluster, 3)
    with kind(**known) as cluster:
        script = cluster.job_script()
    assert "#SBATCH -p long" in script and "-t 02:00:00" in script


ASKED: list[Any] = []


def kube_cluster() -> type:
    """A class with the arguments of dask-kubernetes 2026.3 that starts workers in this process."""
    from distributed import LocalCluster

    class KubeCluster(LocalCluster):
        def __init__(
            self,
            *,
            name: str | None = None,
            namespace: str | None = None,
            image: str | None = None,
            n_workers: int | None = None,
            resources: dict[str, Any] | None = None,
            env: list[dict] | dict[str, str] | None = None,
            worker_command: list[str] | None = None,
            custom_cluster_spec: str | dict | None = None,
            idle_timeout: int | None = None,
            quiet: bool = False,
        ) -> None:
            ASKED.append({key: own for key, own in locals().items() if key[0] not in "_s"})
            settings = {"silence_logs": 50, "dashboard_address": "127.0.0.1:0"}
            super().__init__(n_workers=0, processes=False, **settings)  # type: ignore[arg-type]

        def scale(self, n: int, worker_group: str = "default") -> None:  # type: ignore[override]
            ASKED.append(n)
            super().scale(n)

    return KubeCluster


@pytest.fixture
def operator(monkeypatch: pytest.MonkeyPatch) -> None:
    package, module = ModuleType("dask_kubernetes"), ModuleType("dask_kubernetes.operator")
    module.KubeCluster = kube_cluster()  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "dask_kubernetes", package)
    monkeypatch.setitem(sys.modules, "dask_kubernetes.operator", module)
    ASKED.clear()


@pytest.mark.parametrize("env", ["", ", env: {A: b}", ", env: [{name: A, value: b}]"])
def test_kubernetes_is_asked_for_what_the_file_says(
    tmp_path: Path, operator: None, env: str
) -> None:
    """As far as the call: the cluster that answers is one of this machine."""
    path = tmp_path / "kubernetes.yaml"
    settings = "{name: mam, image: 'mam:1', resources: {limits: {memory: 8Gi}}" + env + "}"
    path.write_text(f"kind: kubernetes\nworkers: 2\nsettings: {settings}\n")
    with opened_cluster(str(path)) as client:
        client.wait_for_workers(2, timeout=30)
        assert client.submit(sum, [1, 2]).result() == 3
    known, workers = ASKED[:2]
    expected = {"name": "mam", "image": "mam:1", "resources": {"limits": {"memory": "8Gi"}}}
    assert workers == 2 and {key: known[key] for key in expected} == expected
    # It draws what it does on standard output otherwise, and starts with three workers.
    assert known["quiet"] is True and known["n_workers"] == 2
    given = known["env"]
    if isinstance(given, list):
        given = {one["name"]: one["value"] for one in given}
    assert given.get("A") == ("b" if env else None)
    assert "DASK_INTERNAL_INHERIT_CONFIG" in given


def test_the_stand_in_of_kubernetes_is_like_the_real_one() -> None:
    real = pytest.importorskip("dask_kubernetes.operator").KubeCluster
    own = inspect.signature(kube_cluster().__init__).parameters
    assert set(own) <= set(inspect.signature(real.__init__).parameters)
    own = inspect.signature(kube_cluster().scale).parameters
    assert list(own) == list(inspect.signature(real.scale).parameters)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (TypeError("unexpected red"), "does not take these settings"),
        (OSError(), "is not to be had"),
    ],
)
def test_a_queue_that_refuses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, words: str
) -> None:
    import dask_jobqueue

    class Refusing:
        def __init__(self, **settings: object) -> None:
            raise error

    # The real one, half made, complains when it is forgotten.
    monkeypatch.setattr(dask_jobqueue, "PBSCluster", Refusing)
    path = tmp_path / "pbs.yaml"
    path.write_text("kind: pbs\nsettings: {colour: red}")
    with pytest.raises(ValueError, match=rf"pbs.yaml: Refusing {words}"), opened_cluster(str(path)):
        pass


@pytest.mark.parametrize(
    "place", ["kind: {}", "kind: slurm\nworkers: {}", "kind: slurm\nsettings: {}"]
)
@pytest.mark.parametrize(
    "inner", ["[*{0}, *{0}]", "!!pairs [k: *{0}, l: *{0}]", "{{a: *{0}, b: *{0}}}"]
)
def test_aliases_that_unpack_to_gigabytes(tmp_path: Path, place: str, inner: str) -> None:
    lines = ["a0: &a0 [" + "x, " * 20 + "]"]
    lines += [f"a{k}: &a{k} {inner.format(f'a{k - 1}')}" for k in range(1, 40)]
    path = tmp_path / "a.yaml"
    path.write_text("\n".join([*lines, place.format("*a39")]))
    with pytest.raises(ValueError, match=r"a\.yaml: cannot be read as YAML \(65536 characters are"):
        queue_settings(str(path))


def test_a_setting_that_kubernetes_does_not_know(tmp_path: Path, operator: None) -> None:
    path = tmp_path / "kubernetes.yaml"
    path.write_text("kind: kubernetes\nsettings: {colour: red}")
    words = "does not take these settings .*colour"
    with pytest.raises(ValueError, match=words), opened_cluster(str(path)):
        pass
