"""Two lines: which segments belong together?

Eight segments stand in four rows and two columns. A line joins one segment of each column, at most
one row apart, and there are at most two lines. Segments and lines are parts; every pair that may
interact has an attention variable. The answer to "which belong together" is read off them.
"""

import numpy as np

from mam.factors import PatternSet
from mam.infer import enumerate_exactly, solve
from mam.models import MarkovAttentionModel, PartKind, part_attention_model

ROWS, LINES = 4, 2
SEGMENTS = 2 * ROWS  # segment 2 * row + column


def lateral() -> list[list[int]]:
    """Return the pairs of segments that may continue each other."""
    return [
        [2 * left, 2 * right + 1]
        for left in range(ROWS)
        for right in range(ROWS)
        if abs(left - right) <= 1
    ]


def two_lines() -> MarkovAttentionModel:
    # A line has a group of attention variables for each column; a segment has one for lines
    # (group 0) and one for its continuations (group 1).
    top_down = [[SEGMENTS + line, s] for line in range(LINES) for s in range(SEGMENTS)]
    groups = [[s % 2, 0] for _, s in top_down] + [[1, 1] for _ in lateral()]
    # A part that is there has exactly one interaction in both of its groups.
    all_or_none = PartKind(PatternSet.of([[0, 0], [1, 1]]))
    edges = top_down + lateral()
    return part_attention_model(edges, groups, all_or_none, vertices=SEGMENTS + LINES)


def main() -> None:
    model = two_lines()
    exact = enumerate_exactly(model.graph)
    states = 2 ** len(model.graph.states)
    print(f"{len(exact.scores)} of {states} joint states are possible, all equally likely")

    seen = np.zeros((ROWS, 2), bool)
    seen[[0, 1, 2, 3], [0, 1, 0, 1]] = True
    part = np.concatenate([np.where(seen, np.inf, -np.inf).ravel(), np.zeros(LINES)])
    solution = solve(model.graph, {"part": part}, bound=True, restarts=4)
    print("seen:")
    for row in seen:
        print("  " + " ".join("--" if there else ". " for there in row))
    continues = solution["attention"][-len(lateral()) :]
    for on, (left, right) in zip(continues, lateral(), strict=True):
        if on:
            print(f"row {left // 2} on the left continues in row {right // 2} on the right")
    print(solution.explain())


if __name__ == "__main__":
    main()
