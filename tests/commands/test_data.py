"""`mam make` and `mam look` as a user types them."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from mam.cli import app
from mam.data import count_rows, rows_of


def mam(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mam", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)


def run(*arguments: object):
    return CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)


@pytest.mark.parametrize("kind", ["pathfinder", "cabc", "curves"])
def test_make_and_look(tmp_path: Path, kind: str) -> None:
    out, sheet = tmp_path / "set.parquet", tmp_path / "sheet.png"
    made = run("make", kind, "--level", "easy", "--count", 3, "--seed", 2, "--out", out)
    assert made.exit_code == 0 and "3 rows" in made.stdout
    assert count_rows(str(out)) == 3
    looked = run("look", out, "--rows", "2,0", "--out", sheet)
    assert looked.exit_code == 0
    with Image.open(sheet) as picture:
        assert picture.size[0] > 4 * 256 and np.asarray(picture).max() == 255
    assert sorted(p.name for p in tmp_path.iterdir()) == ["set.parquet", "sheet.png"]


def test_curves_options(tmp_path: Path) -> None:
    options = ["--number", "2", "--width", "3-5", "--size", "96", "--no-gaps", "--noise", "0"]
    run("make", "curves", *options, "--breaks", "0", "--count", 4, "--out", tmp_path / "set")
    rows = list(rows_of(str(tmp_path / "set")))
    assert {row.mask.shape for row in rows} == {(96, 96)}
    assert all(row.labels.max() == 2 for row in rows)


def test_help_imports_nothing_heavy() -> None:
    heavy = ("jax", "numpy", "scipy", "matplotlib", "pyarrow", "PIL", "rich.progress")
    code = f"import sys, mam.cli; print([m for m in {heavy} if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert found.stdout.strip() == "[]"


def test_quiet_when_not_a_terminal(tmp_path: Path) -> None:
    result = mam("make", "pathfinder", "--level", "easy", "--count", 2, "--out", tmp_path / "a")
    assert result.returncode == 0
    assert result.stderr == "" and len(result.stdout.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["make", "pathfinder", "--level", "none", "--out", "{}/x"], "no level 'none'"),
        (["make", "curves", "--width", "40", "--out", "{}/x"], "2..24 px"),
        (["make", "curves", "--number", "few", "--out", "{}/x"], "--number few"),
        (["make", "cabc", "--font", "{}/no.ttf", "--out", "{}/x"], "no.ttf"),
        (["make", "pathfinder", "--count", "2", "--out", "{}/file/x"], "cannot be written to"),
        (["look", "{}/nothing", "--out", "{}/x.png"], "no such file"),
        (["look", "{}/file", "--out", "{}/x.png"], "not a readable parquet"),
        (["look", "{}/file", "--rows", "one", "--out", "{}/x.png"], "--rows one"),
        (["look", "{}/file", "--out", "{}/no/x.png"], "no such folder"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_mistakes_end_in_one_line(
    tmp_path: Path, arguments: list[str], words: str, monkeypatch, capsys
) -> None:
    from mam import cli

    (tmp_path / "file").write_text("x")
    monkeypatch.setattr(sys, "argv", ["mam", *(a.format(tmp_path) for a in arguments)])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    said = capsys.readouterr()
    assert ended.value.code == 2
    assert said.err.startswith("mam: ") and words in said.err
    assert len(said.err.strip().splitlines()) == 1
    assert said.out == ""


def test_progress_bar_shows_rate_on_a_terminal(tmp_path: Path) -> None:
    import os
    import pty

    leader, follower = pty.openpty()
    command = [sys.executable, "-m", "mam", "make", "curves", "--level", "easy", "--count", "64"]
    process = subprocess.Popen(
        [*command, "--out", str(tmp_path / "set")], stderr=follower, stdout=subprocess.DEVNULL
    )
    os.close(follower)
    shown = b""
    try:
        while chunk := os.read(leader, 4096):
            shown += chunk
    except OSError:
        pass  # the other end has closed
    os.close(leader)
    assert process.wait() == 0
    assert b"rows/s" in shown and b"64/64" in shown
