"""The best answer in which two points are no longer on one curve, or are now.

An answer that says otherwise has some link in another state. Each such link is turned in the order
of its margin, which is what that costs at least, and the rest is solved again, until no other link
could lead to a better answer. What was forbidden or demanded stays so.
"""

from dataclasses import replace

import numpy as np
from jaxtyping import Int

from mam.tasks.drawing import Drawing, answered, scaled_point, solved_again
from mam.vision.curves.answer import Grouped
from mam.vision.curves.corrections import Corrections, EndPair

_TRIES = 24  # links that are turned at most; each takes some 10 ms


def alternative(drawing: Drawing) -> Drawing | None:
    """The best answer found that says otherwise of the markers; None if there is none."""
    found, settings, same = drawing.found, drawing.settings, drawing.same
    if found is None or settings is None or same is None:
        return None
    points = [scaled_point(marker, drawing.scale) for marker in drawing.markers]
    strokes = [found.stroke_at(point) for point in points]
    known, best = _known(found), None
    for link in _turned(found, strokes, same.same)[:_TRIES]:
        if best is not None and found.score - best.score <= abs(found.belief[link]):
            break
        again = solved_again(found, settings, _with(known, found, int(link)))
        one, other = again.group[strokes]
        if (one == other) != same.same and (best is None or again.score > best.score):
            best = again
    return None if best is None else answered(replace(drawing, markers=()), best)


def _turned(found: Grouped, strokes: list[int], same: bool) -> Int[np.ndarray, " some"]:
    """The links of both curves that could change the answer, from the least margin on."""
    first, second = found.group[strokes]
    mine = np.isin(found.group[found.links.stroke], [first, second])
    fit = mine.all(1) & found.on if same else mine.any(1) & ~found.on
    some = np.flatnonzero(fit & np.isfinite(found.belief))
    return some[np.argsort(np.abs(found.belief[some]), kind="stable")]


def _known(found: Grouped) -> Corrections:
    """What is certain of links already: their margins are infinite."""
    certain = np.isinf(found.belief)
    off, on = np.flatnonzero(certain & ~found.on), np.flatnonzero(certain & found.on)
    return Corrections([_pair(found, int(k)) for k in off], [_pair(found, int(k)) for k in on])


def _with(known: Corrections, found: Grouped, link: int) -> Corrections:
    pair = _pair(found, link)
    if found.on[link]:
        return replace(known, forbid=[*known.forbid, pair])
    return replace(known, demand=[*known.demand, pair])


def _pair(found: Grouped, link: int) -> EndPair:
    first, second = 2 * found.links.stroke[link] + found.links.side[link]
    return int(first), int(second)
