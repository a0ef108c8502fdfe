"""The Python blocks of README and docs run in order, and print what the comments say."""

import contextlib
import io
import re
from pathlib import Path

import matplotlib
import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
SAID = re.compile(r"^\s*print\(.*\)  # (.*)$")
LINK = re.compile(r"\]\((?!https?:)([^)#]+)[^)]*\)")


def blocks(page: Path) -> list[tuple[int, str]]:
    """Return each Python block with the line it starts in."""
    text = page.read_text()
    return [(text[: m.start(1)].count("\n") + 1, m.group(1)) for m in BLOCK.finditer(text)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_blocks_print_what_their_comments_say(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    matplotlib.use("Agg")
    names: dict = {"__name__": page.stem}
    for line, block in blocks(page):
        # Line numbers of errors are those of the page.
        code = compile("\n" * (line - 1) + block, str(page), "exec")
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            exec(code, names)
        expected = [m.group(1) for text in block.splitlines() if (m := SAID.match(text))]
        assert said.getvalue().splitlines() == expected, f"{page.name} line {line}"


def test_the_pages_have_blocks() -> None:
    assert len(blocks(ROOT / "README.md")) >= 1
    assert len(blocks(ROOT / "docs" / "how-to.md")) >= 10


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text()):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"
