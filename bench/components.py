"""Exact answers: contour models against max-product on the same ones, and large trees.

A file with an older kernel (``attend_each``, version 0.1) given as argument is timed beside.
"""

import importlib.util
import sys
from collections.abc import Callable

import numpy as np

from bench.timing import seconds
from mam.data import make_row, recipe
from mam.factors import Pairwise
from mam.graph import FactorGraph, GraphBuilder
from mam.infer import solve
from mam.vision.curves.chain_model import ChainSolver, contour_model
from mam.vision.curves.strokes.contour_grouper import ContourGrouper


def older_kernel(path: str) -> Callable:
    """The kernel of version 0.1, from its file."""
    spec = importlib.util.spec_from_file_location("older_attend", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["older_attend"] = module
    spec.loader.exec_module(module)
    settings, room = module.ContourPotentials(), module.Room()
    return lambda links, presence, potentials: module.attend_each(
        links, presence, settings, 0, room
    )


def main(images: int = 32, times: int = 4, older: Callable | None = None) -> None:
    """Models of some hard images, several times each: 128 by default."""
    grouper = ContourGrouper.load("contours")
    pictures = [make_row(recipe("pathfinder", "hard", 3), i).clean for i in range(images)]
    groupings = grouper.predict(pictures) * times
    potentials = grouper.potentials
    presence = [np.full(len(found.strokes), potentials.presence) for found in groupings]
    links = [found.links for found in groupings]
    models = [contour_model(*one, potentials) for one in zip(links, presence, strict=True)]
    graphs, evidence = [model.graph for model, _ in models], [known for _, known in models]
    print(f"{len(graphs)} contour models")
    solver = ChainSolver()
    whole = seconds(lambda: solver.decide_each(links, presence, potentials), 9)
    exact = seconds(lambda: solve(graphs, evidence, method="exact"), 5)
    messages = seconds(
        lambda: solve(graphs, evidence, method="max-product", iterations=30, repair=False), 5
    )
    found = solve(graphs, evidence)
    proved = np.mean([one.proof == "exact" for one in found])
    print(f"  from links to proved answers: {1e3 * whole:.1f} ms, {100 * proved:.1f} % proved")
    print(f"  graph by graph, by elimination: {exact / whole:.2f} times that")
    print(f"  30 iterations of max-product: {messages / whole:.2f} times")
    if older is not None:
        kernel = seconds(lambda: older(links, presence, potentials), 9)
        print(f"  30 iterations of the older kernel: {kernel / whole:.2f} times")
    for name, parents in _trees(100_000).items():
        graph = _tree(parents)
        taken = seconds(lambda graph=graph: solve(graph, method="exact"), 2)
        print(f"  {name} of {len(parents) + 1:,} variables: {taken:.2f} s")


def _trees(size: int) -> dict[str, np.ndarray]:
    """The parent of every variable but the first."""
    rng = np.random.default_rng(0)
    before = np.arange(size - 1)
    return {"a chain": before, "a random tree": rng.integers(0, before + 1)}


def _tree(parents: np.ndarray) -> FactorGraph:
    rng = np.random.default_rng(1)
    builder = GraphBuilder()
    x = builder.variables("x", len(parents) + 1, 4)
    builder.add("pair", Pairwise.of(np.stack([parents, x[1:]], 1), rng.normal(size=(4, 4))))
    return builder.build()


if __name__ == "__main__":
    main(older=older_kernel(sys.argv[1]) if sys.argv[1:] else None)
