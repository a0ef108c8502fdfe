"""One run at a time writes a data set, and touches only what is its own."""

import errno
import json
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from mam.data import Recipe, StoreConfig, count_rows, make_row, rows_of, write_dataset
from mam.data.generate.curves import CurvesConfig
from mam.data.schema import to_record
from mam.data.store.lock import locked_file
from mam.data.store.shards import MANIFEST, claimed

SMALL = Recipe("curves", CurvesConfig(rows=64, cols=64, curves=(1, 2), width=(2, 4)), seed=3)
TENS = StoreConfig(shard_rows=10)


def content(path: Path) -> list[dict]:
    return pq.read_table(path).to_pylist()


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("listed", [b"[" * 100_000, b'{"shards": [1]}', b"\xff", b"null"])
def test_a_list_of_shards_that_is_none_lists_nothing(tmp_path: Path, listed: bytes) -> None:
    out = tmp_path / "set"
    out.mkdir()
    (out / MANIFEST).write_bytes(listed)
    (out / "part-00007.parquet").write_bytes(b"of another")
    with claimed(out, out) as claim:
        assert claim.listed() == []
    (out / "part-00007.parquet").unlink()
    write_dataset(SMALL, 1, out, TENS)
    assert len(list(rows_of(str(out)))) == 1


class _Stop(Exception):
    pass


def stop(rows: int) -> None:
    raise _Stop


@pytest.mark.parametrize("name", ["set", "set.parquet"])
def test_a_second_run_is_refused_and_the_first_is_undisturbed(tmp_path: Path, name: str) -> None:
    out = tmp_path / name
    refused = 0

    def another_run(rows: int) -> None:
        nonlocal refused
        before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
        with pytest.raises(OSError, match=rf"{name}: another run is writing it"):
            write_dataset(replace(SMALL, seed=8), 25, out, TENS)
        assert before == {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
        refused += 1

    write_dataset(SMALL, 25, out, TENS, another_run)
    assert refused >= 3
    rows = [to_record(make_row(SMALL, k)) for k in range(25)]
    files = [out] if out.is_file() else sorted(out.glob("*.parquet"))
    assert [row for file in files for row in content(file)] == rows


def test_two_commands_at_once_never_mix_their_rows(tmp_path: Path) -> None:
    out = tmp_path / "set.parquet"
    options = ["--level", "easy", "--count", "40", "--shard-rows", "10", "--out", str(out)]
    command = [sys.executable, "-m", "mam", "make", "curves", *options, "--seed"]
    runs = [subprocess.Popen([*command, seed], stderr=subprocess.PIPE) for seed in "12"]
    said = [run.communicate()[1].decode() for run in runs]
    codes = [run.returncode for run in runs]
    assert sorted(codes) == [0, 2]
    [complaint] = [text for text, code in zip(said, codes, strict=True) if code]
    assert complaint.startswith("mam: ") and "set.parquet: " in complaint
    made = json.loads(pq.read_metadata(out).metadata[b"mam.recipe"])
    assert made["seed"] == 1 + codes.index(0)
    assert names(tmp_path) == ["set.parquet"] and count_rows(str(out)) == 40


def test_a_lock_does_not_outlive_its_process(tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from mam.data.store.lock import locked_file\n"
        "with locked_file(Path(sys.argv[1])): print('held', flush=True); time.sleep(60)"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "lock")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None and holder.stdout.readline() == b"held\n"
        with pytest.raises(BlockingIOError), locked_file(tmp_path / "lock"):
            pass
        holder.kill()
    with locked_file(tmp_path / "lock"):
        pass


def test_a_lock_on_a_removed_file_is_taken_anew(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "lock"
    with locked_file(path) as old:
        path.unlink()
        with locked_file(path) as new:
            assert not os.path.samestat(os.fstat(old.fileno()), os.fstat(new.fileno()))


@pytest.mark.parametrize("name", ["set", "set.parquet"])
def test_foreign_files_are_left_alone(tmp_path: Path, name: str) -> None:
    parts = tmp_path / ("set.parquet.parts" if "." in name else "set")
    parts.mkdir()
    mine = ["notes.tmp", "part-00000.parquet.tmp", f"other.{'0' * 16}.tmp", "thesis.txt"]
    for foreign in mine:
        (parts / foreign).write_text("mine")
    write_dataset(SMALL, 25, tmp_path / name, TENS)
    kept = [path for path in parts.iterdir() if path.name in mine]
    assert len(kept) == len(mine) and all(path.read_text() == "mine" for path in kept)
    made = [] if "." in name else [MANIFEST, *(f"part-0000{k}.parquet" for k in range(3))]
    assert names(parts) == sorted(mine + made)


def test_a_foreign_file_of_a_shards_name_is_refused(tmp_path: Path) -> None:
    (tmp_path / "set").mkdir()
    shard = tmp_path / "set" / "part-00000.parquet"
    shard.write_text("a letter")
    with pytest.raises(ValueError, match=r"part-00000\.parquet: is in the way, and no shard"):
        write_dataset(SMALL, 5, tmp_path / "set")
    assert shard.read_text() == "a letter" and names(tmp_path / "set") == [shard.name]


def test_a_folder_in_the_way_is_refused_before_the_work(tmp_path: Path) -> None:
    (tmp_path / "set.parquet").mkdir()
    with pytest.raises(OSError, match=r"set\.parquet: cannot be written .it is a folder"):
        write_dataset(SMALL, 5, tmp_path / "set.parquet", progress=stop)
    assert names(tmp_path) == ["set.parquet"]


def test_what_a_killed_run_left_is_removed(tmp_path: Path) -> None:
    """Temporary files of shards and of the joined file go; those of other files stay."""
    out, parts = tmp_path / "set.parquet", tmp_path / "set.parquet.parts"
    with pytest.raises(_Stop):
        write_dataset(SMALL, 25, out, TENS, stop)
    assert names(tmp_path) == []  # nothing was ready, and so nothing is left
    done = 0

    def stop_later(rows: int) -> None:
        nonlocal done
        done += rows
        if done > 10:
            raise _Stop

    with pytest.raises(_Stop):
        write_dataset(SMALL, 25, out, TENS, stop_later)
    left = [parts / f"part-00001.parquet.{'a1' * 8}.tmp", tmp_path / f"set.parquet.{'b2' * 8}.tmp"]
    stays = tmp_path / f"other.parquet.{'b2' * 8}.tmp"
    for path in [*left, stays]:
        path.write_text("half")
    write_dataset(SMALL, 25, out, TENS)
    assert names(tmp_path) == [stays.name, "set.parquet"]


def test_a_damaged_manifest_is_no_obstacle(tmp_path: Path) -> None:
    out = write_dataset(SMALL, 25, tmp_path / "set", TENS)
    for text in ("", "{", "[]", '{"shards": 3}', '{"shards": ["../thesis.txt", "thesis.txt"]}'):
        (out / MANIFEST).write_text(text)
        with claimed(out, out) as claim:
            assert claim.listed() == []
        write_dataset(SMALL, 25, out, TENS)
        assert json.loads((out / MANIFEST).read_text())["shards"][0] == "part-00000.parquet"


def test_shards_are_checked_when_they_are_joined(tmp_path: Path) -> None:
    out, parts = tmp_path / "set.parquet", tmp_path / "set.parquet.parts"
    with pytest.raises(_Stop):
        write_dataset(SMALL, 25, out, TENS, lambda rows: stop(0) if rows < 10 else None)
    shard = parts / "part-00000.parquet"
    whole = shard.read_bytes()
    middle = len(whole) // 3
    shard.write_bytes(whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :])
    with pytest.raises(ValueError, match=r"part-00000\.parquet: is corrupt .*remove it and run"):
        write_dataset(SMALL, 25, out, TENS)
    assert not out.exists()
    shard.unlink()
    write_dataset(SMALL, 25, out, TENS)
    assert content(out) == [to_record(make_row(SMALL, k)) for k in range(25)]


def test_a_link_to_a_data_set_is_written_through(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    (tmp_path / "a.parquet").symlink_to(Path("far") / "b.parquet")
    write_dataset(SMALL, 5, tmp_path / "a.parquet")
    assert names(tmp_path / "far") == ["b.parquet"] and (tmp_path / "a.parquet").is_symlink()


def _processes_of(group: int) -> list[int]:
    """The running processes of a group, from Linux's /proc."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[2]) == group and fields[0] != "Z":
                found.append(int(entry.name))
    return found


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs Linux's /proc")
@pytest.mark.parametrize(("how", "code"), [(signal.SIGKILL, -9), (signal.SIGTERM, 143)])
def test_workers_end_with_their_parent(tmp_path: Path, how: signal.Signals, code: int) -> None:
    out = tmp_path / "set"
    options = ["--level", "easy", "--count", "4000", "--shard-rows", "20", "--workers", "2"]
    command = [sys.executable, "-m", "mam", "make", "curves", *options, "--out", str(out)]
    # A group of its own, so that whatever it leaves running can be found.
    process = subprocess.Popen(command, stderr=subprocess.PIPE, start_new_session=True)
    try:
        deadline = time.monotonic() + 60
        while not (out / "part-00000.parquet").exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        assert len(_processes_of(process.pid)) >= 3
        process.send_signal(how)
        # This waits for the end of standard error, which every worker holds open.
        _, said = process.communicate(timeout=20)
        assert process.returncode == code, said
        deadline = time.monotonic() + 10
        while _processes_of(process.pid) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert _processes_of(process.pid) == []
    finally:
        for left in _processes_of(process.pid):
            os.kill(left, signal.SIGKILL)
    if how is signal.SIGTERM:
        assert said.count(b"\n") == 2 and b"told to end; finished shards" in said
        assert list(out.glob("*.tmp")) == []
    assert len(list(rows_of(str(out)))) >= 20


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs Linux's /proc")
def test_a_killed_worker_is_reported(tmp_path: Path) -> None:
    killed: list[int] = []

    def kill_a_worker(rows: int) -> None:
        if not killed:
            workers = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
            commands = {int(pid): Path(f"/proc/{pid}/cmdline").read_bytes() for pid in workers}
            killed.extend(pid for pid, words in commands.items() if b"spawn_main" in words)
            os.kill(killed[0], signal.SIGKILL)

    with pytest.raises(OSError, match=r"a worker process was ended.*again to go on"):
        write_dataset(SMALL, 400, tmp_path / "set", StoreConfig(2, 100), kill_a_worker)


def test_a_disk_too_full_for_the_manifest_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(file: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("mam.data.store.shards.os.fsync", full)
    with pytest.raises(OSError, match=r"set: cannot be written to \(the disk is full\)"):
        write_dataset(SMALL, 5, tmp_path / "set")
    assert names(tmp_path / "set") == []


def test_many_runs_at_once_end_in_one_whole_file(tmp_path: Path) -> None:
    """Each run writes it, finds it written, or is refused; locks come and go with the folder."""
    out, refused = tmp_path / "set.parquet", []

    def run() -> None:
        for _ in range(20):
            try:
                write_dataset(SMALL, 3, out, StoreConfig(shard_rows=1))
            except OSError as error:
                refused.append(str(error))

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all("another run is writing it" in text for text in refused)
    assert names(tmp_path) == ["set.parquet"]
    assert content(out) == [to_record(make_row(SMALL, k)) for k in range(3)]
