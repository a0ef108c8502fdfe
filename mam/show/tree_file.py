"""Curves as trees in SWC, the form of neurons: a node a line, each with its parent.

The longest curve is a trunk. A curve with an end on one that is placed already, no farther from its
middle than half of both widths, is a branch of it; the longest that is left is the next trunk.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.spatial import KDTree

from mam.tasks.drawing import Drawing
from mam.vision.curves.facts import CurveFacts
from mam.vision.curves.line_forms import in_short_steps

_STEP = 2.0  # px between nodes, at most
_SLACK = 1.5  # px: ends of skeletons stop short of what they touch
_UNKNOWN = 0  # what kind of neurite a node is on
_NO_PARENT = -1


class _Grown(NamedTuple):
    """The nodes of some curves, in order."""

    place: Float[np.ndarray, "nodes 2"]
    radius: Float[np.ndarray, " nodes"]
    parent: np.ndarray  # from 0; -1: none


def swc_file(found: Drawing, name: str) -> bytes:
    """Number, kind, x, y, z, radius and parent of every node; z is 0.

    A closed curve is cut where it starts: a tree has no rings.
    """
    size, unit = found.pixel_size or (1.0, "px")
    nodes = grown_tree(found.facts)
    lines = ["# curves as trees; lengths in " + unit, "# id type x y z radius parent"]
    for number, ((row, col), radius, parent) in enumerate(zip(*nodes, strict=True), 1):
        place = f"{col * size:.6g} {row * size:.6g} 0 {radius * size:.6g}"
        above = _NO_PARENT if parent < 0 else int(parent) + 1
        lines.append(f"{number} {_UNKNOWN} {place} {above}")
    return ("\n".join(lines) + "\n").encode()


def grown_tree(curves: list[CurveFacts]) -> _Grown:
    """Lay trunk after trunk, each with its branches and theirs."""
    left = sorted(curves, key=lambda one: -one.length)
    nodes = _Grown(np.zeros((0, 2)), np.zeros(0), np.zeros(0, int))
    while left:
        branch = _next_branch(nodes, left)
        curve, turned, parent = branch or (left[0], False, _NO_PARENT)
        left = [one for one in left if one is not curve]
        nodes = _with(nodes, curve, turned, parent)
    return nodes


def _next_branch(nodes: _Grown, left: list[CurveFacts]) -> tuple[CurveFacts, bool, int] | None:
    """A curve that starts, or turned round ends, at a node."""
    if not len(nodes.place):
        return None
    ends = np.array([[one.line[0], one.line[-1]] for one in left])
    far, nearest = (np.asarray(some) for some in KDTree(nodes.place).query(ends))
    reach = np.array([one.width / 2 for one in left])[:, None] + nodes.radius[nearest] + _SLACK
    touching = np.argwhere((far <= reach) & ~np.array([one.closed for one in left])[:, None])
    if not len(touching):
        return None
    which, end = touching[0].tolist()
    return left[which], end == 1, int(nearest[which, end])


def _with(nodes: _Grown, curve: CurveFacts, turned: bool, parent: int) -> _Grown:
    line = in_short_steps(curve.line, _STEP)[: -1 if curve.closed else None]
    line = line[::-1] if turned else line
    before = np.arange(len(nodes.place) - 1, len(nodes.place) - 1 + len(line))
    before[0] = parent
    return _Grown(
        np.concatenate([nodes.place, line]),
        np.concatenate([nodes.radius, np.full(len(line), curve.width / 2)]),
        np.concatenate([nodes.parent, before]),
    )
