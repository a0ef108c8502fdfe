"""The pathfinder generator: dashed contours, two of them long, two markers, one question."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, UInt8

from mam.data.generate.dashes import DashConfig, empty_canvas, grow_contour
from mam.data.generate.draws import generator
from mam.data.pixels import ON
from mam.data.raster import disc_sprite, stamp, stroke_sprite
from mam.data.schema import PathfinderRow
from mam.data.segments import Stroke

# A long contour that cannot be placed this often is boxed in: the image starts afresh.
LONG_TRIES = 30
FRESH_STARTS = 300  # of an image, before its configuration is called impossible
SPRITE_RADIUS = 10  # px: length 5, width 2 and margin 3, as the published strokes are drawn

_DASHES = DashConfig()


@dataclass(frozen=True)
class PathfinderConfig:
    """How pathfinder images are made; defaults are the published generator's values (hard)."""

    dashes: DashConfig = _DASHES
    scale: int = 2  # strokes are drawn at this scale and reduced with a Lanczos window
    seed_distance: int = 27  # px between the origins of the two long contours
    tries: int = 5  # attempts at a distractor before it is left out
    marker_radius: float = 5.0  # px, filled discs
    long: tuple[int, int] = (14, 14)  # strokes of the two long contours, least and most
    # (how many, least strokes, most strokes) of each group of distractors
    distractors: tuple[tuple[int, int, int], ...] = ((7, 4, 4),)
    stream: int = 0  # of random numbers; every level has its own


# Long contours 6 / 9 / 14; distractors as the published generator draws them (its medium has 10,
# the paper says 9); ultimate: paper, section "Pathfinder ultimate".
LEVELS = {
    "easy": PathfinderConfig(long=(6, 6), distractors=((15, 2, 2),), stream=1),
    "medium": PathfinderConfig(long=(9, 9), distractors=((10, 3, 3),), stream=2),
    "hard": PathfinderConfig(stream=3),
    "ultimate": PathfinderConfig(long=(20, 30), distractors=((2, 15, 30), (8, 6, 14)), stream=4),
}

_Canvas = Bool[np.ndarray, "rows cols"]


def _free_pixel(taken: _Canvas, rng: np.random.Generator) -> tuple[int, int] | None:
    """A free pixel, uniformly; None on a canvas that is all but full."""
    for _ in range(1000):
        row, col = rng.integers(0, taken.shape[0], 2)
        if not taken[row, col]:
            return int(row), int(col)
    return None


def _seeds(
    config: PathfinderConfig, rng: np.random.Generator
) -> tuple[tuple[int, int], tuple[int, int]]:
    """Origins of the two long contours, `seed_distance` apart in a random direction."""
    dashes = config.dashes
    # Room for the second origin and a first stroke on every side of the first.
    least = dashes.border + config.seed_distance + 2 * dashes.margin
    first = rng.integers(least, dashes.size - least, 2)
    angle = rng.uniform(-np.pi, np.pi)
    step = config.seed_distance * np.array([np.sin(angle), np.cos(angle)])
    second = np.rint(first + step).astype(int)
    return (int(first[0]), int(first[1])), (int(second[0]), int(second[1]))


def _long_pair(
    config: PathfinderConfig, rng: np.random.Generator
) -> tuple[list[list[Stroke]], _Canvas]:
    """The two long contours, of the same random length, and the canvas they leave."""
    strokes = int(rng.integers(config.long[0], config.long[1] + 1))
    for _ in range(FRESH_STARTS):
        taken, contours = empty_canvas(config.dashes), []
        for origin in _seeds(config, rng):
            for _ in range(LONG_TRIES):
                grown = grow_contour(taken, origin, strokes, config.dashes, rng)
                if grown is not None:
                    contours.append(grown[0])
                    taken = grown[1]
                    break
            else:
                break
        if len(contours) == 2:
            return contours, taken
    raise ValueError(
        f"pathfinder: two contours of {strokes} strokes do not fit on a canvas of "
        f"{config.dashes.size} px; make `size` larger or `long` shorter"
    )


def _distractors(
    taken: _Canvas, config: PathfinderConfig, rng: np.random.Generator
) -> list[list[Stroke]]:
    """The distractors that found room within `tries` attempts each."""
    contours = []
    for count, least, most in config.distractors:
        for _ in range(count):
            strokes = int(rng.integers(least, most + 1))
            for _ in range(config.tries):
                origin = _free_pixel(taken, rng)
                grown = origin and grow_contour(taken, origin, strokes, config.dashes, rng)
                if grown:
                    contours.append(grown[0])
                    taken = grown[1]
                    break
    return contours


def _draw(
    contours: list[list[Stroke]], config: PathfinderConfig
) -> tuple[UInt8[np.ndarray, "rows cols"], UInt8[np.ndarray, "rows cols"]]:
    """The clean picture and the contour number of every ON pixel."""
    dashes = config.dashes
    clean = np.zeros((dashes.size, dashes.size), np.uint8)
    numbers = np.zeros_like(clean)
    for number, strokes in enumerate(contours, start=1):
        for stroke in strokes:
            shape = (dashes.length, dashes.width, config.scale, SPRITE_RADIUS)
            sprite = stroke_sprite(round(stroke.angle, 6), *shape)
            stamp(clean, sprite, stroke.row, stroke.col)
            stamp(numbers, (sprite > ON).astype(np.uint8) * number, stroke.row, stroke.col)
    return clean, numbers


def make_pathfinder(config: PathfinderConfig, seed: int, row: int) -> PathfinderRow:
    """Row `row` of the endless data set that `config` and `seed` define.

    >>> one = make_pathfinder(LEVELS["easy"], seed=0, row=3)
    >>> one.image.shape, one.label in (0, 1), len(one.segments[0])
    ((300, 300), True, 6)
    """
    rng = generator(config.stream, seed, row)
    label = int(rng.integers(0, 2))
    contours, taken = _long_pair(config, rng)
    contours += _distractors(taken, config, rng)
    clean, numbers = _draw(contours, config)
    origin = int(rng.integers(0, 2))
    end = origin if label else 1 - origin
    first, last = contours[origin][0], contours[end][-1]
    markers = np.array([[first.row, first.col], [last.row, last.col]])
    image = clean.copy()
    for marker in markers:
        stamp(image, disc_sprite(config.marker_radius, scale=4, margin=4), *marker.tolist())
    return PathfinderRow(
        image, clean, numbers, label, markers, tuple(tuple(strokes) for strokes in contours)
    )
