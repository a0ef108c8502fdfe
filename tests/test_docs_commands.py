"""Every command of README and docs: its words are known, and those of the blocks are run.

Numbers of rows are made small, and files that a reader would bring are generated. The experiments
of docs/reproduce.md are run by tests/reproduce/test_smoke.py.
"""

import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import typer.main
from matplotlib import font_manager
from PIL import Image
from typer.core import TyperCommand, TyperGroup
from typer.testing import CliRunner

from mam.cli import app
from mam.core.model_files import bundled_file
from mam.data import ObjectsConfig, encode_png, make_objects, recipe, write_dataset
from mam.data.generate.charts import make_chart
from mam.vision.elastic.letters import finder as finders
from mam.vision.elastic.letters.letter_forward import ForwardConfig
from mam.vision.elastic.letters.letter_search import LetterSearchConfig
from mam.vision.elastic.variants import VariantConfig
from tests.commands.test_curves import SMALL as SMALL_CHARTS
from tests.commands.test_curves import written

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`(mam [^`]+|python -m bench[^`]*|make [a-z-]+)`")
COMMAND = re.compile(r"(mam|make|python -m) ")
UNENDING = {"show"}  # serves until somebody ends it; tests/web runs it
STAND_INS = {"LEVEL": "easy", "FOLDER": "mugs", "DATA": "images.parquet"}
SMALL = LetterSearchConfig(
    window=9,
    rounds=(),
    kept=6,
    forward=ForwardConfig(each_group=1, more=4),
    variants=VariantConfig(count=0),
)
SLOW = {
    "README.md",
    "contours.md",
    "gallery.md",
    "letters.md",
    "objects.md",
    "parts.md",
    "results.md",
    "rivals.md",
}


def in_blocks(page: Path) -> list[list[str]]:
    found = [text for language, text in BLOCK.findall(page.read_text()) if not language]
    lines = [line for text in found for line in text.splitlines()]
    return [shlex.split(line, comments=True) for line in lines if COMMAND.match(line)]


def in_text(page: Path) -> list[list[str]]:
    return [shlex.split(words) for words in INLINE.findall(page.read_text())]


def commands(words: list[str]) -> Iterator[TyperCommand]:
    """The command that words name; several where a word lists them, as `easy|hard` does."""
    here = typer.main.get_command(app)
    while isinstance(here, TyperGroup) and words and not words[0].startswith("-"):
        first, *words = words
        if "|" in first:
            for one in first.split("|"):
                yield from commands_of(here, one)
            return
        [here] = commands_of(here, first)
    yield here


def commands_of(group: TyperGroup, name: str) -> list:
    assert name in group.commands, f"there is no command {name}"
    return [group.commands[name]]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_words_of_commands_are_known(page: Path) -> None:
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for first, *words in in_blocks(page) + in_text(page):
        if first == "make":
            assert words[0] in targets, words
        elif first == "python":
            assert words[0] == "-m"
            path = ROOT / words[1].replace(".", "/")
            assert path.is_dir() or path.with_suffix(".py").exists(), words
        else:
            options = [word for word in words if re.match(r"--?[a-z]", word)]
            for command in commands(words):
                names = {"--help"}.union(*(one.opts + one.secondary_opts for one in command.params))
                assert set(options) <= names, (page.name, words)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_that_a_page_names_exist(page: Path) -> None:
    folders = [ROOT / name for name in ("mam", "tests", "bench", "examples")]
    known = [str(path) for folder in folders for path in folder.rglob("*.py")]
    named = set(re.findall(r"`([\w/]+\.py)`", page.read_text())) - {"mam/factors/yours.py"}
    assert not [name for name in named if not any(path.endswith(f"/{name}") for path in known)]


def test_blocks_have_commands() -> None:
    assert sum(len(in_blocks(page)) for page in PAGES) > 50
    assert len(in_blocks(ROOT / "README.md")) >= 12


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What a reader brings."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(finders.PRESETS, "best", lambda: SMALL)
    drawn = np.full((240, 260), 255, np.uint8)
    drawn[38:43, 20:230] = drawn[118:123, 20:230] = 0
    brought = ("picture.png", "mask.png", "vessels.png", "scan.png", "scan.jpg", "neurites.ome.tif")
    for name in brought:
        Image.fromarray(drawn).save(name)
    chart = np.full((340, 460, 3), 255, np.uint8)
    chart[100:103, 60:420], chart[200:203, 60:420] = (31, 119, 180), (255, 127, 14)
    Image.fromarray(chart).save("chart.png")
    for name in ("images", "hard-train", "hard-test"):
        write_dataset(recipe("pathfinder", "easy", 1), 3, Path(f"{name}.parquet"))
    for name in ("letters", "test", "easy-train", "easy-test", "rest", "first"):
        write_dataset(recipe("cabc", "easy", 2), 2, Path(f"{name}.parquet"))
    charts = [make_chart(SMALL_CHARTS, 1, row)[0] for row in range(3)]
    written(Path("charts.parquet"), charts, "masks", "image")
    Path("model.uai").write_text("MARKOV\n2\n2 2\n1\n2 0 1\n4\n 1 2 3 4\n")
    Path("model.uai.evid").write_text("1 0 1\n")
    Path("model.uai.query").write_text("1 0\n")
    for name in ("scans", "more", "grouped"):
        Path(name).mkdir()
    for name in ("scans/one.png", "scans/one.webp", "more/two.png"):
        Image.fromarray(drawn).save(name)
    shutil.copy(bundled_file("pathfinder-parts.safetensors"), "parts.safetensors")
    shutil.copy(font_manager.findfont("DejaVu Sans"), "MyFont.ttf")
    mugs()
    return tmp_path


def mugs() -> None:
    """Photographs of an object, with masks."""
    plain = ObjectsConfig(rows=160, cols=192, objects=1, frames=3, clutter=(2, 4), turn=4.0)
    for name in ("images", "masks"):
        Path("mugs", name).mkdir(parents=True)
    for number in range(3):
        row = make_objects(plain, 2, number)
        Path(f"mugs/images/{number}.png").write_bytes(encode_png(row.image))
        Path(f"mugs/masks/{number}.png").write_bytes(encode_png(row.mask.astype(np.uint8) * 255))
    shutil.copy("mugs/images/2.png", "kitchen.png")


def smaller(words: list[str]) -> list[str]:
    """A command with few rows."""
    for name, word in STAND_INS.items():
        words = [one.replace(name, word) for one in words]
    few = {"--images": "2", "--workers": "1", "--epochs": "1"}
    if words[0] == "make":
        few["--count"] = "10" if words[1] == "objects" else "3"
        words = words if "--count" in words else [*words, "--count", "3"]
    if words[:2] == ["learn", "parts"]:  # each takes half a minute
        few["--count"] = "2"
    if words[:2] == ["learn", "contours"] and "paper" in words:  # which learns sixteen of them
        words = [*words, "--parts", "parts.safetensors"]
    if words[:2] == ["learn", "curves"]:
        words = [*words, "--count", "6"]
    if words[:2] == ["learn", "rival"]:
        words = [*words, "--side", "32", "--batch", "1"]
        words = words if "--images" in words else [*words, "--images", "2", "--epochs", "1"]
    if words[0] in ("learn", "evaluate", "find") and "mug.safetensors" in words:
        words = [*words, "--graphs", "16"]
    pairs = zip(["", *words[:-1]], words, strict=True)
    return [few.get(before, word) for before, word in pairs]


RUN = [page for page in PAGES if page.name not in ("CONTRIBUTING.md", "reproduce.md")]


@pytest.mark.parametrize(
    "page",
    [pytest.param(p, marks=[pytest.mark.slow] if p.name in SLOW else [], id=p.name) for p in RUN],
)
def test_commands_of_blocks_run(page: Path, folder: Path) -> None:
    if page.name in ("contours.md",):  # there the test is one of contours
        shutil.copy("hard-test.parquet", "test.parquet")
    for first, *words in in_blocks(page):
        if first != "mam" or words[0] in UNENDING:
            continue
        typed = smaller(words)
        ran = CliRunner().invoke(app, typed)
        assert ran.exit_code == 0, (typed, ran.output, ran.exception)
