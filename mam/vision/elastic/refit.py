"""Better references for another round: the affine map that the places of the vertices suggest.

A graph that is too small or turned stretches until its edges hold it back. Moving its references
along the affine part of the stretch, with the radii of the new distances, lets the next round go on
from there; what is not affine stays a deformation.
"""

import numpy as np
from jaxtyping import Float

from mam.vision.elastic.match import Matched, PlacedGraphs
from mam.vision.elastic.springs import wished_radii

# px: as if every vertex had this much spread that did not move. Keeps straight strokes from
# collapsing sideways.
_INERTIA = 4.0


def refitted(
    graphs: PlacedGraphs,
    matched: Matched,
    weight: Float[np.ndarray, "candidates vertices"],
    before: int,
    window: int,
) -> PlacedGraphs:
    """Move the references of all candidates, and centre windows of another size on them."""
    reference = graphs.reference + before // 2
    centre, middle = (_mean(places, weight) for places in (reference, matched.place))
    x, y = reference - centre, matched.place - middle
    total = weight.sum(1)[:, None, None]
    inertia = _INERTIA**2 * total * np.eye(2)
    maps = (_moments(y, x, weight) + inertia) @ np.linalg.inv(_moments(x, x, weight) + inertia)
    moved = np.rint(x @ maps.swapaxes(1, 2) + middle).astype(np.int32)
    radius = np.rint(wished_radii(moved, graphs.ends)).astype(np.int32)
    return graphs._replace(reference=moved - np.int32(window // 2), radius=radius)


def _mean(places: np.ndarray, weight: np.ndarray) -> np.ndarray:
    return (places * weight[..., None]).sum(1, keepdims=True) / weight.sum(1)[:, None, None]


def _moments(y: np.ndarray, x: np.ndarray, weight: np.ndarray) -> np.ndarray:
    return (y * weight[..., None]).swapaxes(1, 2) @ x
