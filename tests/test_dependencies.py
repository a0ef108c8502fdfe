"""What is declared is used, and what is used is declared."""

import ast
import re
import sys
import tomllib
from pathlib import Path

import mam
from tests.test_house import imports_of

ROOT = Path(mam.__file__).parent.parent
FOLDERS = ("tests", "bench", "examples", "docs")
# Distributions that are imported under another name, and those that are run, not imported.
MODULES = {"pillow": "PIL", "scikit-image": "skimage", "scikit-learn": "sklearn"}
MODULES |= {"Hershey-Fonts": "HersheyFonts", "lazy-loader": "lazy_loader", "pyyaml": "yaml"}
MODULES |= {"dask-jobqueue": "dask_jobqueue", "fonttools": "fontTools"}
TOOLS = {"pytest-xdist", "ruff", "pyright", "beartype", "mkdocs-material", "mkdocstrings"}
TOOLS |= {"ipykernel"}
# `dask[distributed]`; a rival that runs in an environment of its own; a script beside the tests.
ELSEWHERE = {"distributed", "pgmax", "made_layouts"}


def _used(*folders: str) -> dict[str, set[str]]:
    """What the files of each folder import, by its first name."""
    trees = {
        folder: [ast.parse(path.read_text()) for path in (ROOT / folder).rglob("*.py")]
        for folder in folders
    }
    return {
        folder: {name.split(".")[0] for tree in own for name in imports_of(tree)}
        for folder, own in trees.items()
    }


def test_what_is_declared_is_used() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    used = _used("mam", "tests", "docs")

    def unused(wanted: list[str], known: set[str]) -> set[str]:
        names = {re.split(r"[\[<>=~!; ]", one)[0] for one in wanted}
        return {MODULES.get(name, name) for name in names - TOOLS} - known

    assert unused(declared["dependencies"], used["mam"]) == set()
    extras = [one for extra in declared["optional-dependencies"].values() for one in extra]
    assert unused(extras, used["mam"] | used["tests"] | used["docs"]) == set()


def test_what_is_used_is_declared() -> None:
    """By the package itself, or by an extra: others bring it today, and may not tomorrow."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = [one for extra in project["optional-dependencies"].values() for one in extra]
    names = {re.split(r"[\[<>=~!; ]", one)[0] for one in project["dependencies"] + extras}
    known = {MODULES.get(name, name) for name in names} | ELSEWHERE | {"mam", *FOLDERS}
    used = set().union(*_used("mam", *FOLDERS).values())
    assert used - known - set(sys.stdlib_module_names) == set()
