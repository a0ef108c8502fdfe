"""Every experiment from data to page, at the smallest scale."""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mam.cli import app
from mam.reproduce.run import STUDIES


@pytest.mark.slow
@pytest.mark.parametrize("name", STUDIES)
def test_smoke(name: str, tmp_path: Path) -> None:
    words = ["reproduce", name, "--scale", "smoke", "--out", str(tmp_path), "--json"]
    said = CliRunner().invoke(app, words, catch_exceptions=False).stdout
    found = json.loads(said)
    study = STUDIES[name]
    assert list(found["table"]) == list(study.learn_on)
    assert all(list(row) == list(study.test_on) for row in found["table"].values())
    assert len(found["curves"]) == len(study.lines)
    # Few images, but far from chance: the networks' figure off their own level.
    own = [row[level] for row in found["table"].values() for level in row]
    assert sum(own) / len(own) > 60
    text = Path(found["page"]).read_text()
    assert not re.search(r"""(src|href)=["'](?!data:)""", text)
    headings = re.findall("<h2>(.*?)</h2>", text)
    assert "Decodings" in headings and len(headings) >= 6
    assert text.count("<figure") >= 6
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / name).iterdir()}
    again = json.loads(CliRunner().invoke(app, words, catch_exceptions=False).stdout)
    assert again == found
    assert before == {path: path.stat().st_mtime_ns for path in (tmp_path / name).iterdir()}
