"""Where the nodes of a drawn graph stand."""

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import shortest_path

_CLOSEST = 0.62  # in edges of the graph: two nodes side by side do not touch
_STARTS = 6


def layout(nodes: int, links: np.ndarray, steps: int = 300) -> np.ndarray:
    """Place nodes so that distances on paper follow distances in the graph (stress descent).

    The best of a few seeded starts is turned so that it is wider than high.
    """
    if nodes == 0:
        return np.zeros((0, 2))
    wanted = _distances(nodes, np.reshape(links, (-1, 2)).astype(int))
    rng = np.random.default_rng(0)
    starts = _STARTS if nodes <= 100 else 1
    tries = [_descend(rng.normal(size=(nodes, 2)), wanted, steps) for _ in range(starts)]
    place = min(tries, key=lambda p: _stress(p, wanted))
    return _upright(_apart(place))


def widest_gap(directions: np.ndarray) -> tuple[float, float]:
    """Return the unit vector that points away from all directions as far as possible.

    >>> across, up = widest_gap(np.array([[-1.0, 1.0], [-1.0, -1.0]]))
    >>> round(across, 6), abs(round(up, 6))
    (1.0, 0.0)
    """
    if not len(directions):
        return 0.0, -1.0
    angles = np.sort(np.arctan2(directions[:, 1], directions[:, 0]))
    gaps = np.diff(np.append(angles, angles[0] + 2 * np.pi))
    # Of gaps that are about equally wide take the lowest: names are looked for below a node.
    middle = angles + gaps / 2
    best = int(np.argmax(gaps - 0.2 * np.sin(middle)))
    return float(np.cos(middle[best])), float(np.sin(middle[best]))


def _distances(nodes: int, links: np.ndarray) -> np.ndarray:
    table = coo_matrix((np.ones(len(links)), (links[:, 0], links[:, 1])), (nodes, nodes)).tocsr()
    wanted = shortest_path(table, directed=False, unweighted=True)
    apart = wanted[np.isfinite(wanted)].max(initial=1.0) + 1.5
    wanted[~np.isfinite(wanted)] = apart
    np.fill_diagonal(wanted, 1.0)
    return wanted


def _weights(wanted: np.ndarray) -> np.ndarray:
    weight = wanted**-2.0
    np.fill_diagonal(weight, 0.0)
    return weight


def _descend(place: np.ndarray, wanted: np.ndarray, steps: int) -> np.ndarray:
    weight = _weights(wanted)
    total = np.maximum(weight.sum(1), 1e-9)[:, None]
    for _ in range(steps):
        away = place[:, None] - place[None]
        distance = np.maximum(np.linalg.norm(away, axis=2), 1e-9)
        target = place[None] + away * (wanted / distance)[:, :, None]
        place = (weight[:, :, None] * target).sum(1) / total
    return place


def _stress(place: np.ndarray, wanted: np.ndarray) -> float:
    distance = np.linalg.norm(place[:, None] - place[None], axis=2)
    return float(np.sum(_weights(wanted) * (distance - wanted) ** 2))


def _apart(place: np.ndarray, steps: int = 100) -> np.ndarray:
    """Push nodes that would overlap away from each other."""
    for _ in range(steps):
        away = place[:, None] - place[None]
        distance = np.maximum(np.linalg.norm(away, axis=2), 1e-9)
        missing = np.maximum(_CLOSEST - distance, 0.0)
        np.fill_diagonal(missing, 0.0)
        place = place + 0.5 * np.sum(away * (missing / distance)[:, :, None], axis=1)
    return place


def _upright(place: np.ndarray) -> np.ndarray:
    """Turn the longest axis flat, the first node to the left and below."""
    centred = place - place.mean(0)
    turned = centred @ np.linalg.svd(centred, full_matrices=False)[2].T if len(place) > 1 else place
    turned = np.pad(turned, ((0, 0), (0, 2 - turned.shape[1])))
    return turned * np.where(turned[0] > 0, -1.0, 1.0)
