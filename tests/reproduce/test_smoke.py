"""Every experiment from data to page, at the smallest scale."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from mam.cli import app
from mam.reproduce.cabc import CABC
from mam.reproduce.pathfinder import PATHFINDER
from mam.reproduce.plan import PAPER
from mam.reproduce.run import EXPERIMENTS

CHALLENGES = {"pathfinder": PATHFINDER, "cabc": CABC}


def command(name: str, out: Path) -> dict[str, Any]:
    words = ["reproduce", name, "--scale", "smoke", "--out", str(out), "--json"]
    return json.loads(CliRunner().invoke(app, words, catch_exceptions=False).stdout)


@pytest.mark.slow
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_smoke(name: str, tmp_path: Path) -> None:
    found = command(name, tmp_path)
    if plan := CHALLENGES.get(name):
        paper = f"{plan.learn_on[-1]} ({PAPER})"
        assert list(found["table"]) == [*plan.learn_on, paper]
        assert {one["kind"] for one in found["rivals"]} == {"h-cnn", "td-h-cnn", "resnet"}
        assert all(list(one["right"]) == list(plan.test_on) for one in found["rivals"])
        assert list(found["table"][paper]) == [plan.learn_on[-1]]
        assert all(list(found["table"][level]) == list(plan.test_on) for level in plan.learn_on)
        assert len(found["curves"]) == len(plan.lines)
        own = [right for level in plan.learn_on for right in found["table"][level].values()]
        assert sum(own) / len(own) > 60  # from few images, and yet not by chance
    elif name == "objects":
        assert all(iou > 0.3 for runs in found["median_iou"].values() for iou in runs)
    text = Path(found["page"]).read_text()
    assert not re.search(r"""(src|href)=["'](?!data:)""", text)
    assert len(re.findall("<h2>", text)) >= 3 and text.count("<figure") >= 2
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / name).iterdir()}
    assert command(name, tmp_path) == found
    assert before == {path: path.stat().st_mtime_ns for path in (tmp_path / name).iterdir()}
