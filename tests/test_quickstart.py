"""``mam quickstart`` as a user runs it."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from mam.cli import app
from mam.core.model_files import bundled_file
from mam.data import make_row, recipe
from mam.data.images import read_picture


def run(*arguments: object) -> str:
    result = CliRunner().invoke(app, ["quickstart", *map(str, arguments)])
    assert result.exception is None
    return result.stdout


def test_the_bundled_image_is_answered_and_drawn(tmp_path: Path) -> None:
    picture = tmp_path / "hard.png"
    text = run("--out", picture, "--json")
    assert text.count("\n") == 1
    found = json.loads(text)
    row = make_row(recipe("pathfinder", "hard", 1), 24)
    np.testing.assert_array_equal(read_picture(bundled_file("hard.png"), "hard.png"), row.image)
    assert found["same"] == bool(row.label) and found["margin"] > 1
    assert found["strokes"] >= 54 and found["contours"] == len(row.segments)
    assert found["bound"] >= found["score"] - 1e-6
    assert [path.name for path in tmp_path.iterdir()] == ["hard.png"]
    with Image.open(picture) as image:
        colours = np.unique(np.asarray(image.convert("RGB")).reshape(-1, 3), axis=0)
        assert min(image.size) >= 300 and len(colours) > found["contours"]


def test_the_page_can_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = run()
    assert "The discs are on the SAME contour" in text and "optim" in text
    assert "mam-quickstart.png" in text and (tmp_path / "mam-quickstart.png").exists()
    assert max(map(len, text.splitlines())) <= 100


@pytest.mark.parametrize("name", ["hard.jpg", "hard.svg", "missing/hard.png"])
def test_a_picture_that_cannot_be_written_is_refused_first(tmp_path: Path, name: str) -> None:
    result = CliRunner().invoke(app, ["quickstart", "--out", str(tmp_path / name)])
    assert isinstance(result.exception, ValueError | OSError)
    assert list(tmp_path.iterdir()) == []
