r"""Dots: pieces too short to have a direction. A model says which way each points.

A dot i has links to the dots and the free ends of strands around it, at :math:`v_j` from it, of
which two may be ON, or one where a dotted line ends. A picture scores

.. math::
    \sum_\text{links} \Bigl(2 - \frac{|v|}{d}\Bigr)
    - \sum_\text{dots} \begin{cases}
        0 & \text{none} \\
        \tau & \text{one} \\
        b \log (1 + (\phi / \phi_0)^2) + \log^2 (|v_j| / |v_k|) & \text{j and k}
    \end{cases}

where :math:`d` is the spacing of dots around, and :math:`\phi` the turn from :math:`-v_j` to
:math:`v_k`. The two that are ON give a dot its direction, and it becomes a strand like others; one
without any is a speck.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.spatial import KDTree

from mam.factors import Table
from mam.graph import FactorGraph, GraphBuilder
from mam.infer import solve
from mam.vision.curves.strands.skeleton_cut import means_of
from mam.vision.curves.strands.skeleton_paths import components
from mam.vision.curves.strands.strand_ends import find_ends
from mam.vision.curves.strands.strands import Strands
from mam.vision.curves.strands.width import Relief
from mam.vision.images.thin_masks import grown, places

_FEW = 6  # pieces, dots among them, that make a picture one of broken lines
_MANY = 3000  # dots of a picture that is noise
_LEAST = 2  # px of a dot
_NEAR = 2.6  # spacings that a link may be long
_REACH = (10.0, 10.0)  # widths, and px on top
_DEGREE = 7  # links of a dot
_BETWEEN = 1.15  # times its length: a link with a detour this short over a third has it between
_TURN = 1.2  # radians that a line turns at a dot, at most
_BEND, _LEVEL = 0.8, 0.35  # b and phi_0
_END = 1.0  # tau


class Dots(NamedTuple):
    """Where dots are, and how large."""

    place: Float[np.ndarray, "dots 2"]
    radius: Float[np.ndarray, " dots"]


def find_dots(
    mask: Bool[np.ndarray, "rows cols"], ground: Relief, short: Strands, strands: Strands
) -> Dots:
    """The pieces of a mask that are too short for strands; none where there are few, or specks.

    ``short`` are those that were measured; smaller ones were taken for specks.
    """
    middle = [means_of(axis, short.strand, len(short)) for axis in short.points.T]
    place, radius = np.stack(middle, 1), short.width / 2
    apart = mask & (ground.radius == 0) if ground.scale == 1 else mask[:0]
    if apart.any():
        pixels = places(apart & ~grown(ground.radius > 0))
        number = components(pixels)[1]
        size = np.bincount(number)
        # Single pixels in numbers are noise, and so are their neighbours.
        if (size >= _LEAST).sum() > (size < _LEAST).sum():
            kept = size >= _LEAST
            middle = [means_of(axis, number, len(size)) for axis in pixels.T]
            place = np.concatenate([place, np.stack(middle, 1)[kept]])
            radius = np.concatenate([radius, np.sqrt(size[kept] / np.pi)])
    pieces = len(place) + int((strands.node < 0).all(1).sum())
    enough = pieces >= _FEW and len(place) <= _MANY
    return Dots(place, radius) if enough else Dots(np.zeros((0, 2)), np.zeros(0))


class DotLinks(NamedTuple):
    """Pairs of sites: dots first, then ends of strands."""

    site: Int[np.ndarray, "links 2"]
    way: Float[np.ndarray, "links 2"]  # from the first to the second
    score: Float[np.ndarray, " links"]


def directed(dots: Dots, strands: Strands) -> tuple[Strands, str | None]:
    """The dots of lines as strands, each along its line, and how these are known to be the best."""
    links = find_dot_links(dots, strands)
    on, proof = np.zeros(0, bool), "exact"
    if len(links.site):
        graph = dot_graph(links, len(dots.place))
        found = solve(graph, {"link": np.stack([np.zeros(len(links.score)), links.score], 1)})
        on, proof = found["link"] == 1, found.proof
    axis = np.zeros((len(dots.place), 2))
    for side, sign in ((0, 1.0), (1, -1.0)):
        site = links.site[on, side]
        unit = sign * links.way[on] / np.linalg.norm(links.way[on], axis=1)[:, None]
        mine = site < len(axis)
        for own, way in zip(site[mine].tolist(), unit[mine], strict=True):
            # Both links of a dot lead away from it: one of them is turned round.
            axis[own] += -way if axis[own] @ way < 0 else way
    return _as_strands(dots, axis), proof


def _as_strands(dots: Dots, axis: Float[np.ndarray, "dots 2"]) -> Strands:
    """A strand of three points along each dot that has an axis."""
    size = np.linalg.norm(axis, axis=1)
    kept = size > 0
    place, radius, unit = dots.place[kept], dots.radius[kept], axis[kept] / size[kept][:, None]
    count, step = len(place), np.array([-0.5, 0.0, 0.5])
    points = place[:, None] + (step * radius[:, None])[..., None] * unit[:, None]
    return Strands(
        points=points.reshape(-1, 2),
        strand=np.repeat(np.arange(count), 3),
        along=((step + 0.5) * radius[:, None]).ravel(),
        radius=np.repeat(radius, 3),
        length=radius,
        width=2 * radius,
        node=np.full((count, 2), -1),
    )


def find_dot_links(dots: Dots, strands: Strands) -> DotLinks:
    """List which dots and ends of strands may follow each other."""
    ends = find_ends(strands)
    free = np.flatnonzero(ends.node < 0)
    count = len(dots.place)
    place = np.concatenate([dots.place, ends.place[free]])
    far, near = KDTree(place).query(dots.place, k=min(_DEGREE + 1, len(place)))
    far, near = np.asarray(far)[:, 1:], np.asarray(near)[:, 1:]
    # Half of a line's dots have their second neighbour on the other side.
    spacing = np.append(far[:, min(1, far.shape[1] - 1)], np.full(len(free), np.inf))
    most = np.minimum(_NEAR * spacing[:count], 2 * _REACH[0] * dots.radius + _REACH[1])
    one = np.repeat(np.arange(count), near.shape[1])
    other, length = near.ravel(), far.ravel()
    kept = length <= most[one]
    pair = np.unique(np.sort(np.stack([one, other], 1)[kept], axis=1), axis=0)
    pair = pair[~_has_between(place, pair)]
    way = place[pair[:, 1]] - place[pair[:, 0]]
    length = np.linalg.norm(way, axis=1)
    score = 2.0 - length / np.minimum(spacing[pair[:, 0]], spacing[pair[:, 1]])
    last = pair[:, 1] >= count
    leaving = ends.heading[free[pair[last, 1] - count]]
    cosine = -(leaving * way[last]).sum(1) / np.maximum(length[last], 1e-9)
    turn = np.arccos(np.clip(cosine, -1, 1))
    score[last] -= np.where(turn < _TURN, _bent(turn), np.inf)
    some = np.isfinite(score)
    return DotLinks(pair[some], way[some], score[some])


def _bent(turn: Float[np.ndarray, "*any"]) -> Float[np.ndarray, "*any"]:
    return _BEND * np.log1p((turn / _LEVEL) ** 2)


def _has_between(
    place: Float[np.ndarray, "sites 2"], pair: Int[np.ndarray, "pairs 2"]
) -> Bool[np.ndarray, " pairs"]:
    """Tell which pairs have a third site between them."""
    found = np.zeros(len(pair), bool)
    length = np.linalg.norm(place[pair[:, 0]] - place[pair[:, 1]], axis=1)
    near = KDTree(place).query_ball_point(place[pair].mean(1), _BETWEEN * length / 2)
    for k, sites in enumerate(near):
        third = np.setdiff1d(sites, pair[k])
        detour = sum(np.linalg.norm(place[third] - place[end], axis=1) for end in pair[k])
        found[k] = bool((detour < _BETWEEN * length[k]).any())
    return found


def dot_graph(links: DotLinks, count: int) -> FactorGraph:
    """A variable a link, a table a dot over its links; an end of a strand has one link at most."""
    builder = GraphBuilder()
    builder.variables("link", len(links.site))
    site = links.site.ravel()
    way = np.stack([links.way, -links.way], 1).reshape(-1, 2)
    order = np.argsort(site, kind="stable")
    sites, first, degree = np.unique(site[order], return_index=True, return_counts=True)
    for number in np.unique(degree).tolist():
        for dot in (True, False):
            own = (degree == number) & ((sites < count) == dot)
            if own.any():
                end = order[first[own][:, None] + np.arange(number)]
                table = _tables(way[end]) if dot else np.zeros((int(own.sum()), number + 1))
                cases = _cases(number)[: table.shape[1]]
                name = f"{'dot' if dot else 'end'} of {number}"
                builder.add(name, Table.of(end // 2, table, configurations=cases))
    return builder.build()


def _cases(number: int) -> Int[np.ndarray, "cases links"]:
    """None of some links, one of them, two of them."""
    one = np.eye(number, dtype=np.int64)
    first, second = np.triu_indices(number, 1)
    return np.concatenate([np.zeros((1, number), np.int64), one, one[first] + one[second]])


def _tables(way: Float[np.ndarray, "dots links 2"]) -> Float[np.ndarray, "dots cases"]:
    """What each case scores at dots with these links."""
    dots, number = way.shape[:2]
    length = np.maximum(np.linalg.norm(way, axis=2), 1e-9)
    unit = way / length[..., None]
    first, second = np.triu_indices(number, 1)
    cosine = -(unit[:, first] * unit[:, second]).sum(2)
    turn = np.arccos(np.clip(cosine, -1, 1))
    ratio = np.log(length[:, first] / length[:, second])
    both = np.where(turn < _TURN, -_bent(turn) - ratio**2, -np.inf)
    return np.concatenate([np.zeros((dots, 1)), np.full((dots, number), -_END), both], 1)
