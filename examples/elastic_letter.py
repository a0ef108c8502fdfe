"""An elastic letter: find a deformed L.

The letter has four vertices. Each may shift a little from its reference place, and the shifts of
joined vertices differ by at most one pixel in each axis. The fast form has one variable a vertex
and a ``Window`` an edge. The literal form is the Markov Attention Model itself: a part for each
vertex at each place, and an attention variable for each pair of places. Both agree.
"""

import numpy as np

from mam.infer import solve
from mam.models.examples import ElasticGraph

REFERENCE = np.array([[1, 1], [4, 1], [7, 1], [7, 4]])
EDGES = np.array([[0, 1], [1, 2], [2, 3]])
GRID = 3, 3
SHIFTS = np.stack(np.divmod(np.arange(9), 3), 1) - 1  # of each state of a vertex
ABSENT = -50.0  # potential of a part that is not there


def letter(seed: int = 0) -> ElasticGraph:
    """Return the letter with noisy evidence for where each vertex went."""
    truth = np.array([[-1, 1], [0, 1], [1, 0], [0, 0]])
    scores = np.random.default_rng(seed).normal(0, 0.5, (4, 3, 3))
    scores[np.arange(4), *(truth + 1).T] += 2.0
    scores[3, 2, 2] += 3.0  # clutter: a strong edge where the letter cannot reach
    scores[1, 0, 2] += 1.0
    return ElasticGraph(scores, EDGES, np.array([1, 1, 0]))


def picture(places: np.ndarray) -> str:
    canvas = np.full((10, 7), ".")
    canvas[tuple(places.T)] = list("0123")
    return "\n".join("  " + " ".join(row) for row in canvas)


def main() -> None:
    elastic = letter()
    graph, evidence = elastic.windowed()
    solution = solve(graph, evidence, bound=True)
    shifts = SHIFTS[solution["shift"]]
    print("the letter at rest, and where it is found:")
    print(f"{picture(REFERENCE)}\n\n{picture(REFERENCE + shifts)}")
    print(solution.explain())

    model, parts = elastic.literal(absent=ABSENT)
    literal = solve(model.graph, parts, iterations=500)
    # The parts that are not there: all but one of the nine places of each vertex.
    constant = ABSENT * (4 * 9 - 4)
    places = literal["part"][:-1].reshape(4, 9).argmax(1)
    same = "the same" if np.array_equal(places, solution["shift"]) else "another"
    print(f"as parts and attention variables ({len(model.graph.states)} of them):")
    print(f"score {literal.score - constant:.6g}, {same} placement")


if __name__ == "__main__":
    main()
