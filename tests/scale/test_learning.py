"""What is learned or reproduced on a cluster is what one process makes, byte for byte."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from mam.cli import app
from mam.commands.learn.groupers import _contour_job
from mam.commands.over_shards import taught
from mam.data import recipe, rows_of, write_dataset
from mam.scale import ItemAnswer, map_shards
from mam.scale.answers import aside, write_answers
from mam.scale.learning import LearnJob, _values, bank_from, contours_from
from mam.tasks.learning import learn_objects
from mam.tasks.pathfinder import fit
from mam.vision.curves.strokes.contour_grouper import ContourGrouper
from mam.vision.parts.masks import Parts

pytest.importorskip("distributed")

CLUSTER = ("--cluster", "local:1")


def told(*arguments: object) -> str:
    found = CliRunner().invoke(app, [str(one) for one in arguments], catch_exceptions=False)
    assert found.exit_code == 0, found.output
    return found.stdout


def made(folder: Path, kind: str, level: str, count: int) -> Path:
    return write_dataset(recipe(kind, level, 3), count, folder / f"{kind}.parquet")


def learned(tmp_path: Path, *arguments: object) -> tuple[bytes, bytes]:
    """The model of one process, and that of a cluster."""
    here, there = tmp_path / "here.safetensors", tmp_path / "there.safetensors"
    one = json.loads(told("learn", *arguments, "--out", here, "--json"))
    other = json.loads(told("learn", *arguments, "--out", there, "--json", *CLUSTER))
    rest = {"out", "seconds", "per_second"}
    assert {**one, **dict.fromkeys(rest)} == {**other, **dict.fromkeys(rest)}
    assert not list(tmp_path.glob("*.shards"))
    return here.read_bytes(), there.read_bytes()


def test_contours_on_a_cluster(tmp_path: Path) -> None:
    data = made(tmp_path, "pathfinder", "easy", 3)
    here, there = learned(tmp_path, "contours", data, "--sparsifications", 2, "--images", 2)
    assert here == there


def on_a_cluster(make: Any, data: Path, out: Path) -> Any:
    return taught(make, str(data), out, "local:1", None, True)


def letters(folder: Path) -> LearnJob:
    return LearnJob("letters", (("preset", "best"),))


def test_what_others_put_into_the_folder_stays(tmp_path: Path, in_process: None) -> None:
    data, out = made(tmp_path, "cabc", "easy", 1), tmp_path / "a.safetensors"
    folder = tmp_path / "a.safetensors.shards"
    (folder / ".models").mkdir(parents=True)
    kept = [folder / "notes.txt", folder / "parts.safetensors", folder / ".models" / "mine"]
    for path in kept:
        path.write_text("mine")

    def contours(folder: Path) -> LearnJob:
        return _contour_job(ContourGrouper(Parts.load("pathfinder-parts")), folder)

    for make in (letters, contours):
        with on_a_cluster(make, data, out) as given:
            assert given == folder and (folder / "manifest.json").exists()
        assert sorted(path for path in folder.rglob("*") if path.is_file()) == sorted(kept)
        assert all(path.read_text() == "mine" for path in kept)


def test_the_folder_is_held_until_it_is_gone(tmp_path: Path, in_process: None) -> None:
    data, out = made(tmp_path, "cabc", "easy", 1), tmp_path / "a.safetensors"
    with on_a_cluster(letters, data, out) as folder:
        with (
            pytest.raises(OSError, match="another run is writing there"),
            on_a_cluster(letters, data, out),
        ):
            pass
        assert (folder / "part-00000.parquet").exists()
    assert not folder.exists()
    with pytest.raises(RuntimeError), on_a_cluster(letters, data, out):
        raise RuntimeError("no model was made of it")
    assert (folder / "part-00000.parquet").exists()  # the same command goes on


@pytest.mark.slow
def test_letters_on_a_cluster(tmp_path: Path) -> None:
    here, there = learned(tmp_path, "objects", made(tmp_path, "cabc", "easy", 3), "--limit", 2)
    assert here == there


def _timeless(report: dict) -> dict:
    return {**report, "per_second": 0, "compile_s": 0}


@pytest.mark.slow
def test_objects_and_their_evaluation_on_a_cluster(tmp_path: Path) -> None:
    data = made(tmp_path, "objects", "easy", 24)
    here, there = learned(tmp_path, "objects", data, "--graphs", 20, "--split", "train")
    assert here == there
    model = ("--model", tmp_path / "here.safetensors", "--graphs", 20, "--json")
    split = ("evaluate", "objects", data, "--split", "test", *model)
    alone = json.loads(told(*split))
    spread = json.loads(told(*split, *CLUSTER, "--out", tmp_path / "answers"))
    assert alone["n"] > 1 and _timeless(alone) == _timeless(spread)


@pytest.mark.slow
def test_contours_by_the_paper_row_by_row(tmp_path: Path) -> None:
    data = made(tmp_path, "pathfinder", "easy", 3)
    known = {"preset": "paper", "sparsifications": 2, "seed": 0}
    job = LearnJob("contours", tuple(known.items()), ("pathfinder-parts",))
    map_shards(job, [data], tmp_path / "taught", shard_bytes=1)
    contours_from(tmp_path / "taught", ContourGrouper(**known)).save(tmp_path / "rows.safetensors")
    fit(str(data), ContourGrouper(**known), 3).save(tmp_path / "whole.safetensors")
    assert len({path.read_bytes() for path in tmp_path.glob("*.safetensors")}) == 1


def test_letters_row_by_row(tmp_path: Path) -> None:
    data = str(made(tmp_path, "cabc", "easy", 3))
    map_shards(LearnJob("letters", (("preset", "best"),)), [data], tmp_path / "taught")
    bank_from(tmp_path / "taught", data, "best").save(tmp_path / "rows.safetensors")
    learn_objects(rows_of(data), data).save(tmp_path / "whole.safetensors")
    assert len({path.read_bytes() for path in tmp_path.glob("*.safetensors")}) == 1


@pytest.mark.slow
def test_masks_and_shards_of_one_row(tmp_path: Path) -> None:
    data = str(made(tmp_path, "objects", "easy", 3))
    map_shards(LearnJob("masks"), [data], tmp_path / "taught", shard_bytes=1)
    found, alone = bank_from(tmp_path / "taught", data, None), learn_objects(rows_of(data), data)
    found.save(tmp_path / "found.safetensors")
    alone.save(tmp_path / "alone.safetensors")
    assert len({path.read_bytes() for path in tmp_path.glob("*.safetensors")}) == 1


def test_rows_that_teach_nothing_are_named(tmp_path: Path) -> None:
    data = str(made(tmp_path, "curves", "easy", 2))
    map_shards(LearnJob("letters", (("preset", "best"),)), [data], tmp_path / "taught")
    with pytest.raises(ValueError, match=r"curves.parquet#0: is no row of cABC"):
        bank_from(tmp_path / "taught", data, "best")


def test_how_a_row_that_was_set_aside_is_tried_anew(tmp_path: Path) -> None:
    answers = [ItemAnswer({}), aside("its worker died, twice")]
    write_answers(tmp_path / "part-00000.parquet", "run", ["a#0", "a#1"], answers)
    with pytest.raises(ValueError, match=r"a#1: set aside: its worker died, twice; remove \S+ to"):
        list(_values(tmp_path))


def same(one: Any) -> Any:
    """A record without its times."""
    if isinstance(one, dict):
        return {
            key: same(own)
            for key, own in one.items()
            if key not in ("seconds", "per_second", "compile_s")
        }
    return one


@pytest.mark.slow
def test_steps_of_an_experiment(tmp_path: Path) -> None:
    words = ("reproduce", "objects", "--runs", 1)
    told(*words, "--out", tmp_path / "here")
    told(*words, "--out", tmp_path / "there", *CLUSTER)
    here, there = tmp_path / "here" / "objects", tmp_path / "there" / "objects"
    names = sorted(path.name for path in here.iterdir())
    assert names == sorted(path.name for path in there.iterdir())
    for name in names:
        if name.endswith(".json"):
            first, second = ((one / name).read_text() for one in (here, there))
            assert same(json.loads(first)) == same(json.loads(second))
        else:
            assert (here / name).read_bytes() == (there / name).read_bytes()
    assert (tmp_path / "there" / "objects.html").is_file()
