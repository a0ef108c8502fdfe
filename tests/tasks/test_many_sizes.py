"""One process groups pictures of all sizes: few programs, and no more memory with each picture."""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import jax
import numpy as np
import pytest
from PIL import Image
from skimage.draw import line
from typer.testing import CliRunner

from mam.cli import app
from mam.data import CurvesConfig, make_curves
from mam.infer import solve
from mam.tasks.drawing import group_drawing
from mam.vision.curves.strokes.contour_grouper import ContourGrouper
from mam.vision.elastic.letters.finder import ObjectFinder
from mam.vision.parts.sparsifier import Sparsifier
from tests.infer.test_compilations import compilations, random_contours, random_or
from tests.vision.pictures import contour, letter

MOST_PROGRAMS = 0 if jax.default_backend() == "cpu" else 30
MOST_SECONDS = 1.5  # of the CPU, with the checks of types that tests make; 0.15 without


def picture(number: int) -> np.ndarray:
    """Short strokes and lines by turns, black on white, each of a size of its own."""
    random = np.random.default_rng(number)
    shape = 110 + 2 * number % 601, 120 + 3 * number % 577
    ink = np.zeros(shape, bool)
    if number % 2:
        for _ in range(3):
            ends = [int(random.integers(8, side - 8)) for side in (*shape, *shape)]
            rows, columns = line(*ends)
            for step in range(4):
                ink[rows + step, columns] = True
    else:
        strokes = contour(number % 10)
        rows, columns = (min(pair) for pair in zip(shape, strokes.shape, strict=True))
        top, left = (strokes.shape[0] - rows) // 2, (strokes.shape[1] - columns) // 2
        ink[-rows:, -columns:] = strokes[top : top + rows, left : left + columns]
    return np.where(ink, 0, 255).astype(np.uint8)


def maps() -> int:
    """Pieces of memory that the system has mapped for this process."""
    return len(Path("/proc/self/maps").read_text().splitlines())


def resident() -> float:
    """Megabytes of memory that this process holds."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6


def group(number: int) -> None:
    found = group_drawing(picture(number), model="curves" if number % 2 else "contours")
    assert len(found.lines) >= 1


def test_pictures_of_many_sizes_share_their_programs() -> None:
    with compilations() as names:
        for number in range(25):
            group(number)
    assert len(names) <= MOST_PROGRAMS, names  # on an accelerator arrays grow a few times


@pytest.mark.parametrize(("first", "model"), [(0, "contours"), (1, "curves")])
def test_the_command_is_quick_in_a_warm_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: int, model: str
) -> None:
    """After a first picture three of other sizes: nothing is compiled, little is computed."""
    monkeypatch.chdir(tmp_path)
    numbers = [first + 62, first + 24, first + 46, first + 8]
    for number in numbers:
        Image.fromarray(picture(number)).save(f"{number}.png")

    def grouped(number: int) -> float:
        start = time.process_time()
        ran = CliRunner().invoke(app, ["group", f"{number}.png", "--model", model])
        assert ran.exit_code == 0, (ran.output, ran.exception)
        return time.process_time() - start

    grouped(numbers[0])  # the largest
    with compilations() as names:
        spent = [grouped(number) for number in numbers[1:]]
    assert not names
    assert max(spent) < MOST_SECONDS


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_three_hundred_pictures_of_three_hundred_sizes() -> None:
    jax.clear_caches()
    assert len({picture(number).shape for number in range(300)}) == 300
    with compilations() as names:
        for number in range(50):
            group(number)
        before = maps(), resident()
        for number in range(50, 300):
            group(number)
    assert len(names) <= MOST_PROGRAMS, names
    assert maps() < before[0] + 500
    assert resident() < before[1] + 150


def sparsify() -> Callable[[int], None]:
    sparsifier = Sparsifier("pathfinder-parts")

    def one(number: int) -> None:
        [found] = sparsifier.transform([picture(2 * number) < 128])
        assert len(found)

    return one


def find_letters() -> Callable[[int], None]:
    finder = ObjectFinder(variants=0).fit([letter(number) for number in range(3)])

    def one(number: int) -> None:
        page = np.zeros((96 + number % 90, 128 + number % 77), bool)
        page[:96, :96] = letter(number)[:96, :96]
        assert len(finder.find(page))

    return one


def solve_graphs() -> Callable[[int], None]:
    random = np.random.default_rng(0)

    def one(number: int) -> None:
        make = random_or if number % 2 else random_contours
        graph, evidence = make(random, 5 + 7 * number % 397)
        # No time for other solvers: all that elimination leaves goes to messages.
        solve(graph, evidence, iterations=5, repair=False, seconds=0)

    return one


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize(("begin", "most"), [(sparsify, 0), (find_letters, 50), (solve_graphs, 40)])
def test_what_else_is_asked_of_one_process_does_not_fill_it(
    begin: Callable[[], Callable[[int], None]], most: int
) -> None:
    """On a CPU; an accelerator's arrays grow a few times more. Photographs: `test_sizes.py`."""
    jax.clear_caches()
    with compilations() as names:
        one = begin()
        for number in range(50):
            one(number)
        before = maps(), resident()
        for number in range(50, 150):
            one(number)
    assert len(names) <= most + MOST_PROGRAMS, names
    assert maps() < before[0] + 500
    assert resident() < before[1] + 150


MEMORY = """
import sys
from pathlib import Path
from mam.cli import app
try:
    app(["group", sys.argv[1], "--model", "curves"])
except SystemExit as ended:
    assert not ended.code, ended.code
# Not getrusage: what that tells begins with the memory of the process that started this one.
status = Path("/proc/self/status").read_text()
print(int(status.split("VmHWM:")[1].split()[0]) / 1e6)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="counts memory in kilobytes")
@pytest.mark.parametrize("scale", [1, 7])
def test_fifty_megapixels_fit_into_two_gigabytes(scale: int, tmp_path: Path) -> None:
    """Thin lines, and thick ones."""
    mask = make_curves(CurvesConfig(rows=1000, cols=1020, curves=(5, 5), width=(4, 8)), 0, 3).mask
    lines = np.kron(mask, np.ones((scale, scale), bool))
    page = np.zeros((7000, 7140), np.uint8)
    page[: lines.shape[0], : lines.shape[1]] = np.where(lines, 255, 0)
    Image.fromarray(page).save(tmp_path / "page.png")
    command = [sys.executable, "-c", MEMORY, str(tmp_path / "page.png")]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert float(ran.stdout.strip().splitlines()[-1]) < 2.0


def test_one_grouper_takes_pictures_of_several_sizes_at_once() -> None:
    """The answer to each is that of the picture alone."""
    grouper = ContourGrouper.load("contours")
    pictures = [picture(number) < 128 for number in range(0, 12, 2)]
    together = grouper.predict(pictures)
    for one, answer in zip(pictures, together, strict=True):
        [alone] = grouper.predict([one])
        assert alone.group.tolist() == answer.group.tolist()
        assert alone.score == pytest.approx(answer.score)
