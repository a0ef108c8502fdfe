"""The scripts in ``examples/`` run, and say what is true."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

FOLDER = Path(__file__).parents[1] / "examples"
SAYS = {
    "gene_network": [
        "A = 1, C = 0: ON are A, B, AB\n",
        "A = 1, C = 1: ON are A, C, D, AD\n",
        "A and B are dependent\n  A and D are independent\nA = 1, C = 1",
        "A and B are independent\n  A and D are dependent\n",
        "score 2, proved optimal",
    ],
    "two_lines": [
        "137 of 68719476736 joint states are possible",
        "row 0 on the left continues in row 1 on the right\n"
        "row 2 on the left continues in row 3 on the right\n",
        "score 0, proved optimal",
    ],
    "sparsify_a_line": [
        "4 parts explain 11 pixels",
        "score -9.21034, proved optimal",
        "4 log 0.1 = -9.21034",
    ],
    "group_a_drawing": [
        "assumed: dark on light",
        "2 lines of 24 dashes",
        "left and right are on one line: True",
        "left and top are on one line: False",
    ],
    "find_an_object": [
        "object-0 is there: True",
        "IoU with the true mask above 0.75: True",
        "in a picture without edges it is there: False",
    ],
    "elastic_letter": ["score 6.50319, proved optimal", "score 6.50319, the same placement"],
}


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"examples_{name}", FOLDER / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", SAYS)
def test_an_example_says_what_is_true(name: str, capsys: pytest.CaptureFixture) -> None:
    load(name).main()
    said = capsys.readouterr().out
    for words in SAYS[name]:
        assert words in said


def test_every_example_is_tested() -> None:
    assert {path.stem for path in FOLDER.glob("*.py")} == set(SAYS)
