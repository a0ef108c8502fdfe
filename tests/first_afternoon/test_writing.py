"""One writer for all outputs: regular files, no input, never two in one, by the right ending."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mam import cli


@pytest.fixture
def picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    drawn = np.full((40, 60), 255, np.uint8)
    drawn[18:22, 5:55] = 0
    Image.fromarray(drawn).save("line.png")
    return tmp_path / "line.png"


def complaint(words: str, monkeypatch: pytest.MonkeyPatch, capsys) -> str:
    monkeypatch.setattr(sys, "argv", ["mam", *words.split()])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 2
    return capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--out /dev/full", "/dev/full: cannot be written (it is no regular file)"),
        ("--out line.png", "line.png: is an input (line.png) and would be overwritten"),
        ("--out s.png --out s.png", "s.png: two outputs of one command"),
        ("--out s.jpg", "s.jpg: would hold PNG, SVG, "),
        ("--show ink --out s.svg", "s.svg: would hold PNG; let its name end in .png"),
    ],
)
def test_group_refuses(picture: Path, words: str, said: str, monkeypatch, capsys) -> None:
    before = picture.read_bytes()
    assert said in complaint(f"group line.png {words}", monkeypatch, capsys)
    assert picture.read_bytes() == before
    assert [path.name for path in picture.parent.iterdir()] == ["line.png"]


@pytest.mark.parametrize(
    "words",
    [
        *("look line.png --out a.jpg", "edges line.png --out a.svg", "learn curves --out a.png"),
        *("look line.png --out a", "edges line.png --out a.b", "learn curves --out model"),
        *("group line.png --out a", "find line.png --out a", "quickstart --out a"),
        "solve line.png --task MAR --out a",
        "make curves --out a.csv",
    ],
)
def test_commands_refuse_an_ending_that_is_wrong_or_missing(
    picture: Path, words: str, monkeypatch, capsys
) -> None:
    said = complaint(words, monkeypatch, capsys)
    assert "let its name end in ." in said or "let it be .parquet" in said
    assert [path.name for path in picture.parent.iterdir()] == ["line.png"]


@pytest.mark.skipif(not hasattr(os, "setrlimit") and os.name != "posix", reason="needs limits")
def test_a_disk_without_room_is_named_and_nothing_stays(picture: Path) -> None:
    code = (
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "from pathlib import Path; from mam.core.whole_files import write_whole\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n"
        "write_whole(Path('big.png'), bytes(1000))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "big.png: cannot be written (File too large)" in ran.stderr
    assert [path.name for path in picture.parent.iterdir()] == ["line.png"]
