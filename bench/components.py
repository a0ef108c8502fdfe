"""Exact answers: contour models against max-product on the same ones, and large trees."""

import numpy as np

from bench.timing import seconds
from mam.core.growing import GrowingSizes
from mam.data import make_row, recipe
from mam.factors import Pairwise
from mam.graph import FactorGraph, GraphBuilder
from mam.infer import solve
from mam.vision.curves.attend import attend_each, contour_model
from mam.vision.curves.strokes.contour_grouper import ContourGrouper


def main(images: int = 32, times: int = 4) -> None:
    """Models of some hard images, several times each: 128 by default."""
    grouper = ContourGrouper.load("contours")
    pictures = [make_row(recipe("pathfinder", "hard", 3), i).clean for i in range(images)]
    groupings = grouper.predict(pictures) * times
    potentials, room = grouper.potentials, GrowingSizes()
    presence = [np.full(len(found.strokes), potentials.presence) for found in groupings]
    links = [found.links for found in groupings]
    models = [contour_model(*one, potentials) for one in zip(links, presence, strict=True)]
    graphs, evidence = [model.graph for model, _ in models], [known for _, known in models]
    print(f"{len(graphs)} contour models")
    kernel = seconds(lambda: attend_each(links, presence, potentials, 0, room), 5)
    exact = seconds(lambda: solve(graphs, evidence, method="exact"), 5)
    messages = seconds(
        lambda: solve(graphs, evidence, method="max-product", iterations=30, repair=False), 5
    )
    found = solve(graphs, evidence)
    proved = np.mean([one.proof == "exact" for one in found])
    better = np.mean([one.score > g.score + 1e-6 for one, g in zip(found, groupings, strict=True)])
    print(f"  exact, with margins: {1e3 * exact:.0f} ms, {100 * proved:.1f} % proved")
    print(f"  30 iterations: {messages / exact:.2f} times that; by the kernel {kernel / exact:.2f}")
    print(f"  better than the kernel's answer: {100 * better:.1f} %")
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
    main()
