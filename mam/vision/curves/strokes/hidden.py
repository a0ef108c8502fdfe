"""Strokes that something covers: only the point where their contour ends is known.

A marker drawn over the end of a contour hides its last stroke. The stroke starts at the marker, in
a direction that is unknown, or only guessed from what sticks out of the marker: every link that it
may have gets the potential of its best direction.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Float

from mam.vision.curves.chain_model import Decided, Links
from mam.vision.curves.chains import group_numbers
from mam.vision.curves.strokes.continuation import SmoothContinuation
from mam.vision.curves.strokes.poses import Poses, nearby_others
from mam.vision.curves.strokes.stroke_pairs import pairs_of
from mam.vision.images.discs import DIRECTIONS, Hidden, angles, ways

# From the point where a covered stroke starts to its middle, in lengths of a stroke. Less than
# half: blur makes strokes look longer (tuned on 3,000 training images).
_TO_MIDDLE = 0.47
# Log odds of a curve of e times as many strokes to be the marked one (tuned on the same images: 20
# errors without, 16, 12 and 14 with 1, 3 and 4).
_LONGER = 3.0


def add_hidden(
    poses: Poses,
    links: Links,
    hidden: Sequence[Hidden],
    continuation: SmoothContinuation,
    solved: Callable[[Poses, Links], Decided],
) -> tuple[Poses, Links]:
    """Return the poses with hidden strokes of no length behind them, and all links.

    ``hidden`` is listed by image, and poses are sorted by it; a hidden stroke is as long as most
    others of its image. What is marked is a curve rather than a stray stroke: ``solved`` says what
    the strokes that are seen form, where hidden ones may belong to it.
    """
    several, more = _hidden_links(poses, hidden, continuation)
    seen = more.stroke[:, 0]
    whole = group_numbers(links.stroke, np.ones(len(links), bool), len(poses))
    near = np.isin(whole, whole[seen])
    own = links.take(near[links.stroke[:, 0]])
    group = group_numbers(own.stroke, solved(poses, own).on, len(poses))
    size = np.bincount(group)[group]
    more = replace(more, score=more.score + _LONGER * np.log(size[seen]))
    return several, Links.joined([links, more])


def _hidden_links(
    poses: Poses, hidden: Sequence[Hidden], continuation: SmoothContinuation
) -> tuple[Poses, Links]:
    """All poses, and the links of the hidden ones, of which the seen one comes first."""
    image = np.repeat(np.arange(len(hidden)), [len(some.points) for some in hidden])
    at = np.concatenate([np.zeros((0, 2)), *(some.points for some in hidden)])
    preference = np.concatenate([np.zeros(0), *(some.directions.ravel() for some in hidden)])
    reach = _TO_MIDDLE * _usual_lengths(poses, len(hidden))[image]
    turned = _poses(
        np.repeat(image, DIRECTIONS),
        (at[:, None] + reach[:, None, None] * ways()).reshape(-1, 2),
        np.tile(angles(), len(at)),
        np.repeat(2 * reach, DIRECTIONS),
    )
    together = Poses.joined([poses, turned])
    count = len(poses)
    found = nearby_others(poses, turned, continuation.reach) + np.array([0, count])
    pairs = pairs_of(together, found)
    # The stroke is entered at its far end, which its direction points to.
    pairs = pairs.take(pairs.side[:, 1] == 1)
    score = continuation.log_odds(pairs) + preference[pairs.pose[:, 1] - count]
    real, marker = pairs.pose[:, 0], (pairs.pose[:, 1] - count) // DIRECTIONS
    order = np.lexsort((-score, pairs.side[:, 0], real, marker))
    names = np.stack([marker, real, pairs.side[:, 0]], 1)[order]
    first = np.concatenate([[True], (names[1:] != names[:-1]).any(1)])[: len(order)]
    best = order[first]
    links = Links(np.stack([real[best], count + marker[best]], 1), pairs.side[best], score[best])
    none = np.zeros(len(at))
    return Poses.joined([poses, _poses(image, at, none, none)]), links


def _usual_lengths(poses: Poses, images: int) -> Float[np.ndarray, " images"]:
    """The median length of the strokes of each image; 0 where there are none."""
    borders = np.searchsorted(poses.image, np.arange(1, images))
    own = np.split(poses.length, borders)
    return np.array([np.median(lengths) if len(lengths) else 0.0 for lengths in own])


def _poses(image: np.ndarray, middle: np.ndarray, angle: np.ndarray, length: np.ndarray) -> Poses:
    """Strokes that no part was placed for: their type is -1."""
    none = np.full(len(image), -1)
    return Poses(image, middle, angle, length, none, np.rint(middle).astype(int))
