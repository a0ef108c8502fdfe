"""Figures of the cABC experiment: matched letters, the part and elastic graphs as HTML."""

from collections.abc import Sequence

import numpy as np

from mam.data import CabcRow
from mam.data.pixels import black_and_white, rgb
from mam.data.raster import disc
from mam.reproduce.drawn_answers import ShownRow
from mam.show.elastic import draw_matches, graph_svg
from mam.show.page import figure, figures, paragraph, picture
from mam.show.parts import part_sheet
from mam.tasks import cabc as task
from mam.vision.elastic.letters.finder import ObjectFinder
from mam.vision.elastic.letters.letter_learning import PART_RADIUS, learn_bank
from mam.vision.parts.masks import Parts
from mam.vision.parts.training import letter_masks


def draw_answers(shown: Sequence[ShownRow], finder: ObjectFinder) -> str:
    """Draw the two graphs found over every image."""
    rows = [one.row for one in shown if isinstance(one.row, CabcRow)]
    drawn = []
    answers = task.predict([row.image for row in rows], finder)
    for one, row, answer in zip(shown, rows, answers, strict=True):
        assert isinstance(answer, task.CabcAnswer)  # rows without an answer are not shown
        found = [letter.category for letter in answer.letters]
        words = "same letter" if answer.label else "different letters"
        caption = (
            f"{words}; found {_names(found)}, drawn were {_names(row.categories.tolist())} "
            f"(row {one.number})"
        )
        reduced = task.reduce_image(row.image, 0).astype(np.uint8) * 255
        pixels = draw_matches(reduced, answer.letters)
        drawn.append(figure(picture(pixels, words), caption, one.verdict))
    return figures(drawn)


def draw_parts(learned: Parts | None, learned_from: int) -> str:
    """Draw the disc that letters are made of, and the part learned without labels."""
    used = Parts(disc(PART_RADIUS)[None])
    shown = [_part(used, f"The part in use: a disc of radius {PART_RADIUS}, as in the paper.")]
    if learned is not None:
        words = f"The part learned without labels from {learned_from} letters."
        shown.append(_part(learned, words))
    return figures(shown)


def draw_graphs(rows: Sequence[CabcRow]) -> str:
    """Draw a letter of each row beside the elastic graph learned from it."""
    drawn = []
    for row in rows:
        mask = letter_masks(row)[0]
        inside = np.ix_(mask.any(1), mask.any(0))
        letter = rgb(black_and_white(mask[inside]))
        name = _names([int(row.categories[0])])
        bank = learn_bank([mask])
        drawn.append(figure(picture(letter, name, crisp=True), f"A letter {name}."))
        words = f"Its graph: {bank.vertex_count[0]} vertices, {bank.edge_count[0]} edges."
        drawn.append(figure(graph_svg(bank, 0), words))
    said = "Numbers are perturb radii, px; an edge without one has radius 1."
    return paragraph(said) + figures(drawn)


def _part(parts: Parts, caption: str) -> str:
    return figure(picture(part_sheet(parts), "a part", crisp=True), caption)


def _names(categories: Sequence[int]) -> str:
    """Letters in alphabetical order.

    >>> _names([2, 0])
    'A C'
    """
    return " ".join(chr(ord("A") + category) for category in sorted(categories))
