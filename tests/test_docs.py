"""The site of the docs: every public name is in the reference, every page in the contents."""

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import mam

ROOT = Path(__file__).parents[1]


def test_the_reference_has_every_public_name() -> None:
    listed = re.findall(r"^::: ([\w.]+)$", (ROOT / "docs" / "reference.md").read_text(), re.M)
    assert set(mam.__all__) <= {name.rsplit(".", 1)[1] for name in listed}


def test_every_page_is_in_the_contents() -> None:
    contents = (ROOT / "mkdocs.yml").read_text()
    pages = [page.name for page in (ROOT / "docs").glob("*.md")]
    assert len(pages) > 10 and [page for page in pages if f": {page}" not in contents] == []


def test_links_between_pages_lead_to_files_of_the_site() -> None:
    site = ROOT / "docs"
    broken = []
    for page in site.glob("*.md"):
        text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S)
        for link in re.findall(r"\]\(([^)#\s]+)", text):
            target = (page.parent / link).resolve()
            if ":" not in link and not (target.exists() and target.is_relative_to(site)):
                broken.append(f"{page.name}: {link}")
    assert broken == []


def test_every_picture_of_the_gallery_has_a_command() -> None:
    parts = re.split(r"^!\[", (ROOT / "docs" / "gallery.md").read_text(), flags=re.M)[1:]
    assert len(parts) >= 7
    assert all(re.search(r"^```\n(mam|python) ", part, re.M) for part in parts)


@pytest.mark.slow
@pytest.mark.skipif(find_spec("mkdocs") is None, reason="mkdocs is not installed (extra docs)")
def test_the_site_is_built_and_no_link_is_broken(tmp_path: Path) -> None:
    build = ["-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", tmp_path / "site"]
    done = subprocess.run(
        [sys.executable, *map(str, build)], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ContourGrouper" in (tmp_path / "site" / "reference.html").read_text()
