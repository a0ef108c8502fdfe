"""Small graphs and banks for the tests."""

import numpy as np

from mam.vision.elastic.bank import Bank
from mam.vision.elastic.letters.letter_sets import DrawnCandidates
from mam.vision.elastic.springs import elastic_edges

PLUS = np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]], bool)


def random_vertices(rng: np.random.Generator, count: int, side: int) -> np.ndarray:
    cells = rng.choice(side * side, count, replace=False)
    return np.stack(np.divmod(np.sort(cells), side), 1)


def random_bank(seed: int, graphs: int = 5, vertices: int = 6, side: int = 20) -> Bank:
    rng = np.random.default_rng(seed)
    places = [random_vertices(rng, int(rng.integers(2, vertices + 1)), side) for _ in range(graphs)]
    categories = rng.integers(0, 2, graphs).tolist()
    return Bank.of(places, elastic_edges(places, longest=1000.0), PLUS, categories)


def set_score(candidates: DrawnCandidates, chosen: list[int]) -> float:
    """The score of a set: what each member adds to those before it."""
    added = (candidates.added(chosen[:n])[one] for n, one in enumerate(chosen))
    return float(sum(added))
