"""Wild curves: pictures as people have them, each with one thing that makes lines hard to follow.

All are about lines that a person can tell apart: they cross clearly. On top of that comes what
``KINDS`` says of each kind.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
from jaxtyping import Bool

from mam.data.generate import wild_ink as ink
from mam.data.generate import wild_lines as lines
from mam.data.generate.draws import generator
from mam.data.generate.wild_ink import Coverage, all_drawn, drawn
from mam.data.generate.wild_lines import LinePoints, Room
from mam.data.generate.wild_trees import sharing_lines, tree
from mam.data.schema import CurvesRow

KINDS: Mapping[str, str] = {
    "noise": "lines with noise of 2 px across them",
    "walks": "random walks, which do not meet",
    "corners": "zigzags with corners of 45 to 135 degrees",
    "widths": "a pen whose width varies 1:4",
    "dashes": "dashes of mixed lengths",
    "dots": "dotted lines",
    "cuts": "lines of 2 to 4 px with cuts of one pixel at a slant",
    "light": "a page with a shadow, in slanted light, or both",
    "trees": "lines that branch",
    "shared": "lines in colours that run on top of each other for a while",
}
_NOISE = 2.0  # px
_RATIO = 4.0  # of the greatest to the least width
_OVERLAP = 0.5  # of a pixel that must be covered to be ON


@dataclass(frozen=True)
class WildConfig:
    """How wild pictures are made; values are ours."""

    rows: int = 400  # px
    cols: int = 600  # px
    curves: tuple[int, int] = (2, 4)  # least and most, of 1..8; trees and walks are fewer
    width: tuple[int, int] = (2, 4)  # px, of 2..12; one for all curves of a picture
    kind: str = "all"  # of KINDS; all: each in turn
    stream: int = 0  # of random numbers

    columns = ("name", "masks", "image")  # that rows have beside those of all curves

    def __post_init__(self) -> None:
        if self.kind not in (*KINDS, "all"):
            raise ValueError(f"kind {self.kind!r}: it must be one of {', '.join(KINDS)} or all")
        if not 1 <= self.curves[0] <= self.curves[1] <= 8:
            raise ValueError(f"curves {self.curves}: least and most must lie in 1..8")
        if not 2 <= self.width[0] <= self.width[1] <= 12:
            raise ValueError(f"width {self.width}: least and most must lie in 2..12 px")
        if min(self.rows, self.cols) < 200:
            raise ValueError(f"{self.rows} x {self.cols}: the canvas needs 200 px at least")


WILD = WildConfig(stream=4)


def make_wild(config: WildConfig, seed: int, row: int) -> CurvesRow:
    """Row `row` of the endless data set that `config` and `seed` define; its name tells its kind.

    >>> one = make_wild(WildConfig(kind="dots"), seed=0, row=1)
    >>> one.name, one.masks.any(0).sum() == one.mask.sum(), one.image.shape
    ('dots/1', np.True_, (400, 600, 3))
    """
    kind = tuple(KINDS)[row % len(KINDS)] if config.kind == "all" else config.kind
    rng = generator(config.stream, seed, row)
    shape = (config.rows, config.cols)
    width = int(rng.integers(config.width[0], config.width[1] + 1))
    count = int(rng.integers(config.curves[0], config.curves[1] + 1))
    made: list[Coverage] = []
    while not made:  # a picture in which no line found room
        made = _MAKERS[kind](shape, count, width, rng)
    masks: Bool[np.ndarray, "curves rows cols"] = np.stack(made) > _OVERLAP
    number = np.arange(1, len(masks) + 1)[:, None, None]
    labels = np.where(masks.sum(0) == 1, (masks * number).sum(0), 0).astype(np.uint8)
    image = ink.printed(made, kind == "shared", kind == "light", rng)
    return CurvesRow(
        np.asarray(masks.any(0)), labels, name=f"{kind}/{row}", masks=masks, image=image
    )


def _smooth(
    shape: tuple[int, int], count: int, rng: np.random.Generator, room: Room
) -> list[LinePoints]:
    draw = partial(lines.smooth_line, shape, rng)
    return lines.several(draw, count, room, lines.shortest(shape))


def _noise(
    shape: tuple[int, int], count: int, width: int, rng: np.random.Generator
) -> list[Coverage]:
    found = _smooth(shape, count, rng, Room(24.0, 48.0))
    return [drawn(ink.roughened(line, _NOISE, rng), width, shape) for line in found]


def _walks(
    shape: tuple[int, int], count: int, width: int, rng: np.random.Generator
) -> list[Coverage]:
    made: list[Coverage] = []
    taken = np.zeros(shape, bool)
    for _ in range(4 * count):
        line = lines.random_walk(shape, rng)
        if line is None:
            continue
        if (drawn(line, width + 10, shape) * taken).any():
            continue
        made.append(drawn(line, width, shape))
        taken |= made[-1] > 0
        if len(made) == max(count - 1, 1):
            break
    return made


def _corners(
    shape: tuple[int, int], count: int, width: int, rng: np.random.Generator
) -> list[Coverage]:
    draw = partial(lines.zigzag, shape, rng)
    found = lines.several(draw, count, Room(16.0, 32.0), lines.shortest(shape))
    return [drawn(line, width, shape) for line in found]


def _widths(
    shape: tuple[int, int], count: int, width: int, rng: np.random.Generator
) -> list[Coverage]:
    found = _smooth(shape, count, rng, Room(24.0, 48.0))
    return [drawn(line, ink.swelling(line, _RATIO, rng), shape) for line in found]


def _pieces(pen, shape: tuple[int, int], count: int, width: int, rng: np.random.Generator):
    found = _smooth(shape, count, rng, Room(24.0, 48.0))
    return [all_drawn(pen(line, float(width), rng), float(width), shape) for line in found]


def _cuts(
    shape: tuple[int, int], count: int, width: int, rng: np.random.Generator
) -> list[Coverage]:
    found = _smooth(shape, count, rng, Room())
    met = [one[lines.crossings(one, two)[:, 0]] for one in found for two in found]
    free = np.concatenate([*met, np.zeros((0, 2))])
    return [
        np.where(ink.slit(line, shape, free, rng), 0.0, drawn(line, width, shape)) for line in found
    ]


def _light(
    shape: tuple[int, int], count: int, width: int, rng: np.random.Generator
) -> list[Coverage]:
    return [drawn(line, 1.5 * width, shape) for line in _smooth(shape, count, rng, Room())]


def _trees(
    shape: tuple[int, int], count: int, width: int, rng: np.random.Generator
) -> list[Coverage]:
    made: list[Coverage] = []
    others: list[LinePoints] = []
    for _ in range(12):
        limbs = tree(shape, others, rng)
        if not limbs:
            continue
        own = [drawn(limb.line, 1.5 * width * 0.8**limb.depth, shape) for limb in limbs]
        made.append(np.maximum.reduce(own))
        others += [limb.line for limb in limbs]
        if len(made) == max(count - 1, 1):
            break
    return made


def _shared(
    shape: tuple[int, int], count: int, width: int, rng: np.random.Generator
) -> list[Coverage]:
    pair = sharing_lines(shape, rng)
    return [drawn(line, width, shape) for line in pair]


_MAKERS = {
    "noise": _noise,
    "walks": _walks,
    "corners": _corners,
    "widths": _widths,
    "dashes": partial(_pieces, ink.dashed),
    "dots": partial(_pieces, ink.dotted),
    "cuts": _cuts,
    "light": _light,
    "trees": _trees,
    "shared": _shared,
}
