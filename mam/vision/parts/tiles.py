"""Images as square tiles of few sizes: pictures of all sizes are pruned by the same programs.

That is for accelerators; a host without one, or with few images, needs neither tiles nor programs.

Tiles overlap. What is found in one depends on the pixels up to a rim away, so that each tile
answers for the places that are further than that from its borders, or at a border of the image.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import jax
import numpy as np
from jaxtyping import Int, Int8

from mam.core.devices import by_device
from mam.core.growing import GrowingSizes
from mam.vision.parts.candidates import PartCandidates, prune
from mam.vision.parts.host_pruning import prune_on_host
from mam.vision.parts.masks import Parts
from mam.vision.parts.window_words import LARGEST_SIDE

# px; images up to the first are one small tile.
_SIDES = (128, 320)
_SMALL = 8  # px of a part: its window is one word on the host


def tiles_at_once() -> int:
    """Tiles a device works on: an accelerator wants many, a core works best in its cache."""
    return by_device(1, 64)


def on_host(parts: Parts, pruning: str, many: bool = True) -> bool:
    """Whether numpy lists candidates, without tiles and with nothing to compile.

    It takes a quarter of the time of programs on a core, but for safe pruning, which keeps too
    many. An accelerator is quicker, yet for small parts and not ``many`` images not before its
    programs are compiled.
    """
    return (
        by_device(True, not many and parts.side <= _SMALL)
        and pruning != "safe"
        and parts.side <= LARGEST_SIDE
    )


def list_candidates(
    states: Sequence[Int8[np.ndarray, "_ _"]],
    parts: Parts,
    pruning: str,
    sizes: GrowingSizes,
    many: bool = True,
) -> PartCandidates:
    """List the placements that may be ON in a best explanation of each image.

    ``states`` are 1 (ON), -1 (OFF) or 0 (unknown); a part is placed by its middle. The list is
    sorted by image, row, column and type. It does not depend on whether there are ``many`` images.
    """
    if on_host(parts, pruning, many):
        return prune_on_host(states, parts, pruning)
    rim = parts.side - 1 + parts.radius  # of what dominates a placement, and of its own pixels
    listed = [
        _listed(batch, parts, pruning, sizes)
        for side in sorted({_side_for(state.shape, rim) for state in states})
        for batch in _batches(states, side, rim)
    ]
    fields = [np.concatenate([one[i] for one in listed] or [np.zeros(0, int)]) for i in range(4)]
    order = np.lexsort(fields[::-1])
    return PartCandidates(*(values[order] for values in fields))


@dataclass(frozen=True, eq=False)
class _Batch:
    """Some tiles; the last ones may be blank."""

    image: Int[np.ndarray, " tiles"]
    corner: Int[np.ndarray, "tiles 2"]
    own: Int[np.ndarray, "tiles 2 2"]  # the places it answers for: first row and column, last + 1
    states: Int8[np.ndarray, "size side side"]
    sizes: Int[np.ndarray, "size 2"]  # rows and columns that are in the image


def _side_for(shape: tuple[int, ...], rim: int) -> int:
    """The side of the tiles of an image."""
    small, large = _SIDES
    if max(shape) <= small:
        return small
    # Parts as large as that are rare: tiles that are mostly rim would take too long.
    return large if large >= 6 * rim else -(-6 * rim // large) * large


def _batches(states: Sequence[np.ndarray], side: int, rim: int) -> Iterator[_Batch]:
    """The tiles with a given side."""
    size = tiles_at_once()
    tiles = [
        (image, row, column)
        for image, state in enumerate(states)
        if _side_for(state.shape, rim) == side
        for row in _cuts(state.shape[0], side, rim)
        for column in _cuts(state.shape[1], side, rim)
    ]
    for start in range(0, len(tiles), size):
        some = tiles[start : start + size]
        canvas, sizes = np.zeros((size, side, side), np.int8), np.zeros((size, 2), np.int32)
        for place, (image, (top, *_), (left, *_)) in enumerate(some):
            pixels = states[image][top : top + side, left : left + side]
            canvas[place, : pixels.shape[0], : pixels.shape[1]] = pixels
            sizes[place] = pixels.shape
        image = np.array([image for image, _, _ in some])
        cuts = np.array([both for _, *both in some])  # (tiles, 2, corner and own places)
        yield _Batch(image, cuts[:, :, 0], np.moveaxis(cuts[:, :, 1:], 2, 1), canvas, sizes)


def _cuts(length: int, side: int, rim: int) -> list[tuple[int, int, int]]:
    """Where tiles begin along an axis, and the places that each answers for.

    >>> _cuts(100, 128, 20), _cuts(200, 128, 20)
    ([(0, 0, 100)], [(0, 0, 108), (72, 108, 200)])
    """
    count = 1 + max(0, -(-(length - side) // (side - 2 * rim)))
    first = [min(k * (side - 2 * rim), max(length - side, 0)) for k in range(count)]
    ends = [at + side - rim for at in first[:-1]]
    return list(zip(first, [0, *ends], [*ends, length], strict=True))


def _listed(
    batch: _Batch, parts: Parts, pruning: str, sizes: GrowingSizes
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Image, row, column and type of the candidates that the tiles of a batch answer for."""
    pruned = prune(batch.states, batch.sizes, parts, pruning, sizes)
    found, kept = jax.device_get(pruned)
    which = np.flatnonzero(kept)
    tile, type_ = found.image[which], found.type[which]
    place = np.stack([found.row[which], found.column[which]], 1) + batch.corner[tile]
    mine = ((place >= batch.own[tile, 0]) & (place < batch.own[tile, 1])).all(1)
    row, column = place[mine].T
    return batch.image[tile[mine]], row, column, type_[mine]
