"""Curves as a graph of places: tips and crossings, and the stretches between them."""

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from mam.core.svg import Line
from mam.vision.curves.crossings import find_crossings
from mam.vision.curves.line_forms import is_closed, lengths_along, line_length, points_at

if TYPE_CHECKING:
    import networkx


def as_network(lines: Sequence[Line]) -> "networkx.MultiGraph":
    """A node for every tip and crossing, with its `place`; an edge for every stretch of a curve.

    Edges have `curve` (from 1), `length` and `points`. A ring that nothing crosses is one node with
    an edge to itself.
    """
    try:
        import networkx
    except ImportError:
        raise ImportError("a graph needs networkx: pip install networkx") from None
    network = networkx.MultiGraph()
    crossings = find_crossings(lines)
    for number, place in enumerate(crossings.place):
        network.add_node(number, place=tuple(place.tolist()), kind="crossing")
    for curve, line in enumerate(lines):
        mine = np.flatnonzero((crossings.lines == curve).any(1))
        stops = _along(line, crossings.place[mine], mine)
        if not is_closed(line) or not stops:
            first = network.number_of_nodes()
            network.add_node(first, place=tuple(line[0].tolist()), kind="tip")
            stops = [(0.0, first), *stops]
            last = first if is_closed(line) else first + 1
            if last != first:
                network.add_node(last, place=tuple(line[-1].tolist()), kind="tip")
            stops.append((line_length(line), last))
        else:  # round to the first crossing again
            stops.append((stops[0][0] + line_length(line), stops[0][1]))
        for (start, one), (stop, other) in pairwise(stops):
            points = _stretch(line, start, stop)
            network.add_edge(one, other, curve=curve + 1, length=stop - start, points=points)
    return network


def _along(
    line: Line, places: Float[np.ndarray, "crossings 2"], names: np.ndarray
) -> list[tuple[float, int]]:
    """Where along a line it passes through places, in order; through its own crossings twice."""
    start, step = line[:-1], np.diff(line, axis=0)
    size = np.linalg.norm(step, axis=1)
    before = np.concatenate([[0.0], np.cumsum(size)[:-1]])
    found = []
    for place, name in zip(places, names.tolist(), strict=True):
        share = ((place - start) * step).sum(1) / np.maximum(size, 1e-9) ** 2
        share = np.clip(share, 0, 1)
        far = np.linalg.norm(start + share[:, None] * step - place, axis=1)
        at = (before + share * size)[far < 1e-6]
        # At a vertex two segments tell of the same passage.
        passages = at[np.append(True, np.diff(at) > 1e-6)] if len(at) else at
        found += [(float(one), name) for one in passages]
    return sorted(found)


def _stretch(line: Line, start: float, stop: float) -> Float[np.ndarray, "_ 2"]:
    """The part of a line between two lengths along it; a ring goes on after its first point."""
    along = lengths_along(line)
    if stop > along[-1] + 1e-9:
        line = np.concatenate([line, line[1:]])
        along = np.concatenate([along, along[-1] + along[1:]])
    inside = (along > start) & (along < stop)
    at = np.concatenate([[start], along[inside], [stop]])
    return points_at(line, at, along)
