"""Blobs sparsified as the paper does: placements of one part, chosen by max-product alone.

``greedy_cover`` explains a blob about as well in a fraction of the time.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Int

from mam.core.devices import by_device
from mam.infer.grid_unions import GridOptions, GridUnions, solve_grids
from mam.vision.images.thin_masks import box_of
from mam.vision.parts.masks import Noise

# Facts, "Pathfinder model"; the authors sparsified letters by the same program.
MESSAGES = GridOptions(iterations=300, damping=0.1, tolerance=1e-10)
# Most letters rest by then. The others are gathered and begun anew, by themselves.
_SOON = 30
# Cells of a batch, on a core and on an accelerator: messages of 6 and 100 MB. Those begun anew are
# few of a size; on an accelerator 25 MB of theirs are enough, and stay in its cache.
_CELLS = 1 << 15, 1 << 19
_LATE = 1 << 15, 1 << 17
_LEAST = 1 << 12  # cells of a canvas; their numbers are these times 1, 1.5, 2, 3, 4, 6, ...


class _Canvas(NamedTuple):
    """An image cut to its box, with a border in which nothing else is."""

    number: int  # of the image
    corner: Int[np.ndarray, "2"]  # of the canvas in the image, px
    states: Int[np.ndarray, "rows cols"]  # 1 ON, -1 OFF, 0 beyond the image
    cells: int  # of its row in a batch

    def placed(self, on: Bool[np.ndarray, " cells"]) -> Int[np.ndarray, "placements 2"]:
        """(row, column) in the image of what is ON."""
        found = np.flatnonzero(on[: self.states.size])
        return np.stack(np.divmod(found, self.states.shape[1]), 1) + self.corner


def message_cover(
    images: Sequence[Bool[np.ndarray, "_ _"]], mask: Bool[np.ndarray, "side side"], noise: Noise
) -> list[Int[np.ndarray, "placements 2"]]:
    """Place the part ``mask``: (row, column) of the middles of the placements in each image.

    >>> image = np.zeros((20, 30), bool)
    >>> image[7:12, 5:15] = True
    >>> message_cover([image], np.ones((5, 5), bool), Noise(pi01=0.45, pi10=0.05))[0].tolist()
    [[9, 7], [9, 12]]
    """
    found = [np.zeros((0, 2), np.int64)] * len(images)
    reach = len(mask) // 2
    canvases = [_cut(n, image, reach) for n, image in enumerate(images) if image.any()]
    for iterations, cells in ((_SOON, _CELLS), (MESSAGES.iterations, _LATE)):
        options, late = MESSAGES._replace(iterations=iterations), []
        for size, some in _batches(canvases, by_device(*cells)):
            answers = solve_grids(_grids(some, size, mask, noise), options)
            for canvas, on, rested in zip(some, answers.on, answers.rested, strict=False):
                found[canvas.number] = canvas.placed(on)
                if not rested:
                    late.append(canvas)
        canvases = late
    return found


def _cut(number: int, image: Bool[np.ndarray, "rows cols"], reach: int) -> _Canvas:
    """A placement that covers a pixel of the box lies within reach of it, and so do its pixels."""
    border = 2 * reach
    rows, cols = box_of(image)
    corner = np.array([rows.start, cols.start]) - border
    end = np.array([rows.stop, cols.stop]) + border
    first, last = np.maximum(corner, 0), np.minimum(end, image.shape)
    inside = np.where(image[first[0] : last[0], first[1] : last[1]], 1, -1).astype(np.int8)
    states = np.pad(inside, np.stack([first - corner, end - last], 1))
    return _Canvas(number, corner, states, _rounded(states.size))


def _rounded(cells: int) -> int:
    size = _LEAST
    while size < cells:
        size, half = 2 * size, size + size // 2
        if half >= cells:
            return half
    return size


def _batches(canvases: Sequence[_Canvas], most: int) -> Iterator[tuple[int, list[_Canvas]]]:
    """Canvases of equal numbers of cells, and how many of them fill a batch."""
    for cells in sorted({canvas.cells for canvas in canvases}):
        mine = [canvas for canvas in canvases if canvas.cells == cells]
        size = max(most // cells, 1)
        yield from ((size, mine[start : start + size]) for start in range(0, len(mine), size))


def _grids(canvases: Sequence[_Canvas], count: int, mask: np.ndarray, noise: Noise) -> GridUnions:
    """Canvases as a batch of so many, of which the last may be empty."""
    cells, reach = canvases[0].cells, len(mask) // 2
    weight = np.zeros((count, cells), np.float32)
    candidate = np.zeros((count, cells), bool)
    width = np.ones(count, np.int64)
    worth = np.array([0, noise.gain, -noise.loss], np.float32)
    for row, canvas in enumerate(canvases):
        states = canvas.states
        inner = np.zeros(states.shape, bool)
        inner[reach:-reach, reach:-reach] = states[reach:-reach, reach:-reach] != 0
        weight[row, : states.size] = worth[states.ravel()]
        candidate[row, : states.size] = inner.ravel()
        width[row] = states.shape[1]
    return GridUnions(weight, candidate, noise.prior, width, np.argwhere(mask) - reach)
