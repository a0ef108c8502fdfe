"""Queues that are asked for workers: SLURM, PBS and Kubernetes, by a YAML file."""

import contextlib
import importlib
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from mam.core.limits import QUEUE_CHARACTERS


class QueueKind(NamedTuple):
    """The class of a kind of queue, and the package that has it."""

    module: str
    name: str
    package: str


QUEUES = {
    "slurm": QueueKind("dask_jobqueue", "SLURMCluster", "dask-jobqueue"),
    "pbs": QueueKind("dask_jobqueue", "PBSCluster", "dask-jobqueue"),
    "kubernetes": QueueKind("dask_kubernetes.operator", "KubeCluster", "dask-kubernetes"),
}
# How Dask hands its settings to processes that it starts on other machines.
_INHERITED = "DASK_INTERNAL_INHERIT_CONFIG"


def queue_settings(spec: str) -> tuple[str, type, int, dict[str, Any]]:
    """The kind, class, number of workers and settings that a file names."""
    about = _read_yaml(spec)
    if not isinstance(about, Mapping) or str(about.get("kind")) not in QUEUES:
        raise ValueError(f"{spec}: has no kind; it is one of {', '.join(QUEUES)}")
    workers, settings = about.get("workers", 1), about.get("settings", {})
    if not isinstance(workers, int) or isinstance(workers, bool) or workers < 1:
        raise ValueError(f"{spec}: workers is a number of at least 1, not {workers!r}")
    if not isinstance(settings, Mapping) or not all(isinstance(name, str) for name in settings):
        raise ValueError(f"{spec}: settings is a list of names and values, not {settings!r}")
    if strange := sorted(set(map(str, about)) - {"kind", "workers", "settings"}):
        raise ValueError(f"{spec}: {strange[0]} is none of kind, workers, settings")
    kind = str(about["kind"])
    module, name, package = QUEUES[kind]
    try:
        found = getattr(importlib.import_module(module), name)
    except ImportError:
        raise ValueError(f"{spec}: {kind} needs `pip install {package}`") from None
    return kind, found, workers, dict(settings)


def _read_yaml(spec: str) -> Any:
    """What a file says, which is not much, also where aliases repeat it."""
    import yaml

    try:
        with Path(spec).open(encoding="utf-8") as file:
            text = file.read(QUEUE_CHARACTERS + 1)
        if len(text) <= QUEUE_CHARACTERS:
            about = yaml.safe_load(text)
            if _written_out(about, {}) <= QUEUE_CHARACTERS:
                return about
        raise ValueError(f"{QUEUE_CHARACTERS} characters are the most")
    except FileNotFoundError:
        raise ValueError(
            f"--cluster {spec}: give local, local:N, tcp://HOST:PORT, or a YAML file that is there"
        ) from None
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        reason = " ".join(str(error).split())
        raise ValueError(f"--cluster {spec}: cannot be read as YAML ({reason})") from None


def _written_out(value: Any, known: dict[int, float]) -> float:
    """About how many characters a value has without aliases; what contains itself has no end."""
    if isinstance(value, str):
        return len(value) + 1.0
    if not isinstance(value, list | tuple | set | Mapping):
        return 8.0
    if id(value) not in known:
        known[id(value)] = math.inf
        inner = (*value, *value.values()) if isinstance(value, Mapping) else value
        known[id(value)] = 1.0 + sum(_written_out(one, known) for one in inner)
    return known[id(value)]


@contextlib.contextmanager
def opened_queue(spec: str, config: Mapping[str, Any]) -> Iterator[Any]:
    """A cluster of the workers that a file asks for, which have these settings of Dask."""
    kind, found, workers, given = queue_settings(spec)
    settings = _completed(kind, workers, given, config)
    try:
        cluster = found(**settings)
    except Exception as error:
        # Whatever it is: settings of the wrong name, a queue that is not there, no leave to ask it.
        what = (
            "does not take these settings" if isinstance(error, TypeError) else "is not to be had"
        )
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ValueError(f"{spec}: {found.__name__} {what} ({reason})") from None
    with cluster:
        cluster.scale(workers)
        yield cluster


def _completed(
    kind: str, workers: int, given: dict[str, Any], config: Mapping[str, Any]
) -> dict[str, Any]:
    """The settings of a file, with what makes workers work and say little."""
    from dask import config as dask_config

    inherited = _inherited(config)
    if kind == "kubernetes":
        # Its pictures of what it does would stand among our answers.
        known = {"quiet": True, "n_workers": workers, **given}
        env = given.get("env")
        if isinstance(env, list):
            return known | {"env": [*env, {"name": _INHERITED, "value": inherited}]}
        return known | {"env": {**(env or {}), _INHERITED: inherited}}
    site = dask_config.get(f"jobqueue.{kind}", {})  # what the machines' own settings say
    prologue = given.get("job_script_prologue", site.get("job-script-prologue")) or []
    scheduler = given.get("scheduler_options", site.get("scheduler-options")) or {}
    return given | {
        "job_script_prologue": [*prologue, f"export {_INHERITED}={inherited}"],
        # For nobody else, and not at a port that another has.
        "scheduler_options": {"dashboard_address": "127.0.0.1:0", **scheduler},
    }


def _inherited(config: Mapping[str, Any]) -> str:
    from dask import config as dask_config

    nested: dict[str, Any] = {}
    dask_config.set(config, config=nested)
    return dask_config.serialize(nested)
