"""`mam find` with a bank of elastic graphs: letters, and other bright shapes on black."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mam.commands.find.found_objects import FoundIn, FoundObject
from mam.core.whole_files import write_whole
from mam.data import encode_png, grey
from mam.show.elastic import draw_matches
from mam.vision.elastic.letters.finder import ObjectFinder
from mam.vision.elastic.letters.letter_match import THERE, Match
from mam.vision.images.photograph import is_photograph


def letter_search(
    model: str, parameters: Mapping[str, Any], copies: int
) -> Callable[[np.ndarray, str, Path | None], FoundIn]:
    """What finds letters in a picture, draws those that are there, and tells of them."""
    finder = ObjectFinder.load(model, **parameters)

    def find_one(picture: np.ndarray, name: str, out: Path | None) -> FoundIn:
        pixels = grey(picture)
        if is_photograph(pixels):
            raise ValueError(
                f"{name}: looks like a photograph, and {model} finds bright shapes on black; give "
                "--model FILE, learned from such pictures by mam learn objects"
            )
        matches = finder.find(pixels, copies)
        if out is not None:
            there = [one for one in matches if one.there]
            write_whole(out, encode_png(draw_matches(pixels, there)))
        return FoundIn(name, "matches", [_found_object(one) for one in matches])

    return find_one


def _found_object(one: Match) -> FoundObject:
    more = {
        "contrast": round(one.contrast, 3),
        "threshold": THERE,
        "category": one.category,
        "graph": one.graph,
        "proof": one.proof,
        "set_proof": one.set_proof,
        "vertices": one.vertices.tolist(),
    }
    size = int(one.pixels.sum())
    measures = one.score, one.margin, one.scale, one.box, one.outline, size
    return FoundObject(_line(one), _name(one.category), one.there, *measures, more)


def _line(one: Match) -> str:
    contrast = f"contrast {one.contrast:.2f} (there from {THERE:.2f} on)"
    if one.box is None or not one.there:
        more = "nothing more" if one.contrast >= THERE else "nothing"
        return f"{more} there; the best is {_name(one.category)}, {contrast}"
    top, left, bottom, right = one.box
    return (
        f"{_name(one.category)}, graph {one.graph}, rows {top} to {bottom}, columns {left} to "
        f"{right}, score {one.score:.0f}, margin {one.margin:.0f}, {contrast}"
    )


def _name(category: int) -> str:
    return chr(ord("A") + category) if 0 <= category < 26 else str(category)
