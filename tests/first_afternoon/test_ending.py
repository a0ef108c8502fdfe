"""Ctrl-C ends every command within two seconds, says what is kept, and exits with 130."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

_SOON = 2.0  # seconds
_STUCK = """\
import sys, time
from mam.commands.ending import Ended, ends_on_request
try:
    with ends_on_request("two of three are kept"):
        print("ready", flush=True)
        while True:
            try:
                time.sleep(60)
            except SystemExit:
                pass  # as compiled code does, which hears no exception
except Ended as ended:
    ended.leave()
"""


def hard_model(path: Path) -> None:
    """A spin glass that nobody solves in the time of a test."""
    side, draw = 70, np.random.default_rng(0)
    numbers = np.arange(side * side).reshape(side, side)
    across = np.stack([numbers[:, :-1].ravel(), numbers[:, 1:].ravel()], 1)
    down = np.stack([numbers[:-1].ravel(), numbers[1:].ravel()], 1)
    pairs = np.concatenate([across, down])
    tables = np.exp(draw.normal(size=(len(pairs), 4)))
    lines = ["MARKOV", str(side**2), " ".join(["2"] * side**2), str(len(pairs))]
    lines += [f"2 {one} {other}" for one, other in pairs]
    lines += [f"4\n{' '.join(f'{value:.6f}' for value in table)}" for table in tables]
    path.write_text("\n".join(lines) + "\n")


def dashes(path: Path) -> None:
    picture = np.full((3000, 3000), 255, np.uint8)
    for row in range(5, 2990, 12):
        for col in range(5, 2980, 16):
            picture[row : row + 2, col : col + 9] = 0
    Image.fromarray(picture).save(path)


COMMANDS = {
    "solve": ["solve", "model.uai", "--bound", "--restarts", "200"],
    "group": ["group", "dashes.png", "--bound", "--most", "100000"],
    "make": ["make", "cabc", "--workers", "2", "--count", "5000", "--out", "set"],
    "reproduce": ["reproduce", "cabc", "--out", "page"],
}
KEPT = {"make": "finished shards are kept", "reproduce": "finished steps are kept in page"}


def ended(command: list[str], folder: Path, wait: float, ready: bool = False) -> tuple[float, str]:
    """How long a command goes on after Ctrl-C, which a terminal sends to all its processes."""
    process = subprocess.Popen(
        [sys.executable, *command],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    try:
        if ready:
            assert process.stdout is not None and process.stdout.readline()
        time.sleep(wait)
        assert process.poll() is None, process.communicate()
        begin = time.monotonic()
        os.killpg(process.pid, signal.SIGINT)
        said = process.communicate(timeout=30)[1]
        spent = time.monotonic() - begin
        assert process.returncode == 130, said
        return spent, said
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("wait", [2.0, pytest.param(6.0, marks=pytest.mark.slow)])
def test_commands_end_soon(tmp_path: Path, name: str, wait: float) -> None:
    hard_model(tmp_path / "model.uai")
    dashes(tmp_path / "dashes.png")
    spent, said = ended(["-m", "mam", *COMMANDS[name]], tmp_path, wait)
    assert spent < _SOON
    *nothing, last = said.splitlines()
    assert not any(nothing), said
    assert last.startswith("mam: interrupted; ") and (name in KEPT or "nothing was" in last)
    assert KEPT.get(name, "") in last or wait < 3  # it may still be importing
    assert not list(tmp_path.rglob("*.tmp"))


def test_what_is_half_written_goes_with_the_process(tmp_path: Path) -> None:
    writing = '    with ends_on_request("two of three are kept"), whole_file(Path("half")):'
    stuck = _STUCK.replace('    with ends_on_request("two of three are kept"):', writing)
    code = f"from pathlib import Path\nfrom mam.core.whole_files import whole_file\n{stuck}"
    assert code.count("whole_file(") == 1
    ended(["-c", code], tmp_path, 0, ready=True)
    assert not list(tmp_path.iterdir())


def test_what_hears_no_exception_is_ended(tmp_path: Path) -> None:
    spent, said = ended(["-c", _STUCK], tmp_path, 0, ready=True)
    assert 1 < spent < _SOON and said == "\nmam: interrupted; two of three are kept\n"
