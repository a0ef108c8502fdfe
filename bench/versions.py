"""What a user waits for, command by command, beside an earlier version in the same run.

python -m bench.versions [CHECKOUT]

Without a checkout the last commit of version 0.1.0 is taken from the history, where there is one.
Seconds by the clock, of the CPU (which others on the machine change little), and memory.
"""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from mam.data import CurvesConfig, Recipe, encode_png, make_curves, make_row, recipe, write_dataset

_HERE = Path(__file__).resolve().parents[1]
_NEXT = '__version__ = "0.2.0"'
_ROPES = CurvesConfig(rows=672, cols=896, curves=(3, 3), width=(10, 14), bend=0.006)
_LINES = CurvesConfig(rows=1000, cols=1020, curves=(5, 5), width=(4, 8))


class Ran(NamedTuple):
    """What a command took."""

    seconds: float
    cpu: float
    gigabytes: float  # of memory, at most

    def __str__(self) -> str:
        return f"{self.seconds:6.1f} s {self.cpu:6.1f} s {self.gigabytes:5.2f} GB"


class Case(NamedTuple):
    """A command, and what it is told about."""

    what: str
    command: list[str]
    cold: bool = False  # with no program kept from before


def run(checkout: Path, case: Case, cache: Path) -> Ran | None:
    """Run a command of a checkout; None if it cannot."""
    if case.cold:
        shutil.rmtree(cache, ignore_errors=True)
    known = {"PYTHONPATH": str(checkout), "XDG_CACHE_HOME": str(cache)}
    begin = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "mam", *case.command],
        env={**os.environ, **known},
        cwd=cache.parent,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    spent = time.perf_counter() - begin
    if process.returncode:
        return None
    return Ran(spent, used.ru_utime + used.ru_stime, used.ru_maxrss / 1e6)


def cases(folder: Path) -> list[Case]:
    """The commands, on pictures and sets that are made here."""
    hard = make_row(recipe("pathfinder", "hard", 1), 24)
    lines = make_curves(_LINES, 0, 3).mask
    pictures = {
        "dashes": hard.clean,  # type: ignore[union-attr]
        "discs": hard.image,  # type: ignore[union-attr]
        "lines": np.where(lines[:300, :300], 255, 0).astype(np.uint8),
        "page": np.where(np.kron(lines, np.ones((7, 7), bool)), 255, 0).astype(np.uint8),
    }
    for name, pixels in pictures.items():
        (folder / f"{name}.png").write_bytes(encode_png(pixels))
    write_dataset(recipe("pathfinder", "hard", 5), 256, folder / "hard.parquet")
    write_dataset(Recipe("curves", _ROPES, 0), 32, folder / "ropes.parquet")
    write_dataset(recipe("cabc", "hard", 5), 8, folder / "letters.parquet")
    found = []
    for name in ("dashes", "discs", "lines"):
        command = ["group", f"{name}.png"]
        found.append(Case(f"group {name}, 300 x 300, cold", command, cold=True))
        found.append(Case(f"group {name} again", command))
    for input in ("clean", "image"):
        command = ["evaluate", "pathfinder", "hard.parquet", "--input", input]
        found.append(Case(f"evaluate pathfinder, 256 hard, {input}, cold", command, cold=True))
    found.append(Case("evaluate curves, 32 of 896 x 672", ["evaluate", "curves", "ropes.parquet"]))
    found.append(Case("group 50 megapixels", ["group", "page.png", "--model", "curves"]))
    found.append(
        Case("evaluate cabc, 8 images, cold", ["evaluate", "cabc", "letters.parquet"], cold=True)
    )
    return found


@contextlib.contextmanager
def older(checkout: str | None) -> Iterator[Path | None]:
    """The checkout to compare with: a folder, one made from the history for a while, or none."""
    if checkout is not None:
        yield Path(checkout).resolve()
        return
    log = ["git", "-C", str(_HERE), "log", f"-S{_NEXT}", "--format=%H", "--", "mam/__init__.py"]
    told = subprocess.run(log, capture_output=True, text=True, check=False).stdout.split()
    if not told:
        yield None
        return
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "older"
        tree = ["git", "-C", str(_HERE), "worktree"]
        made = [*tree, "add", "--detach", str(place), f"{told[-1]}~1"]
        subprocess.run(made, capture_output=True, check=True)
        try:
            yield place
        finally:
            subprocess.run([*tree, "remove", "--force", str(place)], check=False)


def main(checkout: str | None = None) -> None:
    with older(checkout) as before, tempfile.TemporaryDirectory() as folder:
        print("commands: clock, CPU, memory; this version, then an earlier one, and CPU by CPU")
        for case in cases(Path(folder)):
            this = run(_HERE, case, Path(folder) / "kept")
            line = f"  {case.what:46} {this or 'fails'}"
            if before is not None:
                then = run(before, case, Path(folder) / "kept-before")
                ratio = f" {then.cpu / this.cpu:5.1f}" if this and then else ""
                line += f"   {then or 'fails'}{ratio}"
            print(line, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
