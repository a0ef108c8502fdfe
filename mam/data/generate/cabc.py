"""The cABC generator: two bent, broken, barely overlapping letters and two ring markers."""

import functools
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Int, UInt8

from mam.data.generate.draws import generator
from mam.data.generate.letters import LETTERS, load_faces
from mam.data.generate.warp import (
    Distortion,
    Spread,
    bend,
    combine,
    draw_affine,
    extent,
    outline,
)
from mam.data.raster import Shapes, disc_sprite, distance_to, fill, grown_by
from mam.data.schema import CabcRow

_Mask = Bool[np.ndarray, "rows cols"]
_WIDE = Spread(scale=0.5, rotation=30.0, shear=0.2)
_NONE = Spread(scale=0.001, rotation=0.001, shear=0.001)
_HALF = Spread(scale=0.5 / 2**0.5, rotation=30.0 / 2**0.5, shear=0.2 / 2**0.5)

_DISTORTION = Distortion()


@dataclass(frozen=True)
class CabcConfig:
    """How cABC images are made; defaults are the published generator's values (hard)."""

    size: int = 350  # px, side of the square canvas
    cap_height: float = 141.0  # px, height of a capital letter before it is bent (measured)
    thickness: float = 7.0  # px, stroke of a letter before it is bent
    common: Spread = _NONE  # the part of the transform that both letters share
    own: Spread = _WIDE  # the part of each letter
    radius: tuple[float, float] = (30.0, 80.0)  # px, from the canvas centre to a letter's
    least_angle: float = 60.0  # degrees between the letters as seen from the canvas centre
    distortion: Distortion = _DISTORTION
    # px a letter grows before overlap is measured. Published: 10 px, shape unknown; a disc of
    # radius 8 reproduces the published overlaps (10: -20 % in the mean, 5: +22 %).
    dilation: int = 8
    least_overlap: float = 0.01  # of one dilated letter
    most_overlap: float = 0.15  # of both
    block: int = 5  # px, side of the pixelation
    block_threshold: float = 0.3  # mean coverage above which a block is drawn
    omit: float = 0.2  # probability that a block is left out
    block_sigma: float = 2.0  # px, a block's move
    block_cut: float = 4.0  # px, the largest move
    marker_radius: int = 11  # px, outside of the ring
    marker_ring: int = 3  # px, its thickness
    fonts: tuple[str, ...] = ()  # font files; none = the two Hershey faces
    stream: int = 0  # of random numbers; every level has its own


LEVELS = {
    "easy": CabcConfig(common=_WIDE, own=_NONE, radius=(50.0, 60.0), least_angle=170.0, stream=1),
    "medium": CabcConfig(common=_HALF, own=_HALF, radius=(40.0, 70.0), least_angle=110.0, stream=2),
    "hard": CabcConfig(stream=3),
}

RASTER = 2  # sub-pixels per pixel and axis when a letter is drawn
_CELL = 2  # px, grid on which overlap is measured
_SHAPE_TRIES = 30  # pairs of bent letters for one pair of places
_MARKER_TRIES = 20  # pairs of places for the markers on one pair of letters
_FRESH_STARTS = 30  # pairs of places before the configuration is called impossible

_Spot = tuple[float, float]


@dataclass(frozen=True)
class _Letter:
    """One bent letter and where it stands."""

    shapes: Shapes
    corner: tuple[int, int]  # px, top left on the canvas


class _Pair(NamedTuple):
    """Letter A and letter B."""

    one: _Letter
    two: _Letter


@functools.lru_cache(maxsize=256)
def _outline(
    fonts: tuple[str, ...], face: int, category: int, cap_height: float, thickness: float
) -> Shapes:
    """A letter's thick strokes before they are bent."""
    lines = load_faces(fonts)[face][LETTERS[category]]
    return outline([line * cap_height for line in lines], thickness)


def _silhouette(letter: _Letter, dilation: int) -> _Mask:
    """The dilated letter on a grid of _CELL px; it begins `dilation` before the corner."""
    rows, cols = (size + size % _CELL for size in extent(letter.shapes))
    coarse = fill(letter.shapes, (rows, cols), 1 / _CELL)
    return grown_by(coarse, dilation / _CELL)


def _spots(config: CabcConfig, rng: np.random.Generator) -> tuple[_Spot, _Spot]:
    """Centres (row, col) of the two letters, on circles around the canvas' centre."""
    first = rng.uniform(0, 360)
    second = first + rng.uniform(config.least_angle, 360 - config.least_angle)
    found = []
    for angle in np.radians([first, second]):
        radius = rng.uniform(*config.radius)
        found.append(config.size / 2 + radius * np.array([np.sin(angle), np.cos(angle)]))
    (top, left), (bottom, right) = np.array(found).tolist()
    return (top, left), (bottom, right)


def _pair(
    outlines: list[Shapes],
    spots: tuple[_Spot, _Spot],
    config: CabcConfig,
    rng: np.random.Generator,
) -> _Pair | None:
    """Both letters freshly bent, or None if they leave the canvas or overlap too much or little.

    The places come first and the letters are drawn until they fit: that is how the published
    distances between letters arise.
    """
    common = draw_affine(rng, config.common)
    letters = []
    for shapes, spot in zip(outlines, spots, strict=True):
        affine = combine(common, draw_affine(rng, config.own))
        bent = bend(shapes, affine, config.distortion, rng)
        size = np.array(extent(bent))
        corner = np.rint((np.array(spot) - size / 2) / _CELL).astype(int) * _CELL
        if (corner < 0).any() or (corner + size > config.size).any():
            return None
        letters.append(_Letter(bent, (int(corner[0]), int(corner[1]))))
    pair = _Pair(*letters)
    share = max(_overlaps(pair, config.dilation))
    return pair if config.least_overlap <= share < config.most_overlap else None


def _apart(letters: _Pair, gap: int) -> bool:
    """Whether the letters' boxes are more than a gap apart, so that no drawing is needed."""
    corner = np.array([letter.corner for letter in letters])
    far = corner + [extent(letter.shapes) for letter in letters]
    return bool((corner.max(0) - far.min(0) > gap).any())


def _overlaps(letters: _Pair, dilation: int) -> list[float]:
    """Share of each dilated letter that the other one covers."""
    if _apart(letters, 2 * (dilation + 2 * _CELL)):
        return [0.0, 0.0]
    one, two = (_silhouette(letter, dilation) for letter in letters)
    here, there = ([place // _CELL for place in letter.corner] for letter in letters)
    top, left = max(here[0], there[0]), max(here[1], there[1])
    bottom = min(here[0] + one.shape[0], there[0] + two.shape[0])
    right = min(here[1] + one.shape[1], there[1] + two.shape[1])
    if bottom <= top or right <= left:
        return [0.0, 0.0]
    both = one[top - here[0] : bottom - here[0], left - here[1] : right - here[1]]
    both = both & two[top - there[0] : bottom - there[0], left - there[1] : right - there[1]]
    return [float(both.sum() / one.sum()), float(both.sum() / two.sum())]


def _pixelate(letter: _Letter, config: CabcConfig, rng: np.random.Generator) -> _Mask:
    """The letter as square blocks, some missing, all a little out of place."""
    step = config.block * RASTER
    # Only the blocks that the letter touches; the grid is the canvas' own.
    first = [place // config.block for place in letter.corner]
    inset = [place % config.block for place in letter.corner]
    size = [-(-(a + b) // config.block) for a, b in zip(extent(letter.shapes), inset, strict=True)]
    moved = replace(letter.shapes, corners=letter.shapes.corners + inset)
    ink = fill(moved, (size[0] * config.block, size[1] * config.block), RASTER)
    columns = ink.reshape(size[0], step, -1).sum(axis=1)
    covered = columns.reshape(size[0], size[1], step).sum(axis=2) / step**2
    blocks = (np.argwhere(covered > config.block_threshold) + first) * config.block
    blocks = blocks[rng.random(len(blocks)) >= config.omit]
    cut = config.block_cut / config.block_sigma
    moves = rng.normal(size=blocks.shape)
    moves = np.rint(np.clip(moves, -cut, cut) * config.block_sigma).astype(int)
    inside = np.clip(blocks + moves, 0, config.size - config.block)
    out = np.zeros((config.size, config.size), bool)
    grid = np.arange(config.block)
    out[inside[:, 0, None, None] + grid[:, None], inside[:, 1, None, None] + grid] = True
    return out


def _pick(
    pixels: Int[np.ndarray, "pixels 2"], size: int, rng: np.random.Generator
) -> Int[np.ndarray, "2"]:
    """One of the pixels, by a Gaussian around the canvas centre with sigma a third of it."""
    distance = ((pixels - size / 2) ** 2).sum(axis=1)
    total = np.cumsum(np.exp(-distance / (2 * (size / 3) ** 2)))
    return pixels[np.searchsorted(total, rng.random() * total[-1], side="right")]


def _clear_of(mine: _Mask, other: _Mask, radius: int) -> Int[np.ndarray, "pixels 2"]:
    """The pixels of one letter at least `radius` from the other."""
    rows, cols = np.nonzero(other)
    # Farther than that from the other's bounding box nothing can be near.
    near = (
        slice(max(rows.min() - radius, 0), rows.max() + radius + 1),
        slice(max(cols.min() - radius, 0), cols.max() + radius + 1),
    )
    clear = mine.copy()
    clear[near] &= distance_to(other[near]) >= radius
    return np.argwhere(clear)


def _markers(
    masks: list[_Mask], label: int, config: CabcConfig, rng: np.random.Generator
) -> Int[np.ndarray, "2 2"] | None:
    """The first marker on letter A, the second on A or B, each clear of the other letter."""
    alone = [_clear_of(mine, other, config.marker_radius) for mine, other in (masks, masks[::-1])]
    if not all(map(len, alone)):
        return None
    for _ in range(_MARKER_TRIES):
        first = _pick(alone[0], config.size, rng)
        apart = [np.hypot(*(pixels - first).T) for pixels in alone]
        # A distance at which both letters offer a place: it must not give the answer away.
        most = min(apart[0].max(), apart[1].max())
        wanted = rng.uniform(2 * config.marker_radius, max(most, 2 * config.marker_radius))
        near = [np.abs(gaps - wanted) <= 1 for gaps in apart]
        if all(hits.any() for hits in near):
            letter = 0 if label else 1
            return np.stack([first, rng.choice(alone[letter][near[letter]])])
    return None


def _draw(
    masks: list[_Mask], markers: Int[np.ndarray, "2 2"], config: CabcConfig
) -> UInt8[np.ndarray, "rows cols"]:
    """Both letters in white, a ring around every marker: a white disc with black inside."""
    pad = config.marker_radius + 4
    image = np.pad((masks[0] | masks[1]).astype(np.uint8) * 255, pad)
    outer = disc_sprite(float(config.marker_radius), 4, 4).astype(np.float32) / 255
    inside = float(config.marker_radius - config.marker_ring)
    inner = disc_sprite(inside, 4, 4 + config.marker_ring).astype(np.float32) / 255
    for row, col in markers + pad:
        half = outer.shape[0] // 2
        window = image[row - half : row + half + 1, col - half : col + half + 1]
        lit = np.maximum(window, 255 * outer) * (1 - inner)
        window[:] = np.rint(lit).astype(np.uint8)
    return image[pad:-pad, pad:-pad].copy()


def make_cabc(config: CabcConfig, seed: int, row: int) -> CabcRow:
    """Row `row` of the endless data set that `config` and `seed` define.

    >>> one = make_cabc(LEVELS["easy"], seed=0, row=3)
    >>> one.image.shape, sorted(set(one.letters.ravel().tolist()))[:3]
    ((350, 350), [0, 1, 2])
    """
    rng = generator(config.stream, seed, row)
    label = int(rng.integers(0, 2))
    face = int(rng.integers(len(load_faces(config.fonts))))
    categories = rng.integers(0, len(LETTERS), 2)
    pen = (config.cap_height, config.thickness)
    outlines = [_outline(config.fonts, face, int(c), *pen) for c in categories]
    for _ in range(_FRESH_STARTS):
        spots = _spots(config, rng)
        for _ in range(_SHAPE_TRIES):
            letters = _pair(outlines, spots, config, rng)
            if letters is None:
                continue
            masks = [_pixelate(letter, config, rng) for letter in letters]
            # A letter shrunk to a hair may leave no block at all.
            whole = all(mask.any() for mask in masks)
            markers = _markers(masks, label, config, rng) if whole else None
            if markers is not None:
                image = _draw(masks, markers, config)
                joined = masks[0].astype(np.uint8) | (masks[1].astype(np.uint8) << 1)
                return CabcRow(image, joined, label, categories, markers)
    raise ValueError("cabc: no placement satisfies the overlap limits; widen them or the radius")
