"""Shards cover the input once and in order, and are of about the same work."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mam.data import StoreConfig, recipe, rows_of, write_dataset
from mam.data.store.parquet import count_rows
from mam.scale import answers_in, map_shards, plan_shards
from mam.scale.shards import Piece, digest_of
from tests.data.made_layouts import published_pathfinder
from tests.scale.jobs import SizeJob


def pictures(folder: Path, sizes: list[int]) -> list[Path]:
    folder.mkdir(exist_ok=True)
    paths = [folder / f"{number:03d}.png" for number in range(len(sizes))]
    for path, size in zip(paths, sizes, strict=True):
        path.write_bytes(b"x" * size)
    return paths


@settings(max_examples=30, deadline=None)
@given(sizes=st.lists(st.integers(0, 500), max_size=30), room=st.integers(1, 600))
def test_every_picture_is_in_one_shard(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int], room: int
) -> None:
    paths = pictures(tmp_path_factory.mktemp("some"), sizes)
    shards = plan_shards(paths, room)
    assert [name for shard in shards for name in shard.names()] == [str(path) for path in paths]
    assert [shard.number for shard in shards] == list(range(len(shards)))
    for shard in shards:
        assert len(shard) > 0
        # Without its last picture it would be below the work of a shard.
        assert sum(Path(name).stat().st_size for name in shard.names()[:-1]) < room


def test_rows_of_data_sets(tmp_path: Path) -> None:
    made = recipe("pathfinder", "easy", 3)
    write_dataset(made, 7, tmp_path / "set", StoreConfig(shard_rows=3))
    write_dataset(made, 2, tmp_path / "two.parquet")
    sources = [tmp_path / "set", tmp_path / "two.parquet"]
    [whole] = plan_shards(sources, 1 << 30)
    assert len(whole) == 9 and whole.names()[-1] == f"{tmp_path / 'two.parquet'}#1"
    alone = plan_shards(sources, 1)
    assert [len(shard) for shard in alone] == [1] * 9
    images = [item.value.image for shard in alone for item in shard.items()]
    assert all((a == b.value.image).all() for a, b in zip(images, whole.items(), strict=True))
    assert (images[0] == images[7]).all()  # row 0 of both
    assert sum(map(len, plan_shards(sources, limit=8))) == 8
    assert plan_shards(sources, limit=2)[0].pieces == (
        Piece(str(tmp_path / "set" / "part-00000.parquet"), 0, 2),
    )


def test_a_pattern_of_data_sets(tmp_path: Path) -> None:
    made = recipe("pathfinder", "easy", 3)
    write_dataset(made, 3, tmp_path / "set", StoreConfig(shard_rows=1))
    (tmp_path / "set" / "part-00009.txt").write_text("no rows")
    for pattern, count in (("set/*.parquet", 3), ("set/part-*", 3), ("**/*[12].parquet", 2)):
        source = str(tmp_path / pattern)
        [shard] = plan_shards([source])
        names = [Path(name).name.removesuffix(".parquet#0") for name in shard.names()]
        assert names == [f"part-{number:05d}" for number in range(3)][-count:]
        assert len(list(rows_of(source))) == count_rows(source) == count
    with pytest.raises(FileNotFoundError, match=r"\*\.parquet: no such file or folder"):
        plan_shards([tmp_path / "*.parquet"])


def stamp(paths: list[Path]) -> str:
    return digest_of([shard.stamped() for shard in plan_shards(paths)])


def test_a_changed_file_has_another_digest(tmp_path: Path) -> None:
    paths = pictures(tmp_path, [10, 20])
    before = stamp(paths)
    assert before == stamp(paths)
    paths[1].write_bytes(b"other" * 4)
    assert before != stamp(paths)


def test_a_run_goes_on_and_refuses_what_is_not_its_own(tmp_path: Path) -> None:
    paths = pictures(tmp_path / "in", [100] * 10)
    (tmp_path / "in" / "bad.png").write_bytes(b"z")
    paths.append(tmp_path / "in" / "bad.png")
    job, out = SizeJob(str(tmp_path)), tmp_path / "out"
    seen: list[int] = []
    found = map_shards(job, paths, out, shard_bytes=300, advance=seen.append)
    assert (found.items, found.kept, found.errors, found.set_aside) == (11, 0, 1, {})
    assert sum(seen) == 11
    answers = dict(answers_in(out))
    assert list(answers) == [str(path) for path in paths]
    assert answers[str(paths[0])].value == {"name": "000.png", "bytes": 100}
    assert answers[str(paths[-1])].error == "bad.png: cannot be read"
    assert json.loads((out / "manifest.json").read_text())["done"]

    before = {path: path.read_bytes() for path in out.glob("*.parquet")}
    (out / "part-00001.parquet").unlink()
    (out / "part-00002.parquet").write_bytes(before[out / "part-00002.parquet"][:-9])
    (out / "part-00002.parquet.0123456789abcdef.tmp").touch()  # of a run that was killed
    again = map_shards(job, paths, out, shard_bytes=300)
    assert again.items == 11 and again.kept == 11 - 6
    assert {path: path.read_bytes() for path in out.glob("*.parquet")} == before
    assert not list(out.glob("*.tmp")) and not list(out.glob(".part*"))

    with pytest.raises(ValueError, match=r"marks was .* now"):
        map_shards(SizeJob(str(tmp_path / "in")), paths, out, shard_bytes=300)
    with pytest.raises(ValueError, match=r"another \(11 items in 4 shards, now 10 in 4\)"):
        map_shards(job, paths[:-1], out, shard_bytes=300)
    with pytest.raises(ValueError, match="holds shards of something else"):
        map_shards(job, paths, _set(tmp_path), shard_bytes=300)
    (out / "manifest.json").write_text("{}")
    with pytest.raises(ValueError, match="is no manifest"):
        map_shards(job, paths, out, shard_bytes=300)


def _set(tmp_path: Path) -> Path:
    write_dataset(recipe("pathfinder", "easy", 3), 1, tmp_path / "set")
    return tmp_path / "set"


def test_large_inputs_have_larger_shards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = pictures(tmp_path, [600_000] * 9)
    assert [len(shard) for shard in plan_shards(paths)] == [2, 2, 2, 2, 1]
    monkeypatch.setattr("mam.scale.shards.MOST_SHARDS", 2)
    assert [len(shard) for shard in plan_shards(paths)] == [5, 4]


def test_layouts_that_are_for_one_process_are_refused(tmp_path: Path) -> None:
    published_pathfinder(tmp_path / "set")
    with pytest.raises(ValueError, match="set: the layout is published; runs over shards read"):
        plan_shards([tmp_path / "set"])
    with pytest.raises(FileNotFoundError, match="nowhere: no such file or folder"):
        plan_shards([tmp_path / "nowhere"])
