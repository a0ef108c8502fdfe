"""Files are whole or absent, whoever else writes them and whatever fails."""

import errno
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from mam.core import whole_files
from mam.core.whole_files import check_writable, left_behind, sweep, whole_file, write_whole

ROOT = os.geteuid() == 0 if hasattr(os, "geteuid") else False


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_two_writers_never_show_a_torn_file(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    contents = [b"a" * 300_000, b"b" * 500_000]
    write_whole(path, contents[0])
    code = (
        "import sys; from pathlib import Path; from mam.core.whole_files import write_whole\n"
        "path, letter, count = sys.argv[1:]\n"
        "for _ in range(150): write_whole(Path(path), letter.encode() * int(count))"
    )
    writers = [
        subprocess.Popen([sys.executable, "-c", code, str(path), chr(c[0]), str(len(c))])
        for c in contents
    ]
    reads = torn = 0
    while any(writer.poll() is None for writer in writers):
        reads += 1
        torn += path.read_bytes() not in contents
    assert [writer.returncode for writer in writers] == [0, 0]
    assert reads > 0 and torn == 0
    assert names(tmp_path) == ["a.bin"]


def test_threads_have_names_of_their_own(tmp_path: Path) -> None:
    both_inside = threading.Barrier(2, timeout=10)

    def write(content: bytes) -> None:
        with whole_file(tmp_path / "a") as fresh:
            both_inside.wait()
            fresh.write_bytes(content)

    threads = [threading.Thread(target=write, args=(text,)) for text in (b"one", b"two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (tmp_path / "a").read_bytes() in (b"one", b"two")
    assert names(tmp_path) == ["a"]


@pytest.mark.parametrize("name", ["a.tmp", "a.0123456789abcdef.tmp"])
def test_a_link_of_the_temporary_name_is_not_followed(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    precious = tmp_path / "precious"
    precious.write_text("keep")
    (tmp_path / name).symlink_to(precious)
    monkeypatch.setattr(whole_files.secrets, "token_hex", lambda count: "0123456789abcdef")
    if name == "a.tmp":
        write_whole(tmp_path / "a", b"new")
        assert (tmp_path / "a").read_bytes() == b"new"
    else:
        with pytest.raises(OSError, match=r"a: cannot be written \(File exists"):
            write_whole(tmp_path / "a", b"new")
    assert precious.read_text() == "keep" and (tmp_path / name).is_symlink()


def test_a_full_disk_is_named_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").write_text("old")

    def full(self: Path, content: bytes) -> int:
        with self.open("wb") as file:
            file.write(content[:3])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match=r"a: cannot be written \(the disk is full\)"):
        write_whole(tmp_path / "a", b"new content")
    assert names(tmp_path) == ["a"] and (tmp_path / "a").read_text() == "old"


def test_an_error_about_another_file_names_it(tmp_path: Path) -> None:
    with (
        pytest.raises(OSError, match=r"a: cannot be written .*font\.ttf"),
        whole_file(tmp_path / "a"),
    ):
        (tmp_path / "font.ttf").read_bytes()
    assert names(tmp_path) == []


def test_what_else_fails_leaves_nothing_and_is_not_changed(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), whole_file(tmp_path / "a") as fresh:
        fresh.write_bytes(b"half")
        raise KeyboardInterrupt
    assert names(tmp_path) == []


def test_content_and_name_are_on_the_disk_before_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    real_sync, real_replace = os.fsync, os.replace

    def sync(file: int) -> None:
        done.append("folder" if stat.S_ISDIR(os.fstat(file).st_mode) else "file")
        real_sync(file)

    def replace(old: Path, new: Path) -> None:
        done.append("name")
        real_replace(old, new)

    monkeypatch.setattr(whole_files.os, "fsync", sync)
    monkeypatch.setattr(whole_files.os, "replace", replace)
    write_whole(tmp_path / "a", b"x")
    assert done == ["file", "name", "folder"]


def test_permissions_are_those_of_open_or_of_the_file_before(tmp_path: Path) -> None:
    def mode(name: str) -> int:
        return stat.S_IMODE((tmp_path / name).stat().st_mode)

    before = os.umask(0o027)
    try:
        write_whole(tmp_path / "new", b"x")
        (tmp_path / "plain").write_bytes(b"x")
        (tmp_path / "shared").write_bytes(b"x")
        (tmp_path / "shared").chmod(0o662)
        write_whole(tmp_path / "shared", b"y")
    finally:
        os.umask(before)
    assert mode("new") == mode("plain") == 0o640
    assert mode("shared") == 0o662


def test_a_link_is_written_through(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    (tmp_path / "link").symlink_to(Path("far") / "real")
    for content in (b"first", b"second"):
        write_whole(tmp_path / "link", content)
        assert (tmp_path / "far" / "real").read_bytes() == content
    assert (tmp_path / "link").is_symlink() and names(tmp_path / "far") == ["real"]


@pytest.mark.parametrize("refuse", [check_writable, lambda path: write_whole(path, b"x")])
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("folder", "it is a folder"),
        ("pipe", "it is no regular file"),
        ("device", "it is no regular file"),
        ("loop", "symbolic links"),
        ("none/a", "no such folder"),
        ("x" * 300, "too long"),
    ],
)
def test_what_cannot_be_a_file_is_refused(tmp_path: Path, refuse, name: str, words: str) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "device").symlink_to("/dev/null")
    (tmp_path / "loop").symlink_to("loop")
    before = names(tmp_path)
    with pytest.raises(OSError, match=rf"{name[:20]}.*: cannot be written \(.*{words}"):
        refuse(tmp_path / name)
    assert names(tmp_path) == before


@pytest.mark.skipif(ROOT, reason="root may write anywhere")
def test_no_permission(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    (tmp_path / "a").chmod(0o444)
    with pytest.raises(OSError, match=r"a: cannot be written .Permission denied"):
        check_writable(tmp_path / "a")
    tmp_path.chmod(0o500)
    with pytest.raises(OSError, match=r"b: cannot be written .Permission denied"):
        check_writable(tmp_path / "b")


def test_long_names_work_and_their_leftovers_are_known(tmp_path: Path) -> None:
    path = tmp_path / ("ä" * 120 + ".parquet")
    with whole_file(path) as fresh:
        assert left_behind(tmp_path, [path.name]) == [fresh]
        assert left_behind(tmp_path, ["other"]) == []
    assert names(tmp_path) == [path.name]


def test_what_a_killed_writer_left_is_swept_and_what_is_written_is_not(tmp_path: Path) -> None:
    path, left = tmp_path / "a.txt", tmp_path / f"a.txt.{'0' * 16}.tmp"
    others = [tmp_path / f"b.txt.{'0' * 16}.tmp", tmp_path / "a.txt.tmp"]
    for stray in (left, *others):
        stray.touch()
    with whole_file(path) as fresh:
        sweep([path, tmp_path / "nowhere" / "c.txt"])
        assert fresh.exists() and not left.exists()
        assert all(other.exists() for other in others)
        fresh.write_text("whole")
    assert path.read_text() == "whole"
