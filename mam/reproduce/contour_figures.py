"""Figures of the pathfinder experiment: answers, parts and continuations as HTML."""

from collections.abc import Sequence

import numpy as np

from mam.data import PathfinderRow
from mam.data.pixels import ON, rgb
from mam.reproduce.drawn_answers import ShownRow
from mam.show.continuation_pictures import (
    continuation_field,
    field_svg,
    follower_sheet,
    followers,
    seen_followers,
    seen_sheet,
)
from mam.show.curves import Tag, overlay
from mam.show.page import figure, figures, picture
from mam.show.parts import draw_explained, part_sheet
from mam.vision.curves.strokes.co_occurrences import CoOccurrences
from mam.vision.curves.strokes.continuation import SmoothContinuation
from mam.vision.curves.strokes.contour_grouper import ContourGrouper
from mam.vision.parts.masks import Parts
from mam.vision.parts.sparsifier import Sparsifier


def draw_answers(shown: Sequence[ShownRow], grouper: ContourGrouper) -> str:
    """Draw every contour found in its own colour, under the markers."""
    rows = [one.row for one in shown if isinstance(one.row, PathfinderRow)]
    drawn = []
    for one, row, found in zip(shown, rows, grouper.predict([r.clean for r in rows]), strict=True):
        same = found.same(*row.markers)
        words = "same contour" if same.same else "different contours"
        lines = sorted(found.polylines, key=len, reverse=True)
        pixels = overlay(row.clean, lines, Tag("", row.markers.tolist()))
        # No way at all from one marker to the other has no margin.
        margin = f", margin {same.margin:.2f}" if np.isfinite(same.margin) else ""
        caption = f"{words}{margin} (row {one.number})"
        drawn.append(figure(picture(pixels, words), caption, one.verdict))
    return figures(drawn)


def draw_parts(parts: Parts, usage: Sequence[int] | None, learned_from: int) -> str:
    """Draw the parts, learned here or bundled."""
    if usage is None:
        caption = "The parts that come with the package; this scale learns none."
    else:
        caption = (
            f"Learned without labels from {learned_from} hard images, with the number of pieces of "
            "them that each explains."
        )
    counts = None if usage is None else np.asarray(usage)
    return figure(picture(part_sheet(parts, counts), "learned parts"), caption)


def draw_continuation(grouper: ContourGrouper) -> str:
    """Draw the learned potential, and the parts that best follow the first one."""
    learned, parts = grouper.continuation_, grouper.parts
    assert isinstance(learned, SmoothContinuation) and isinstance(parts, Parts)
    field = figure(
        field_svg(continuation_field(learned)),
        "Where the contour of the stroke in the middle goes on. Orange: a stroke there, in its "
        "best direction, is more likely its neighbour than not; white: those directions. "
        f"{2 * learned.reach:g} px wide.",
    )
    sheets = [
        figure(
            picture(follower_sheet(followers(parts, learned, 0, side)), "continuations"),
            f"The part types that best continue the first one at {end} end, at most twelve, each "
            "at its best place, with the log odds.",
        )
        for side, end in enumerate(("one", "the other"))
    ]
    return figures([field]) + "".join(sheets)


def draw_seen(grouper: ContourGrouper) -> str:
    """Draw what the paper's way learned: the placements seen most often beside the first part."""
    learned, parts = grouper.continuation_, grouper.parts
    assert isinstance(learned, CoOccurrences) and isinstance(parts, Parts)
    sheets = []
    for side, end in enumerate(("one", "the other")):
        found = seen_followers(parts, learned, 0, side)
        words = (
            f"The most frequent of {len(learned.following(0, side)[0])} co-occurrences on {end} "
        )
        words += "side of the first part, at most twelve, and how often each was seen."
        if found:
            sheets.append(figure(picture(seen_sheet(found), "co-occurrences"), words))
    return "".join(sheets)


def draw_sparsified(row: PathfinderRow, parts: Parts) -> str:
    """Draw an image beside the parts that explain it."""
    [found] = Sparsifier(parts).transform([row.clean > ON])
    words = f"{len(found)} placements of {len(parts)} parts explain it, each in a colour."
    explained = draw_explained(row.clean, found, parts)
    shown = [figure(picture(rgb(row.clean), "image"), "A hard image.")]
    return figures([*shown, figure(picture(explained, "placements"), words)])
