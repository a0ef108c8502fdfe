"""Commands on a cluster answer what they answer without one."""

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from mam.cli import app
from mam.data import encode_png, make_row, recipe, write_dataset
from mam.scale import answers_in
from mam.vision.elastic.bank import Bank

pytest.importorskip("distributed")


def told(*arguments: object, code: int = 0) -> str:
    found = CliRunner().invoke(app, [str(one) for one in arguments])
    if code:
        assert found.exit_code != 0
        return str(found.exception)
    assert found.exit_code == 0, found.output + str(found.exception)
    return found.stdout


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "easy.parquet"
    told("make", "pathfinder", "--level", "easy", "--count", 6, "--out", path, "--shard-rows", 2)
    return path


def test_made_rows_are_the_same(data: Path, tmp_path: Path) -> None:
    options = ("--level", "easy", "--count", 6, "--shard-rows", 2, "--cluster", "local:1")
    out = tmp_path / "easy.parquet"
    found = json.loads(told("make", "pathfinder", *options, "--out", out, "--json"))
    assert out.read_bytes() == data.read_bytes()
    assert (found["out"], found["rows"]) == (str(out), 6) and found["per_second"] > 0


def test_reports_are_the_same(data: Path, tmp_path: Path) -> None:
    here = json.loads(told("evaluate", "pathfinder", data, "--json"))
    options = ("--cluster", "local:1", "--out", tmp_path / "answers", "--limit", 6)
    there = json.loads(told("evaluate", "pathfinder", data, "--json", *options))
    times = {"per_second": 0, "compile_s": 0}
    assert {**here, **times} == {**there, **times}
    assert told("evaluate", "pathfinder", data, *options).startswith("accuracy: 1.0")
    assert "give --out" in told("evaluate", "pathfinder", data, "--cluster", "local", code=1)


def test_curves_of_many_pictures(tmp_path: Path) -> None:
    for name, row in (("one.png", 20), ("two.png", 30)):
        picture = np.zeros((60, 80), np.uint8)
        picture[row : row + 3, 10:70] = 255
        (tmp_path / name).write_bytes(encode_png(picture))
    (tmp_path / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\nno")
    out = tmp_path / "answers"
    options = ("--cluster", "local:1", "--out", out, "--json")
    found = json.loads(told("group", tmp_path, *options))
    assert (found["items"], found["errors"], found["set_aside"]) == (3, 1, {})
    answers = {Path(name).name: answer for name, answer in answers_in(out)}
    assert "broken.png" in str(answers["broken.png"].error)
    for name in ("one.png", "two.png"):
        png = tmp_path / "drawn.png"
        alone = json.loads(told("group", tmp_path / name, "--out", png, "--json"))
        files = ("files",)
        expected = {key: value for key, value in alone.items() if key not in files}
        assert answers[name].value == expected
    assert "the input is another" in told("group", tmp_path / "one.png", *options, code=1)


@pytest.mark.slow
def test_letters_of_many_pictures(tmp_path: Path) -> None:
    for name, number in (("one.png", 0), ("two.png", 1)):
        image = make_row(recipe("cabc", "easy", 3), number).image
        (tmp_path / name).write_bytes(encode_png(image))
    (tmp_path / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\nno")
    out = tmp_path / "answers"
    options = ("--model", few_letters(tmp_path), "--json")
    spread = ("--cluster", "local:1", "--out", out)
    found = json.loads(told("find", tmp_path, *options, *spread))
    assert (found["items"], found["errors"], found["set_aside"]) == (3, 1, {})
    answers = {Path(name).name: answer for name, answer in answers_in(out)}
    assert "broken.png" in str(answers["broken.png"].error)
    for name in ("one.png", "two.png"):
        alone = json.loads(told("find", tmp_path / name, *options))
        assert len(alone["matches"]) == 2 and answers[name].value == alone
    assert "copies was 2, now 3" in told("find", tmp_path, "--copies", 3, *options, *spread, code=1)


@pytest.mark.slow
def test_letters_that_are_evaluated(tmp_path: Path) -> None:
    rows = write_dataset(recipe("cabc", "easy", 3), 3, tmp_path / "rows.parquet")
    words = ("evaluate", "cabc", rows, "--model", few_letters(tmp_path), "--json")
    here = json.loads(told(*words))
    there = json.loads(told(*words, "--cluster", "local:1", "--out", tmp_path / "answers"))
    times = {"per_second": 0, "compile_s": 0}
    assert here["n"] == 3 and {**here, **times} == {**there, **times}


def few_letters(folder: Path) -> Path:
    """A model of a few graphs, which are soon searched for."""
    path = folder / "few.safetensors"
    bank = Bank.load("letters")
    bank.take(np.arange(0, len(bank), 200)).save(path)
    return path


def test_answers_do_not_go_among_the_pictures(data: Path, tmp_path: Path) -> None:
    """With shards among them the folder would be a data set, and the same command would end."""
    (tmp_path / "one.png").write_bytes(encode_png(np.eye(9, dtype=np.uint8)))
    (tmp_path / "other").symlink_to(tmp_path)
    for given in (tmp_path, tmp_path / "one.png"):
        for out in (tmp_path, tmp_path / "other"):
            words = ("group", given, "--cluster", "local:1", "--out", out)
            assert "the input lies there; choose a folder" in told(*words, code=1)
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["one.png", "other"]
    there = ("evaluate", "pathfinder", data, "--cluster", "local:1", "--out", data.parent)
    assert "the input lies there" in told(*there, code=1)


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ("find a.png --cluster local:1 --out x --out y.csv", "give one folder, --out FOLDER"),
        ("find a.png --item-seconds 7", "--item-seconds is for runs with --cluster: add"),
        ("group a.png --item-seconds 7", "--item-seconds is for runs with --cluster: add"),
        ("evaluate cabc a.parquet --out x", "--out is for runs with --cluster: add"),
        ("evaluate curves a.parquet --out x", "--out is for runs with --cluster: add"),
        ("evaluate objects a.parquet --item-seconds 7", "--item-seconds is for runs with"),
        ("evaluate pathfinder a.parquet --item-seconds 7", "--item-seconds is for runs with"),
    ],
)
def test_options_that_would_do_nothing(words: str, error: str) -> None:
    assert error in told(*words.split(), code=1)


@pytest.mark.parametrize(
    ("cluster", "error"),
    [
        ("local:0", "local:N with a number"),
        ("local:x", "local:N with a number"),
        ("local:²", "local:N with a number"),
        ("tcp://head", "such as tcp://head:8786"),
        ("nowhere.yaml", "or a YAML file that is there"),
        ("{}", "has no kind"),
        ("kind: slurm\nworkers: 0", "workers is a number"),
        ("kind: slurm\nqueue: a", "queue is none of"),
        ("kind: slurm\nsettings: [1]", "settings is a list"),
        ("a: [", "cannot be read as YAML"),
        (f"a: {'x' * 70_000}", "65536 characters are the most"),
        ("a: &a {kind: [*a, *a]}", "65536 characters are the most"),
        ("a: &a [1]\nkind: slurm\nsettings: *b", "cannot be read as YAML (found undefined alias"),
        ("kind: slurm\nworkers: true", "workers is a number"),
        ("kind: kubernetes", "pip install dask-kubernetes"),
    ],
)
def test_clusters_that_cannot_be_meant(tmp_path: Path, cluster: str, error: str) -> None:
    if (":" in cluster and not cluster.startswith(("local", "tcp"))) or cluster == "{}":
        (tmp_path / "c.yaml").write_text(cluster)
        cluster = str(tmp_path / "c.yaml")
    (tmp_path / "one.png").write_bytes(encode_png(np.eye(9, dtype=np.uint8)))
    out = tmp_path / "answers"
    assert error in told("group", tmp_path / "one.png", "--cluster", cluster, "--out", out, code=1)
    assert not out.exists()
