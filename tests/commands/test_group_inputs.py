"""Pictures that are no drawings, or stored in odd ways: a right answer or one clear line."""

import io
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from skimage import data
from typer.testing import CliRunner

from mam.cli import app
from tests.vision.images.pages import page


def run(*words: object) -> str:
    ran = CliRunner().invoke(app, list(map(str, words)), catch_exceptions=False)
    assert ran.exit_code == 0, ran.output
    return ran.output


def refused(*words: object) -> str:
    ran = CliRunner().invoke(app, list(map(str, words)))
    assert isinstance(ran.exception, ValueError) and "\n" not in str(ran.exception)
    return str(ran.exception)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def lines() -> np.ndarray:
    picture = np.full((48, 64), 240, np.uint8)
    picture[20:24, 6:58] = picture[34:38, 10:30] = 20
    return picture


def curves(name: str, *words: object) -> list[dict]:
    return json.loads(run("group", name, "--out", ".json", "--json", *words))["curves"]


def spans(found: list[dict]) -> list[list[float]]:
    return [np.ptp(np.array(one["points"]), axis=0).round().tolist() for one in found]


@pytest.mark.parametrize(
    ("name", "picture", "say"),
    [
        ("none", np.full((40, 40), 255, np.uint8), "one grey value throughout"),
        ("all", np.zeros((40, 40), np.uint8), "one grey value throughout"),
        ("green", np.full((40, 40, 3), (0, 200, 0), np.uint8), "one colour throughout"),
        ("tiny", np.zeros((1, 1), np.uint8), "one grey value throughout"),
        ("pair", np.array([[0, 255]], np.uint8), "nothing but specks"),
    ],
)
def test_all_ink_or_none(here: Path, name: str, picture: np.ndarray, say: str) -> None:
    Image.fromarray(picture).save(f"{name}.png")
    assert say in refused("group", f"{name}.png")
    assert sorted(path.name for path in here.iterdir()) == [f"{name}.png"]


def test_pieces_of_a_photograph_are_counted_before_they_are_grouped(here: Path) -> None:
    Image.fromarray(data.grass()).save("grass.png")
    said = refused("group", "grass.png")
    assert "pieces of ink, more than 1,000: a photograph, or noise?" in said
    found = json.loads(run("group", "grass.png", "--show", "ink", "--json"))
    assert found["pieces"] > 1000 and Path("grass-ink.png").exists()
    Image.fromarray(lines()).save("lines.png")
    assert "2 pieces of ink, more than 1" in refused("group", "lines.png", "--most", 1)


def in_odd_ways() -> dict[str, bytes]:
    """The same lines: CMYK, 16 bit, turned, palette with transparency, RGBA, grey and alpha."""
    plain = Image.fromarray(lines())
    exif = Image.Exif()
    exif[0x0112] = 6
    clear = np.full((48, 64, 4), 20, np.uint8)
    clear[..., 3] = np.where(lines() < 100, 255, 0)
    palette = Image.fromarray(lines()).convert("P")
    ways = {
        "cmyk.jpg": (plain.convert("CMYK"), "JPEG", {"quality": 95}),
        "cmyk.tif": (plain.convert("CMYK"), "TIFF", {}),
        "deep.png": (Image.fromarray(lines().astype(np.uint16) * 257), "PNG", {}),
        "deep.tif": (Image.fromarray(lines().astype(np.uint16) * 16), "TIFF", {}),
        "turned.jpg": (plain.transpose(Image.Transpose.ROTATE_90), "JPEG", {"exif": exif}),
        "clear.png": (Image.fromarray(clear), "PNG", {}),
        "palette.png": (palette, "PNG", {"transparency": 240}),
        "palette.gif": (palette, "GIF", {"transparency": 240}),
    }
    files = {}
    for name, (picture, kind, options) in ways.items():
        out = io.BytesIO()
        picture.save(out, kind, **options)
        files[name] = out.getvalue()
    return files


@pytest.mark.parametrize("name", in_odd_ways())
def test_odd_ways_to_store_a_picture(here: Path, name: str) -> None:
    Path(name).write_bytes(in_odd_ways()[name])
    found = spans(curves(name))
    assert len(found) == 2
    assert found[0] == pytest.approx([0, 50], abs=4) and found[1] == pytest.approx([0, 18], abs=4)


def test_an_animation_wants_a_page(here: Path) -> None:
    first, second = Image.fromarray(255 - lines()), Image.fromarray(lines())
    first.save("a.gif", save_all=True, append_images=[second])
    assert (
        refused("group", "a.gif") == "a.gif: holds 2 pages; say which by page (--page), from 1 on"
    )
    assert len(curves("a.gif", "--page", 2)) == 2


def test_what_was_taken_as_ink_is_shown(here: Path) -> None:
    picture, truth = page("shadow", 21)
    Image.fromarray(picture).save("shadow.png")
    said = run("group", "shadow.png", "--show", "ink")
    assert "shadow-ink.png: the ink" in said and "% of the pixels are ink" in said
    shown = np.asarray(Image.open("shadow-ink.png"))
    ink = (shown == (213, 94, 0)).all(2)
    assert (ink & truth).sum() / (ink | truth).sum() > 0.9 and shown[~ink].min() >= 170
    assert [path.name for path in here.iterdir() if "curves" in path.name] == []
    run("group", ".", "--show", "ink", "--out-dir", "inks")
    assert Path("inks/shadow-ink.png").exists() and not Path("inks/shadow-ink-ink.png").exists()


def test_one_colour_of_several(here: Path) -> None:
    picture = np.full((60, 80, 3), 255, np.uint8)
    picture[10:14, 5:75], picture[30:34, 5:75] = (200, 30, 30), (30, 30, 200)
    Image.fromarray(picture).save("two.png")
    assert len(curves("two.png")) == 2
    [red] = curves("two.png", "--ink", "200,30,30")
    assert red["points"][0][0] == pytest.approx(11.5, abs=1)
    [low] = curves("two.png", "--box", "20,0 59,79")
    assert low["points"][0][0] == pytest.approx(31.5, abs=1)


def test_one_line_and_no_traceback(here: Path) -> None:
    Image.new("L", (1, 1)).save("a.png")
    ran = subprocess.run(
        [sys.executable, "-m", "mam", "group", "a.png"],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": ":".join(sys.path), "PATH": "", "JAX_PLATFORMS": "cpu"},
    )
    assert ran.returncode == 2 and ran.stderr.count("\n") == 1
    assert ran.stderr.startswith("mam: a.png is one grey value throughout")
