"""``method="auto"`` beside ``method="max-product"`` on the same models: time and score.

python -m bench.auto [MESSAGES]
"""

import sys
import time
from collections.abc import Callable

from bench.graphs import contours, pixels
from bench.models import CASES
from mam.graph import CompiledGraph, FactorGraph, compile_graphs
from mam.infer import Solution, solve


def taken(
    graph: FactorGraph | CompiledGraph, evidence: dict, method: str, repeats: int = 3
) -> tuple[float, Solution]:
    """Least time of a call after the first, and its answer."""
    answer = solve(graph, evidence, method=method)
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        answer = solve(graph, evidence, method=method)
        best = min(best, time.perf_counter() - start)
    return best, answer


def main(messages: int = 100_000) -> None:
    print(f"{'model':26s} {'edges':>8s} {'auto s':>8s} {'of max-product':>15s} {'better by':>10s}")
    cases: dict[str, Callable[[], tuple]] = {
        "or": lambda: pixels(messages),
        "pattern": lambda: contours(messages),
        **{name: make for name, (make, _) in CASES.items()},
    }
    for name, make in cases.items():
        graph, evidence = make()
        for form, ready in (("", graph), (", compiled", compile_graphs(graph))):
            ours, answer = taken(ready, evidence, "auto")
            messages_alone, other = taken(ready, evidence, "max-product")
            print(
                f"{name + form:26s} {graph.edges:8d} {ours:8.3f} {ours / messages_alone:15.2f} "
                f"{answer.score - other.score:10.4g}  {answer.explain()}",
                flush=True,
            )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
