"""Masks from placed parts: their convex hull, or the learned outline that moves along with them."""

import numpy as np
from jaxtyping import Bool, Float, Int, Shaped
from scipy.spatial import ConvexHull, QhullError

from mam.data.raster import fill, pack

# As if parts had this share of their mean spread more, in all directions, that did not move: parts
# along a line do not let the outline collapse sideways.
_INERTIA = 0.1


def moved_along(
    outline: Float[np.ndarray, "points 2"],
    rest: Shaped[np.ndarray, "vertices 2"],
    placed: Shaped[np.ndarray, "vertices 2"],
) -> Float[np.ndarray, "points 2"]:
    """The outline under the affine map that brings vertices from their rest to their places."""
    centre, middle = rest.mean(0), placed.mean(0)
    x, y = rest - centre, placed - middle
    inertia = (_INERTIA * (x**2).sum() / 2 + 1e-6) * np.eye(2)
    turn = (y.T @ x + inertia) @ np.linalg.inv(x.T @ x + inertia)
    return (outline - centre) @ turn.T + middle


def growth(
    rest: Shaped[np.ndarray, "vertices 2"], placed: Shaped[np.ndarray, "vertices 2"]
) -> float:
    """How many times as far from their middle placed vertices lie as at rest; 1 for a single one.

    >>> square = np.array([[0, 0], [0, 2], [2, 0], [2, 2]])
    >>> growth(square, 3 * square + 5)
    3.0
    """
    spread = np.ptp(rest, axis=0).any()
    return float(np.sqrt(placed.var(0).sum() / rest.var(0).sum())) if spread else 1.0


def filled(
    polygon: Float[np.ndarray, "points 2"], shape: tuple[int, int]
) -> Bool[np.ndarray, "rows cols"]:
    """The pixels inside a polygon."""
    return fill(pack([polygon + 0.5]), shape)  # a pixel's middle is half a px from its corner


def hull(
    places: Int[np.ndarray, "vertices 2"], shape: tuple[int, int]
) -> Bool[np.ndarray, "rows cols"]:
    """The pixels of the convex hull of the parts.

    >>> int(hull(np.array([[1, 1], [1, 4], [4, 1], [4, 4], [2, 2]]), (6, 6)).sum())
    16
    """
    mask = np.zeros(shape, bool)
    try:
        corners = places[ConvexHull(places).vertices]
        mask = filled(corners.astype(float), shape)
    except (QhullError, ValueError):  # fewer than three parts, or all on a line: no inside
        pass
    inside = ((places >= 0) & (places < shape)).all(1)
    mask[tuple(places[inside].T)] = True
    return mask


def iou(one: Bool[np.ndarray, "rows cols"], other: Bool[np.ndarray, "rows cols"]) -> float:
    """The share of the union that both masks have; 0 for two empty ones.

    >>> round(iou(np.array([[True, True, False]]), np.array([[False, True, True]])), 3)
    0.333
    """
    union = int((one | other).sum())
    return int((one & other).sum()) / union if union else 0.0
