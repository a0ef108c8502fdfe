"""What is told of an object that was found, whatever found it: where it is, by box and outline."""

from abc import ABC, abstractmethod

import numpy as np
from jaxtyping import Bool, Float, Int, Shaped
from skimage import measure

from mam.core.svg import as_svg
from mam.infer.certificate import Certificate
from mam.vision.curves.line_forms import lengths_along, points_at
from mam.vision.images.thin_masks import box_of

POINTS = 64  # of an outline


class FoundGraph(ABC):
    """An elastic graph that was found in a picture: what matches and detections share.

    ``bound``, ``gap`` and ``proof`` are of the places of its parts, given the graph: in the model
    of ``certificate`` (``mam.vision.elastic.search.certify``), whose own score is the evidence
    under the parts. They say nothing of the choice of the graph.
    """

    score: float  # of the search, by which graphs are chosen
    vertices: Int[np.ndarray, "vertices 2"]  # (row, column) of each part
    edges: Int[np.ndarray, "edges 2"]
    certificate: Certificate

    @property
    def bound(self) -> float | None:
        """What the evidence under the parts exceeds in no other places; None: not known."""
        return self.certificate.bound

    @property
    def gap(self) -> float | None:
        """Bound less the score of these places: 0 proves them the best."""
        return self.certificate.gap

    @property
    def proof(self) -> str | None:
        """How the places are known to be the best: "exact", "bound", or None."""
        return self.certificate.proof

    @property
    @abstractmethod
    def area(self) -> Bool[np.ndarray, "rows cols"]:
        """The pixels of the picture that are its own."""

    @property
    def box(self) -> tuple[int, int, int, int] | None:
        """First row and column, last row and column of its pixels; None if it has none."""
        return corners_of(self.area)

    @property
    def outline(self) -> Float[np.ndarray, "points 2"]:
        """Points along the border of its pixels; none if it has none."""
        return outline_of(self.area) if self.area.any() else np.zeros((0, 2))

    def _repr_svg_(self) -> str:
        """What a notebook shows: the edges of the graph where it was found."""
        rows, cols = self.area.shape
        return as_svg((rows, cols), list(self.vertices[self.edges].astype(float)), repr(self))


def in_own_pixels(
    points: Shaped[np.ndarray, "points 2"], scale: float
) -> Float[np.ndarray, "points 2"]:
    """Points of a picture that was searched at another scale, in its own pixels.

    >>> in_own_pixels(np.array([[0, 3]]), 2.0).tolist()
    [[-0.25, 1.25]]
    """
    return (points + 0.5) / scale - 0.5


def corners_of(mask: Bool[np.ndarray, "rows cols"]) -> tuple[int, int, int, int] | None:
    """First row and column, last row and column of a mask; None if it is empty.

    >>> corners_of(np.array([[0, 0, 0], [0, 1, 1]], bool))
    (1, 1, 1, 2)
    """
    rows, cols = box_of(mask)
    return (rows.start, cols.start, rows.stop - 1, cols.stop - 1) if rows.stop else None


def outline_of(mask: Bool[np.ndarray, "rows cols"]) -> Float[np.ndarray, "points 2"]:
    """The outline of the largest piece of a mask, as points at equal distances along it.

    >>> square = np.zeros((20, 20), bool)
    >>> square[5:15, 5:15] = True
    >>> line = outline_of(square)
    >>> len(line), line.min(0).tolist(), line.max(0).tolist()
    (64, [4.5, 4.5], [14.5, 14.5])
    """
    pieces = np.asarray(measure.label(mask, connectivity=1))
    largest = pieces == 1 + np.bincount(pieces.ravel())[1:].argmax()
    line = max(measure.find_contours(np.pad(largest, 1).astype(float), 0.5), key=len) - 1
    along = lengths_along(line)
    return points_at(line, np.linspace(0.0, along[-1], POINTS, endpoint=False), along)
