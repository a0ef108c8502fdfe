"""The page of limits says what the limits are, and each of them holds somewhere."""

import re
from pathlib import Path

from mam.core import limits
from mam.vision.parts.sparsifier import Sparsifier

ROOT = Path(limits.__file__).parents[2]
LIMITS = {name: value for name, value in vars(limits).items() if name.isupper()}


def test_the_page_has_them_all() -> None:
    page = (ROOT / "docs" / "limits.md").read_text()
    assert {
        name: float(value) for name, value in re.findall(r"\| `(\w+)` \| ([\d.]+) \|", page)
    } == LIMITS


def test_settings_begin_as_the_limits_say() -> None:
    assert Sparsifier("pathfinder-parts").max_candidates == limits.PLACEMENTS


def test_every_limit_is_used() -> None:
    sources = [
        path.read_text() for path in (ROOT / "mam").rglob("*.py") if path.name != "limits.py"
    ]
    assert [name for name in LIMITS if not any(name in source for source in sources)] == []
