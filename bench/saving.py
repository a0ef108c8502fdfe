"""What attention variables save: lines of two segments, with them and as one table without them.

    python -m bench.saving --rows 16

Entries are exact counts: of the table that lists all possible sets of segments, against the listed
configurations of all factors of the Markov Attention Model, and against the numbers (edges) that an
update of messages touches. There may be half as many lines as rows. Times are for the best answer
to random evidence; the table is solved while it has no more than 200,000 entries.
"""

import argparse
import time

import numpy as np

from mam.factors import Pattern
from mam.graph import FactorGraph
from mam.infer import solve
from mam.models.examples import line_sets, two_lines, two_lines_table

MOST = 200_000  # entries of a table that is solved


def count_sets(rows: int, lines: int) -> int:
    """The number of rows of ``line_sets``, without listing them."""
    pairs = [(a, b) for a in range(rows) for b in range(a - 1, a + 2) if 0 <= b < rows]
    ending, total = dict.fromkeys(pairs, 1), 1
    for _ in range(lines):
        total += sum(ending.values())
        ending = {
            (a, b): sum(n for (c, d), n in ending.items() if c < a and d < b) for a, b in pairs
        }
    return total


def listed(graph: FactorGraph) -> int:
    """The number of configurations that all pattern factors of a graph allow."""
    total = 0
    for _, factors in graph.factors:
        if not isinstance(factors, Pattern):
            raise ValueError(f"{type(factors).__name__} factors are not counted here")
        sizes = factors.members.lengths.reshape(len(factors), -1).astype(object)
        for pattern in range(len(factors.patterns)):
            total += int(sizes[:, factors.patterns.members[pattern]].prod(1).sum())
    return total


def _solved(graph: FactorGraph, name: str, values: np.ndarray, others: int) -> tuple[float, float]:
    evidence = {name: np.append(values, np.zeros(others))}
    start = time.perf_counter()
    solve(graph, evidence)
    first = time.perf_counter() - start
    start = time.perf_counter()
    found = solve(graph, evidence)
    return min(first, time.perf_counter() - start), found.score


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=16)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    print("segments  lines  without: entries   seconds | with: configurations   edges   seconds")
    for rows in [*range(2, min(options.rows, 12) + 1, 2), *range(16, options.rows + 1, 8)]:
        lines = rows // 2
        model, values = two_lines(rows, lines), rng.logistic(size=2 * rows)
        entries, spent, score = count_sets(rows, lines), "-", None
        if entries <= MOST:
            assert len(line_sets(rows, lines)) == entries
            seconds, score = _solved(two_lines_table(rows, lines), "segment", values, 0)
            spent = f"{seconds:.4f}"
        ours, best = _solved(model.graph, "part", values, lines)
        assert score is None or abs(best - score) < 1e-4, (best, score)
        print(
            f"{2 * rows:8} {lines:6} {entries:17,} {spent:>9} | {listed(model.graph):20,} "
            f"{model.graph.edges:7,} {ours:9.4f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
