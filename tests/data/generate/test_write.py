"""The store: whole shards or none, resumable, the same whatever the number of workers."""

import errno
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from mam.data import Recipe, StoreConfig, count_rows, make_row, recipe, rows_of, write_dataset
from mam.data.generate.curves import CurvesConfig
from mam.data.schema import to_record
from mam.data.store.shards import MANIFEST

SMALL = Recipe("curves", CurvesConfig(rows=64, cols=64, curves=(1, 2), width=(2, 4)), seed=3)


def content(path: Path) -> list[dict]:
    files = [path] if path.is_file() else sorted(path.glob("*.parquet"))
    return [record for file in files for record in pq.read_table(file).to_pylist()]


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.mark.parametrize("kind", ["pathfinder", "cabc", "curves"])
def test_every_row_decodes_and_is_the_recipes(tmp_path: Path, kind: str) -> None:
    made = recipe(kind, "easy", 11)
    out = write_dataset(made, 7, tmp_path / "set", StoreConfig(shard_rows=3))
    assert content(out) == [to_record(make_row(made, k)) for k in range(7)]
    assert len(list(rows_of(str(out)))) == 7
    assert len(list(out.glob("*.parquet"))) == 3


def test_one_and_four_workers_agree(tmp_path: Path) -> None:
    made = recipe("pathfinder", "easy", 5)
    one = write_dataset(made, 70, tmp_path / "one", StoreConfig(workers=1, shard_rows=40))
    four = write_dataset(made, 70, tmp_path / "four", StoreConfig(workers=4, shard_rows=40))
    assert bytes_of(one) == bytes_of(four)


def test_shards_and_single_file_hold_the_same(tmp_path: Path) -> None:
    config = StoreConfig(shard_rows=10, row_group=4)
    folder = write_dataset(SMALL, 25, tmp_path / "set", config)
    single = write_dataset(SMALL, 25, tmp_path / "set.parquet", config)
    assert content(folder) == content(single)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["set", "set.parquet"]
    assert pq.ParquetFile(single).metadata.row_group(0).num_rows <= 4


class _Killed(Exception):
    pass


@pytest.mark.parametrize("name", ["set", "set.parquet"])
def test_an_interrupted_run_goes_on(tmp_path: Path, name: str) -> None:
    config = StoreConfig(shard_rows=20)
    seen = 0

    def stop_at_50(rows: int) -> None:
        nonlocal seen
        seen += rows
        if seen >= 50:
            raise _Killed

    with pytest.raises(_Killed):
        write_dataset(SMALL, 90, tmp_path / name, config, stop_at_50)
    parts = tmp_path / ("set.parquet.parts" if "." in name else "set")
    first = bytes_of(parts)
    assert sorted(first) == [MANIFEST, "part-00000.parquet", "part-00001.parquet"]
    assert count_rows(str(parts)) == 40
    ready: list[int] = []
    write_dataset(SMALL, 90, tmp_path / name, config, ready.append)
    # The two shards that were there count at once, and are not touched.
    assert ready[:2] == [20, 20] and sum(ready) == 90
    undisturbed = write_dataset(SMALL, 90, tmp_path / "other" / name, config)
    assert content(tmp_path / name) == content(undisturbed)


def test_a_killed_process_goes_on(tmp_path: Path) -> None:
    out, count = tmp_path / "set", 120
    options = ["--level", "easy", "--count", str(count), "--seed", "1", "--shard-rows", "10"]
    command = [sys.executable, "-m", "mam", "make", "curves", *options, "--out", str(out)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while not (out / "part-00001.parquet").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    _, complaints = process.communicate()
    assert process.returncode == -signal.SIGKILL, complaints
    assert not (out / "part-00011.parquet").exists()
    for shard in out.glob("*.parquet"):
        assert pq.read_metadata(shard).num_rows == 10
    # Another user of the rows already written can read them now.
    assert len(select_all(out)) >= 20
    subprocess.run(command, check=True, capture_output=True)
    undisturbed = [*command[:-1], str(tmp_path / "whole")]
    subprocess.run(undisturbed, check=True, capture_output=True)
    assert bytes_of(out) == bytes_of(tmp_path / "whole")


def select_all(out: Path) -> list:
    return list(rows_of(str(out)))


def test_finished_work_is_not_done_again(tmp_path: Path, monkeypatch) -> None:
    out = write_dataset(SMALL, 30, tmp_path / "a.parquet")
    made = "mam.data.generate.make.make_records"
    monkeypatch.setattr(made, lambda *_: pytest.fail("made again"))
    ready: list[int] = []
    assert write_dataset(SMALL, 30, out, progress=ready.append) == out
    assert ready == [30]


def test_a_torn_shard_is_made_again(tmp_path: Path) -> None:
    config = StoreConfig(shard_rows=10)
    out = write_dataset(SMALL, 30, tmp_path / "set", config)
    before = bytes_of(out)
    shard = out / "part-00001.parquet"
    shard.write_bytes(shard.read_bytes()[:-50])
    (out / f"part-00002.parquet.{'0f' * 8}.tmp").write_bytes(b"half")
    write_dataset(SMALL, 30, out, config)
    assert bytes_of(out) == before


@pytest.mark.parametrize("name", ["set", "set.parquet"])
def test_another_recipe_is_not_overwritten(tmp_path: Path, name: str) -> None:
    out = write_dataset(SMALL, 30, tmp_path / name)
    before = content(out)
    for other, count in ((replace(SMALL, seed=4), 30), (SMALL, 31)):
        with pytest.raises(ValueError, match=r"another recipe.*choose another --out"):
            write_dataset(other, count, out)
    assert content(out) == before


def test_strangers_are_not_mixed_in(tmp_path: Path) -> None:
    out = write_dataset(SMALL, 30, tmp_path / "set", StoreConfig(shard_rows=10))
    with pytest.raises(ValueError, match=r"part-00002\.parquet: a shard of another data set"):
        write_dataset(SMALL, 20, out, StoreConfig(shard_rows=10))
    blocked = tmp_path / "a.parquet"
    blocked.write_text("not parquet")
    with pytest.raises(ValueError, match=r"a\.parquet: is in the way"):
        write_dataset(SMALL, 3, blocked)


def test_unwritable_target(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(OSError, match=r"file.set: cannot be written to"):
        write_dataset(SMALL, 3, tmp_path / "file" / "set")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_read_only_target(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(OSError, match="cannot be written to"):
        write_dataset(SMALL, 3, tmp_path / "set")


def test_a_full_disk_keeps_what_is_written(tmp_path: Path, monkeypatch) -> None:
    config = StoreConfig(shard_rows=10)
    real, calls = pq.ParquetWriter.write_table, 0

    def full(self, *args, **kwargs):
        nonlocal calls
        calls += 1
        if calls == 3:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(self, *args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(pq.ParquetWriter, "write_table", full)
        with pytest.raises(OSError, match=r"part-00002\.parquet: .*disk is full.*again to go on"):
            write_dataset(SMALL, 50, tmp_path / "set", config)
    kept = [MANIFEST, "part-00000.parquet", "part-00001.parquet"]
    assert sorted(bytes_of(tmp_path / "set")) == kept
    out = write_dataset(SMALL, 50, tmp_path / "set", config)
    assert content(out) == [to_record(make_row(SMALL, k)) for k in range(50)]


def test_a_failing_worker_is_reported(tmp_path: Path) -> None:
    broken = replace(recipe("cabc", "hard", 0).config, fonts=("no-such-font.ttf",))
    with pytest.raises(ValueError, match=r"no-such-font\.ttf"):
        write_dataset(Recipe("cabc", broken, 0), 40, tmp_path / "set", StoreConfig(workers=2))
    assert list((tmp_path / "set").iterdir()) == []


@pytest.mark.parametrize("wrong", [{"workers": 0}, {"shard_rows": 0}, {"row_group": 0}], ids=str)
def test_wrong_settings(wrong: dict) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        StoreConfig(**wrong)


def test_wrong_recipes(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no level"):
        recipe("pathfinder", "impossible", 0)
    with pytest.raises(ValueError, match="no level"):
        recipe("chess", "hard", 0)
    with pytest.raises(ValueError, match="seed -1"):
        recipe("pathfinder", "hard", -1)
    with pytest.raises(ValueError, match="count 0"):
        write_dataset(SMALL, 0, tmp_path / "set")


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux's /proc")
def test_reading_many_rows_takes_little_memory(tmp_path: Path) -> None:
    """A file of 300 MB, read in a process of its own: its peak stays far below."""
    import pyarrow as pa

    from mam.data import schema_of
    from mam.data.schema import CurvesRow

    record = to_record(make_row(SMALL, 0))
    record["mask"]["path"] = "x" * 10_000  # 300 MB of ballast that nobody asked for
    schema = schema_of(CurvesRow)
    path = tmp_path / "large.parquet"
    with pq.ParquetWriter(path, schema, compression="none", use_dictionary=False) as writer:
        for _ in range(30):
            writer.write_table(pa.Table.from_pylist([record] * 1000, schema=schema))
    code = (
        "import re, sys; from pathlib import Path; from mam.data import rows_of;"
        # Not getrusage: that peak includes the parent's, from before the exec.
        "status = Path('/proc/self/status');"
        "peak = lambda: int(re.search(r'VmHWM:\\s+(\\d+)', status.read_text())[1]);"
        "before = peak(); n = sum(1 for _ in rows_of(sys.argv[1])); print(n, peak() - before)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code, str(path)], check=True, capture_output=True, text=True
    )
    rows, kilobytes = map(int, result.stdout.split())
    assert rows == 30_000
    assert path.stat().st_size > 300e6
    # What the libraries take by themselves differs from version to version.
    assert kilobytes / 1024 < 140


@pytest.mark.parametrize("name", ["set", "rows.parquet"])
def test_shards_made_elsewhere_come_where_the_command_was_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")

    def elsewhere(function, tasks):  # type: ignore[no-untyped-def]
        for task in tasks:
            os.chdir(tmp_path)
            try:
                yield function(task)
            finally:
                os.chdir(tmp_path / "here")

    write_dataset(SMALL, 4, Path(name), StoreConfig(shard_rows=2), over=elsewhere)
    assert content(tmp_path / "here" / name) == [to_record(make_row(SMALL, k)) for k in range(4)]
    assert [path.name for path in tmp_path.iterdir()] == ["here"]
