r"""The paper's continuation: which parts, at which offset, were seen to follow each other.

A co-occurrence :math:`\{(t_1, t_2, \Delta r, \Delta c), (t_2, t_1, -\Delta r, -\Delta c)\}` is two
part types and their offset, whichever comes first. Those that were seen on contours may be ON, and
no others (paper, "Details for the pathfinder challenge"). The side of a part to which one belongs
is that of the contact pixel: the pixel of the part nearest to the other part. The contact pixels of
a type form two clusters, its two sides.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from mam.core.schema import ArraySpec
from mam.vision.curves.chain_model import Links
from mam.vision.curves.strokes.poses import Poses, nearby
from mam.vision.parts.masks import Parts

LEAST = 1.7e-7  # share of all counts (paper, "Learning" of the pathfinder challenge)
_HALF = 1 << 15  # offsets are numbers of 16 bits
_MOST_DISTANCES = 1 << 22  # between pixels of parts that are held at once
_FARTHEST = 1000  # px of an offset in a file: all parts so near each other are paired
ARRAYS = {
    "key": ArraySpec(("int64",), ("kinds",), 0, 2.0**63, rising=True, optional=True),
    "count": ArraySpec(("int64",), ("kinds",), 1, 2.0**63, optional=True),
    "side": ArraySpec(("int64",), ("kinds", 2), 0, 1, optional=True),
}


@dataclass(frozen=True, eq=False)
class CoOccurrences:
    """The co-occurrences that may be ON."""

    key: Int[np.ndarray, " kinds"]  # types and offset as one number, the smaller of two; sorted
    count: Int[np.ndarray, " kinds"]  # how often each was seen
    side: Int[np.ndarray, "kinds 2"]  # of the part that the key names first, and of the other

    @property
    def reach(self) -> float:
        """The longest offset, px."""
        return float(np.linalg.norm(_unpacked(self.key)[:, 2:], axis=1).max(initial=0.0))

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """What a file holds of it."""
        return {"key": self.key, "count": self.count, "side": self.side}

    def following(
        self, type_: int, side: int
    ) -> tuple[Int[np.ndarray, "some 3"], Int[np.ndarray, " some"]]:
        """What was seen on one side of a part: type, rows and columns to it; and how often."""
        one = _unpacked(self.key)
        other = np.stack([one[:, 1], one[:, 0], -one[:, 2], -one[:, 3]], 1)
        both, sides = np.concatenate([one, other]), self.side.T.ravel()
        mine = np.flatnonzero((both[:, 0] == type_) & (sides == side))
        count = np.concatenate([self.count, self.count])[mine]
        order = np.argsort(-count, kind="stable")
        return both[mine[order], 1:], count[order]

    def links(self, poses: Poses, bridging: float = 1.0) -> Links:
        """Return an attention variable for every two parts that were seen so; all score 0."""
        if bridging != 1:
            raise ValueError("counts of parts know no wider gaps: leave bridging at 1")
        # A little farther, for rounding: the key decides.
        pairs = nearby(poses, self.reach + 0.5, poses.place.astype(float))
        key, turned = _keys(poses, pairs)
        at = np.minimum(np.searchsorted(self.key, key), len(self.key) - 1)
        seen = np.flatnonzero(self.key[at] == key)
        side = self.side[at[seen]]
        side = np.where(turned[seen, None], side[:, ::-1], side)
        return Links(pairs[seen], side, np.zeros(len(seen)))


def learn_co_occurrences(
    poses: Poses, following: Int[np.ndarray, "pairs 2"], parts: Parts, least: float = LEAST
) -> CoOccurrences:
    """Count the parts that follow each other on contours; drop the rarest."""
    if not len(following):
        raise ValueError("no two strokes of the training images are neighbours on a contour")
    seen, counts = np.unique(_keys(poses, following)[0], return_counts=True)
    often = counts >= least * len(following)
    seen, counts = seen[often], counts[often]
    return CoOccurrences(seen, counts, _sides(_unpacked(seen), parts))


def _keys(
    poses: Poses, pairs: Int[np.ndarray, "pairs 2"]
) -> tuple[Int[np.ndarray, " pairs"], Bool[np.ndarray, " pairs"]]:
    """Number every pair, the same in either order; tell which have their second part first."""
    one, other = _packed(poses, pairs), _packed(poses, pairs[:, ::-1])
    return np.minimum(one, other), other < one


def _packed(poses: Poses, pairs: Int[np.ndarray, "pairs 2"]) -> Int[np.ndarray, " pairs"]:
    """Types and offset, each in 16 bits."""
    first, second = pairs.T
    down, right = (poses.place[second] - poses.place[first]).T + _HALF
    return (poses.type[first] << 48) | (poses.type[second] << 32) | (down << 16) | right


def _unpacked(key: Int[np.ndarray, " kinds"]) -> Int[np.ndarray, "kinds 4"]:
    """Both types, rows and columns from the one to the other."""
    fields = np.stack([key >> 48, key >> 32, key >> 16, key], 1) & 0xFFFF
    return fields - np.array([0, 0, _HALF, _HALF])


def check_keys(key: Int[np.ndarray, " kinds"], types: int) -> None:
    """Refuse keys that name no part, or an offset that no part ever has."""
    fields = _unpacked(key)
    least, most = np.array([0, 0, *[-_FARTHEST] * 2]), np.array([types - 1] * 2 + [_FARTHEST] * 2)
    wrong = np.flatnonzero(((fields < least) | (fields > most)).any(1))
    if len(wrong):
        one, other, down, right = fields[wrong[0]].tolist()
        raise ValueError(
            f"key[{wrong[0]}] is {key[wrong[0]]}, part {one} and {down}, {right} px off part "
            f"{other}; there are {types} parts, and offsets up to {_FARTHEST} px"
        )


def _sides(kinds: Int[np.ndarray, "kinds 4"], parts: Parts) -> Int[np.ndarray, "kinds 2"]:
    """The side of both parts, from where they are in contact."""
    turned = np.stack([kinds[:, 1], kinds[:, 0], -kinds[:, 2], -kinds[:, 3]], 1)
    both = np.concatenate([kinds, turned])
    pixel = contact_pixels(both, parts)
    side = np.zeros(len(both), np.int64)
    for type_ in range(len(parts)):
        mine = both[:, 0] == type_
        side[mine] = two_clusters(pixel[mine].astype(float))
    return side.reshape(2, -1).T


def contact_pixels(kinds: Int[np.ndarray, "kinds 4"], parts: Parts) -> Int[np.ndarray, "kinds 2"]:
    """Of the first part of every pair, the pixel nearest to any pixel of the second one.

    Of several, as where parts overlap, the one nearest to the middle of the second part.

    >>> bar = np.zeros((1, 5, 5), bool)
    >>> bar[0, 2] = True
    >>> contact_pixels(np.array([[0, 0, 0, 9], [0, 0, 1, -7]]), Parts(bar)).tolist()
    [[0, 2], [0, -2]]
    """
    most = int(parts.sizes.max())
    # Lists shorter than the longest repeat their last pixel, which changes no minimum.
    lists = np.stack([np.resize(np.argwhere(mask), (most, 2)) for mask in parts.masks])
    lists = lists - parts.radius
    middles = np.stack([np.argwhere(mask).mean(0) for mask in parts.masks]) - parts.radius
    found = np.zeros((len(kinds), 2), np.int64)
    step = max(_MOST_DISTANCES // most**2, 1)
    for start in range(0, len(kinds), step):
        some = kinds[start : start + step]
        own, others = lists[some[:, 0]], lists[some[:, 1]] + some[:, None, 2:]
        far = ((own[:, :, None] - others[:, None]) ** 2).sum(3).min(2)
        middle = middles[some[:, 1]] + some[:, 2:]
        inwards = ((own - middle[:, None]) ** 2).sum(2)
        # Squares of distances are whole numbers: below 1, the second rule decides among equals.
        nearest = (far + inwards / (1 + inwards.max(initial=0))).argmin(1)
        found[start : start + step] = own[np.arange(len(some)), nearest]
    return found


def two_clusters(points: Float[np.ndarray, "points 2"]) -> Int[np.ndarray, " points"]:
    """Part points by k-means with k = 2, from the two that are farthest apart.

    >>> two_clusters(np.array([[0.0, 0], [0, 1], [5, 0], [6, 0]])).tolist()
    [0, 0, 1, 1]
    """
    places, which = np.unique(points, axis=0, return_inverse=True)
    if len(places) < 2:
        return np.zeros(len(points), np.int64)
    apart = np.linalg.norm(places[:, None] - places, axis=2)
    centres = places[list(np.unravel_index(apart.argmax(), apart.shape))]
    weight = np.bincount(which.ravel())
    side = np.full(len(places), -1)
    while True:
        nearest = np.linalg.norm(places[:, None] - centres, axis=2).argmin(1)
        if (nearest == side).all():
            return nearest[which.ravel()]
        side = nearest
        centres = np.stack(
            [np.average(places[side == k], axis=0, weights=weight[side == k]) for k in (0, 1)]
        )
