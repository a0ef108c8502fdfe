"""Skeletons cut at their branchings: strands, and the nodes at which they meet.

Around every branching point the largest disc inside the mask belongs to no single curve. What of
the skeleton lies in such discs are *nodes*, each a connected set of pixels; what is left are
strands.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int, Shaped

from mam.vision.curves.strands.skeleton_paths import branching, components, in_order, outside_discs
from mam.vision.curves.strands.width import Relief, skeleton_of
from mam.vision.images.thin_masks import places

_CUT = 0.9  # radius of the disc cut out at a branching, in radii of the disc inside the mask
_TAPER = 0.6  # a tip is where the mask is thinner than this part of the strand
_TIP = 1.0  # widths of a strand that a tip may take
_SHORTEST = 0.5  # widths; shorter strands are spurs, or part of a node
_LEAST = 3.0  # px, the same for thin curves


@dataclass(frozen=True, eq=False)
class SkeletonCut:
    """Pixels of strands in order, and the pixels of nodes between them."""

    pixels: Int[np.ndarray, "points 2"]
    path: Int[np.ndarray, " points"]  # number of the strand
    along: Float[np.ndarray, " points"]  # px of the mask, arc length
    radius: Float[np.ndarray, " points"]
    length: Float[np.ndarray, " strands"]
    width: Float[np.ndarray, " strands"]
    node: Int[np.ndarray, "strands 2"]  # at either end, -1 for none
    short: Bool[np.ndarray, " strands"]  # too short to have a direction
    inside: Int[np.ndarray, "rows cols"]  # node of each pixel, from 1; 0 for none


def cut_at_nodes(skeleton: Bool[np.ndarray, "rows cols"], relief: Relief) -> SkeletonCut:
    """Cut a skeleton."""
    joints = places(branching(skeleton))
    discs = _CUT * (relief.radius[tuple(joints.T)] / relief.scale + 0.5)
    pixels = places(skeleton)
    outside = outside_discs(pixels, joints, discs)
    inside = _numbered(pixels[~outside], skeleton.shape)
    pixels, path, along = in_order(pixels[outside])
    along = along * relief.scale
    radius = relief.radius[tuple(pixels.T)]
    count = int(path.max(initial=-1)) + 1
    first, last = borders(path, count)
    beside = _largest_around(inside, pixels[np.stack([first, last], 1)])
    kept = ~_tips(path, along, radius, relief)
    pixels, path, along, radius = pixels[kept], path[kept], along[kept], radius[kept]
    first, last = borders(path, count)
    along = along - along[first][path]
    length = along[last]
    width = means_of(2 * radius, path, count)
    widest = _disc_radii(inside, relief)[beside].max(1, initial=0.0)
    neck = (length < widest) & (width < widest / 2)
    short = (length < np.maximum(_SHORTEST * width, _LEAST * relief.scale)) | neck
    return SkeletonCut(pixels, path, along, radius, length, width, beside - 1, short, inside)


def borders(
    path: Int[np.ndarray, " points"], count: int
) -> tuple[Int[np.ndarray, " paths"], Int[np.ndarray, " paths"]]:
    """The first and the last point of every path."""
    numbers = np.arange(count)
    return np.searchsorted(path, numbers), np.searchsorted(path, numbers, side="right") - 1


def means_of(
    values: Shaped[np.ndarray, " points"], path: Int[np.ndarray, " points"], count: int
) -> Float[np.ndarray, " paths"]:
    """The mean of the values of each path, 0 of one without any."""
    return np.bincount(path, values, count) / np.maximum(np.bincount(path, minlength=count), 1)


def _tips(
    path: Int[np.ndarray, " points"],
    along: Float[np.ndarray, " points"],
    radius: Float[np.ndarray, " points"],
    relief: Relief,
) -> Bool[np.ndarray, " points"]:
    """Tell where, at either end of a strand, the mask tapers: tips point anywhere."""
    if len(path) == 0:
        return np.zeros(0, bool)
    radius = radius + 0.5 * relief.scale
    counts = np.bincount(path)
    last = np.cumsum(counts) - 1
    usual = radius[np.lexsort((radius, path))][last + 1 - counts + 3 * counts // 4]
    # Radii are whole pixels on thin curves: one less is no tip.
    thick = radius >= np.minimum(_TAPER * usual, usual - relief.scale)[path]
    far = np.where(thick, along, np.inf)
    begins = np.full(len(counts), np.inf)
    np.minimum.at(begins, path, far)
    ends = np.full(len(counts), -np.inf)
    np.maximum.at(ends, path, np.where(thick, along, -np.inf))
    most = 2 * _TIP * usual
    length = along[last]
    begins = np.where(begins <= most, begins, 0.0)
    ends = np.where(length - ends <= most, ends, length)
    return (along < begins[path]) | (along > ends[path])


def _largest_around(
    image: Int[np.ndarray, "rows cols"], pixels: Int[np.ndarray, "strands 2 2"]
) -> Int[np.ndarray, "strands 2"]:
    """The greatest value at each pixel and the eight around it."""
    wide = np.pad(image, 1)
    steps = np.stack(np.meshgrid(range(3), range(3), indexing="ij"), -1).reshape(-1, 2)
    places = pixels[..., None, :] + steps
    return wide[places[..., 0], places[..., 1]].max(-1).astype(np.int64)


def _disc_radii(
    inside: Int[np.ndarray, "rows cols"], relief: Relief
) -> Float[np.ndarray, " nodes"]:
    """The greatest radius of each node, in px of the mask; 0 for none."""
    there = inside > 0
    found = np.zeros(int(inside.max(initial=0)) + 1)
    np.maximum.at(found, inside[there], relief.radius[there])
    return found


def without_spurs(
    cut: SkeletonCut, spurs: Bool[np.ndarray, " strands"]
) -> Bool[np.ndarray, "rows cols"]:
    """Draw the skeleton again without some strands, and without the stubs that lead to them."""
    kept = cut.pixels[~spurs[cut.path]]
    degree = np.bincount(cut.node[~spurs].ravel() + 1, minlength=int(cut.inside.max()) + 1)
    nodes = places(cut.inside > 0)
    # A node of one strand is the end of a curve: nothing of it is a stub.
    passed = degree[cut.inside[tuple(nodes.T)]] > 1
    pixels = np.concatenate([kept, nodes])
    removable = np.concatenate([np.zeros(len(kept), bool), passed])
    neighbours = components(pixels)[0].astype(bool).astype(np.int64)
    there = np.ones(len(pixels), bool)
    while True:
        stubs = there & removable & (neighbours @ there.astype(np.int64) < 2)
        if not stubs.any():
            break
        there &= ~stubs
    drawn = np.zeros(cut.inside.shape, bool)
    drawn[tuple(pixels[there].T)] = True
    return skeleton_of(drawn)


def contracted(cut: SkeletonCut) -> Int[np.ndarray, "strands 2"]:
    """The nodes of all strands, if short strands are pixels of nodes: these grow together."""
    short = cut.pixels[cut.short[cut.path]]
    where = np.concatenate([places(cut.inside > 0), short])
    grown = _numbered(where[np.lexsort(where.T[::-1])], cut.inside.shape)
    number = np.zeros(int(cut.inside.max(initial=0)) + 1, np.int64)
    there = cut.inside > 0
    number[cut.inside[there]] = grown[there]
    return number[cut.node + 1] - 1


def _numbered(
    pixels: Int[np.ndarray, "pixels 2"], shape: tuple[int, int]
) -> Int[np.ndarray, "rows cols"]:
    """A picture of connected sets of pixels, numbered from 1; the pixels come row by row."""
    found = np.zeros(shape, np.int32)
    found[tuple(pixels.T)] = components(pixels)[1] + 1
    return found
