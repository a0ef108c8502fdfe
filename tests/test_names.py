"""One name, one thing: classes, type aliases and modules."""

import ast
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import mam

ROOT = Path(mam.__file__).parent


def _named(node: ast.stmt) -> str | None:
    """The public class or type alias that a statement defines."""
    if isinstance(node, ast.ClassDef):
        return None if node.name.startswith("_") else node.name
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        name = node.targets[0].id
        return name if re.fullmatch("[A-Z][a-z]\\w*", name) else None
    return None


def duplicates(sources: Iterable[str]) -> set[str]:
    """Names of public classes and type aliases that several files define."""
    trees = [ast.parse(source) for source in sources]
    found = Counter(name for tree in trees for node in tree.body if (name := _named(node)))
    return {name for name, count in found.items() if count > 1}


def test_a_public_class_or_alias_has_a_name_of_its_own() -> None:
    assert duplicates(path.read_text() for path in ROOT.rglob("*.py")) == set()


def test_a_second_class_or_alias_of_one_name_is_found() -> None:
    assert duplicates(["class A: ...", "class B: ...", "class A(B): ..."]) == {"A"}
    assert duplicates(["class _A: ...", "class _A: ..."]) == set()
    assert duplicates(["class Mask: ...", "Mask = int"]) == {"Mask"}
    assert duplicates(["LARGE = 1", "LARGE = 2"]) == set()


# Where a file is named by its task, what is done with it stands in the folder's name.
TASKS = {"cabc", "curves", "letters", "objects", "parts", "pathfinder", "rival", "rivals"}
BY_TASK = ("tasks", "reproduce", "commands", "data/generate", "show")
NAMED_TWICE = {
    "make",  # the verb of `mam make`, and what it calls
    "solve",  # the same
    "learning",  # what is learned from rows, and the same over shards
    "shards",  # of a data set, and of a run: see Words
    "job",  # of the page, and of shards: see Words
    "limits",  # what is refused anywhere, and by the server
    "schema",  # of rows, and of model files
    "parts",  # the models of parts and attention know no task
}


def repeated_names(paths: Iterable[Path]) -> set[str]:
    """Names that several files have, but for those of tasks in folders of what is done."""
    by_task = {
        path
        for path in paths
        if path.stem in TASKS and str(path.relative_to(ROOT)).startswith(BY_TASK)
    }
    names = Counter(path.stem for path in set(paths) - by_task)
    names.update({path.stem for path in by_task})
    return {name for name, count in names.items() if count > 1}


def test_a_module_has_a_name_of_its_own() -> None:
    assert repeated_names(list(ROOT.rglob("[!_]*.py"))) == NAMED_TWICE


def test_a_second_module_of_one_name_is_found() -> None:
    verbs = [ROOT / "tasks" / "cabc.py", ROOT / "commands" / "evaluate" / "cabc.py"]
    assert repeated_names(verbs) == set()
    assert repeated_names([*verbs, ROOT / "vision" / "cabc.py"]) == {"cabc"}
    assert repeated_names([ROOT / "core" / "a.py", ROOT / "web" / "a.py"]) == {"a"}
