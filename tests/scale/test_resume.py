"""A run that is started again tells of the whole, and knows what it is made of."""

import json
import os
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from mam.scale import EstimatorJob, ItemAnswer, answers_in, map_shards, plan_shards
from mam.scale.answers import as_json, printable, write_answers
from mam.scale.content import content_digest
from mam.scale.manifest import copied_models
from tests.scale.jobs import SizeJob
from tests.scale.test_items import FaultyJob, Mean, as_value, image_of


def pictures(folder: Path, *names: str) -> list[Path]:
    folder.mkdir(exist_ok=True)
    for name in names:
        (folder / f"{name}.png").write_bytes(b"x" * 60)
    return [folder / f"{name}.png" for name in names]


def test_totals_are_of_all_shards(tmp_path: Path) -> None:
    paths = pictures(tmp_path / "in", "a", "bad", "c", "d")
    job, out = SizeJob(str(tmp_path)), tmp_path / "out"
    first = map_shards(job, paths, out, shard_bytes=1)
    (out / "part-00003.parquet").unlink()
    again = map_shards(job, paths, out, shard_bytes=1)
    assert (first.items, first.errors) == (again.items, again.errors) == (4, 1)
    assert again.kept == 3


def test_what_was_set_aside_is_told_though_nobody_heard_of_it(tmp_path: Path) -> None:
    """The client was killed between a shard's file and the manifest's."""
    paths = pictures(tmp_path / "in", "a", "memory", "c")
    out = tmp_path / "out"
    first = map_shards(FaultyJob(), paths, out)
    assert list(first.set_aside) == [str(paths[1])]
    manifest = json.loads((out / "manifest.json").read_text())
    told = manifest["set_aside"]
    assert [one["item"] for one in told] == [str(paths[1])]
    (out / "manifest.json").write_text(json.dumps({**manifest, "set_aside": [], "done": False}))
    again = map_shards(FaultyJob(), paths, out)
    assert again.kept == 3 and again.set_aside == first.set_aside
    assert json.loads((out / "manifest.json").read_text())["set_aside"] == told


@pytest.mark.parametrize("told", [b"[" * 100_000, b"[1]", b'{"items": 1}', b"{", b"\xff"])
def test_shards_that_tell_nonsense_are_written_again(tmp_path: Path, told: bytes) -> None:
    paths, out = pictures(tmp_path / "in", "a", "b"), tmp_path / "out"
    first = map_shards(SizeJob(str(tmp_path)), paths, out)
    path = out / "part-00000.parquet"
    table = pq.read_table(path)
    pq.write_table(table.replace_schema_metadata(table.schema.metadata | {b"mam.told": told}), path)
    again = map_shards(SizeJob(str(tmp_path)), paths, out)
    assert (again.items, again.kept, again.errors) == (first.items, 0, first.errors)


def test_a_manifest_of_brackets_is_named(tmp_path: Path) -> None:
    paths, out = pictures(tmp_path / "in", "a"), tmp_path / "out"
    out.mkdir()
    (out / "manifest.json").write_text("[" * 100_000)
    with pytest.raises(ValueError, match=r"out.manifest\.json: is no manifest; choose"):
        map_shards(SizeJob(str(tmp_path)), paths, out)


def test_an_answer_that_could_not_be_read_is_refused() -> None:
    deep: list = []
    for _ in range(100):
        deep = [deep]
    with pytest.raises(ValueError, match=r"its answer is no JSON .*brackets deep"):
        as_json(ItemAnswer({"x": deep}))


def test_an_input_that_changed_is_named(tmp_path: Path) -> None:
    paths = pictures(tmp_path / "in", "a", "b", "c", "d")
    job, out = SizeJob(str(tmp_path)), tmp_path / "out"
    map_shards(job, paths, out, shard_bytes=120)
    os.utime(paths[3], (1, 1))
    with pytest.raises(ValueError, match=r"c.png, or another up to \S*d.png, was written since"):
        map_shards(job, paths, out, shard_bytes=120)
    more = [*paths[:2], *pictures(tmp_path / "in", "e"), *paths[2:]]
    with pytest.raises(ValueError, match=r"now 5 in 3\); item 3 was \S*c.png, now \S*e.png"):
        map_shards(job, more, out, shard_bytes=120)
    with pytest.raises(ValueError, match=r"now 3 in 1\); item 1 was \S*a.png, now \S*b.png"):
        map_shards(job, paths[1:], out, shard_bytes=180)


def test_a_model_that_changes_as_the_run_begins_is_refused(tmp_path: Path) -> None:
    """Else the answers would be of another model than their fingerprint."""
    with (
        pytest.raises(ValueError, match="curves: was written anew as the run began"),
        copied_models(tmp_path, {"models": {"curves": "0" * 64}}),
    ):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_shard_of_another_run_is_written_again(tmp_path: Path) -> None:
    """A worker of a run that was stopped wrote over it."""
    paths = pictures(tmp_path / "in", "a", "b")
    out = tmp_path / "out"

    class Disturbed(SizeJob):
        def open(self, models):  # type: ignore[no-untyped-def]
            return self._disturbed

        def _disturbed(self, items):  # type: ignore[no-untyped-def]
            if items[0].value.stem == "b" and self._mark("disturbed"):
                write_answers(out / "part-00000.parquet", "old", ["x"], [ItemAnswer({})])
            return self._all(items)

    found = map_shards(Disturbed(str(tmp_path)), paths, out, shard_bytes=1)
    assert found.items == 2
    assert [Path(name).stem for name, _ in answers_in(out)] == ["a", "b"]


def test_shards_beyond_the_hundred_thousandth_are_in_order(tmp_path: Path) -> None:
    for number in (99_999, 100_000, 100_001, 5):
        path = tmp_path / f"part-{number:05d}.parquet"
        write_answers(path, "run", [str(number)], [ItemAnswer({})])
    assert [name for name, _ in answers_in(tmp_path)] == ["5", "99999", "100000", "100001"]


def test_relative_paths_are_of_the_folder_where_the_run_began(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pictures(tmp_path / "in", "a")
    monkeypatch.chdir(tmp_path)
    [shard] = plan_shards(["in/a.png"])
    monkeypatch.chdir("/")
    [item] = shard.items()
    assert item.name == "in/a.png" and item.value == tmp_path / "in" / "a.png"


def test_files_of_a_url_keep_their_address(tmp_path: Path) -> None:
    from mam.data import StoreConfig, recipe, write_dataset

    write_dataset(recipe("curves", "easy", 0), 2, tmp_path / "set", StoreConfig(shard_rows=1))
    for source in (f"file://{tmp_path}/set", f"file://{tmp_path}/set/part-00001.parquet"):
        shards = [shard.stamped() for shard in plan_shards([source], 1)]
        names = [name for shard in shards for name in shard.names()]
        assert names[-1] == f"file://{tmp_path}/set/part-00001.parquet#0"
        assert len([item for shard in shards for item in shard.items()]) == len(names)


def test_the_fingerprint_holds_what_an_estimator_learned(tmp_path: Path) -> None:
    def other(value: float) -> dict[str, float]:
        return {"mean": value + 1}

    def changed(value: float) -> dict[str, float]:
        return {"mean": value + 2}

    changed.__qualname__ = other.__qualname__
    settings = EstimatorJob(Mean(1.0), as_value, image_of).settings()
    assert settings == EstimatorJob(Mean(1.0), as_value, image_of).settings()
    assert settings["learned"] != EstimatorJob(Mean(2.0), as_value, image_of).settings()["learned"]
    one, two = (EstimatorJob(Mean(1.0), each, image_of).settings() for each in (other, changed))
    assert one["describe"] != two["describe"]


def test_digests_of_models(tmp_path: Path) -> None:
    from mam import CurveGrouper

    first, second = CurveGrouper.load("curves"), CurveGrouper.load("curves")
    assert content_digest(first) == content_digest(second)
    first.predict([(__import__("numpy").eye(30) > 0)])  # memory of work is no part of it
    assert content_digest(first) == content_digest(second)
    weights = second.continuation_
    for name, value in vars(weights).items():
        if hasattr(value, "dtype"):
            object.__setattr__(weights, name, value + 1e-9)
            break
    assert content_digest(first) != content_digest(second)


def test_names_are_printable() -> None:
    assert printable("é.png") == "é.png"
