"""What a public project has: files that agree with each other."""

import re
from pathlib import Path

import pytest

import mam

ROOT = Path(__file__).parents[2]


def text(name: str) -> str:
    return (ROOT / name).read_text()


def test_one_version_everywhere() -> None:
    assert f"version: {mam.__version__}\n" in text("CITATION.cff")
    [date] = re.findall(r"date-released: (.*)\n", text("CITATION.cff"))
    assert f"## [{mam.__version__}] - {date}\n" in text("CHANGELOG.md")


def test_python_versions_are_those_of_the_package() -> None:
    tested = re.findall(r'"(3\.\d+)"', text(".github/workflows/test.yml"))
    assert tested == re.findall(r"Python :: (3\.\d+)", text("pyproject.toml"))


@pytest.mark.parametrize("tool", ["ruff check", "ruff format", "pyright"])
def test_linters_are_the_same_before_a_commit_and_in_continuous_integration(tool: str) -> None:
    assert f".venv/bin/{tool}\n" in text(".pre-commit-config.yaml")
    assert f"$(BIN)/{tool}" in text("Makefile") and "make lint test" in text(".ci/run")
