"""The scripts in ``examples/`` run, and say what is true."""

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from mam.infer import enumerate_exactly, solve

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
    "merged_letters": [
        "graph 1 at [[0, 1], [3, 1]], score 6\n",
        "matched one by one the graphs score [1.0, 6.0]",
        "two copies of it cover 2 pixels",
    ],
    "elastic_letter": ["score 6.50319, proved optimal", "score 6.50319, the same placement"],
    "vessels": [
        "171 pieces, 62 links are possible\n27 pieces belong to vessels, with 2 forks\n",
        "  a branch of 7 pieces: ",
        "these are the pieces of the tree: True",
        "score 22.1054, proved optimal",
        "proof: exact",
    ],
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


@pytest.mark.parametrize("seed", range(8))
def test_vessels_are_as_good_as_the_best_of_all_assignments(seed: int) -> None:
    vessels, rng = load("vessels"), np.random.default_rng(seed)
    tree, near = vessels.tree(), vessels.scattered(12, 12, seed, side=32.0)
    around = [2, 3, 4, 5, 6, 22, 23]  # the first fork and two pieces of each of its limbs
    pieces = vessels.Pieces(
        np.concatenate([tree.centre[around], near.centre + tree.centre[4] - 16]),
        np.concatenate([tree.angle[around], near.angle]),
        np.concatenate([tree.kind[around], near.kind]),
    )
    model, evidence = vessels.vessel_model(pieces)
    # Scattered pieces are best left alone; better links make vessels of them too.
    evidence["attention"] = evidence["attention"] + rng.normal(2, 2, len(evidence["attention"]))
    solution = solve(model.graph, evidence)
    listed = enumerate_exactly(model.graph, evidence)
    assert solution.proof == "exact" and solution["part"].any()
    assert solution.score == pytest.approx(listed.score)
    assert (listed.best == solution.values).all(1).any()


def test_a_fork_alone_in_a_chain_is_passed_and_three_limbs_are_branched() -> None:
    vessels = load("vessels")
    tree = vessels.tree()
    model, evidence = vessels.vessel_model(tree)
    solution = solve(model.graph, evidence)
    joins = np.bincount(vessels.links(tree)[0][solution["attention"] == 1].ravel())
    assert sorted(joins[tree.kind == vessels.FORK]) == [2, 3, 3]
    assert joins.sum() == 2 * (len(tree.kind) - 1)  # a tree
    assert [len(some) for some in vessels.branches(tree, solution)] == [4, 4, 7, 5, 5]


def test_vessels_are_drawn(tmp_path: Path) -> None:
    load("vessels").main(str(tmp_path / "vessels.png"))
    assert (tmp_path / "vessels.png").read_bytes()[:4] == b"\x89PNG"
