"""The cABC generator: two bent, broken, barely overlapping letters and two ring markers."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Int, UInt8

from mam.data.letters import LETTERS, Face, load_faces
from mam.data.raster import disc_sprite, distance_to
from mam.data.schema import CabcRow
from mam.data.warp import RASTER, Affine, Spread, bend, combine, draw_affine, draw_letter, outline

_Mask = Bool[np.ndarray, "rows cols"]
_WIDE = Spread(scale=0.5, rotation=30.0, shear=0.2)
_NONE = Spread(scale=0.001, rotation=0.001, shear=0.001)
_HALF = Spread(scale=0.5 / 2**0.5, rotation=30.0 / 2**0.5, shear=0.2 / 2**0.5)


@dataclass(frozen=True)
class CabcConfig:
    """How cABC images are made; defaults are the published generator's values (hard)."""

    size: int = 350  # px, side of the square canvas
    cap_height: float = 138.0  # px, height of a capital letter before it is bent (measured)
    thickness: float = 7.0  # px, stroke of a letter before it is bent
    common: Spread = _NONE  # the part of the transform that both letters share
    own: Spread = _WIDE  # the part of each letter
    radius: tuple[float, float] = (30.0, 80.0)  # px, from the canvas centre to a letter's
    least_angle: float = 60.0  # degrees between the letters as seen from the canvas centre
    bumps: int = 10  # of the distortion landscape
    bump_sigma: float = 109.5  # px, root of the variance 12000
    push: float = 0.0384  # px per grey level and px of slope, per px of the longer side:
    # 0.24 x 128 (gain of a 5 x 5 Sobel) / 200, at 4 x scale, hence / 4
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


LEVELS = {
    "easy": CabcConfig(common=_WIDE, own=_NONE, radius=(50.0, 60.0), least_angle=170.0),
    "medium": CabcConfig(common=_HALF, own=_HALF, radius=(40.0, 70.0), least_angle=110.0),
    "hard": CabcConfig(),
}

_SHAPE_TRIES = 200  # pairs of letters before the configuration is called impossible
_PLACE_TRIES = 100  # placements of one pair of letters: a difficult pair is not given up lightly


@dataclass(frozen=True)
class _Letter:
    """One drawn letter and its dilated silhouette, both centred on the same point."""

    ink: Bool[np.ndarray, "fine_rows fine_cols"]  # at RASTER sub-pixels per pixel
    grown: Bool[np.ndarray, "rows cols"]  # at one pixel, `dilation` px larger on every side


def _letter(
    face: Face, category: int, affine: Affine, config: CabcConfig, rng: np.random.Generator
) -> _Letter:
    lines = [line * config.cap_height for line in face[LETTERS[category]]]
    shapes = outline(lines, config.thickness)
    ink = draw_letter(bend(shapes, affine, rng, config.bumps, config.bump_sigma, config.push))
    coarse = ink.reshape(ink.shape[0] // RASTER, RASTER, ink.shape[1] // RASTER, RASTER)
    padded = np.pad(coarse.any(axis=(1, 3)), config.dilation)
    return _Letter(ink, distance_to(padded) <= config.dilation)


def _place(
    letters: list[_Letter], config: CabcConfig, rng: np.random.Generator
) -> list[tuple[int, int]] | None:
    """Top left corners (px) of the letters' ink on the canvas, or None if this throw fails."""
    first = rng.uniform(0, 360)
    second = first + rng.uniform(config.least_angle, 360 - config.least_angle)
    corners = []
    for letter, angle in zip(letters, np.radians([first, second]), strict=True):
        radius = rng.uniform(*config.radius)
        centre = config.size / 2 + radius * np.array([np.sin(angle), np.cos(angle)])
        size = np.array(letter.ink.shape) // RASTER
        corner = np.rint(centre - size / 2).astype(int)
        if (corner < 0).any() or (corner + size > config.size).any():
            return None
        corners.append((int(corner[0]), int(corner[1])))
    shares = _overlaps(letters, corners)
    fits = max(shares) >= config.least_overlap and max(shares) < config.most_overlap
    return corners if fits else None


def _overlaps(letters: list[_Letter], corners: list[tuple[int, int]]) -> list[float]:
    """Share of each dilated letter that the other one covers."""
    (one, two), (here, there) = (letter.grown for letter in letters), corners
    top, left = max(here[0], there[0]), max(here[1], there[1])
    bottom = min(here[0] + one.shape[0], there[0] + two.shape[0])
    right = min(here[1] + one.shape[1], there[1] + two.shape[1])
    if bottom <= top or right <= left:
        return [0.0, 0.0]
    both = one[top - here[0] : bottom - here[0], left - here[1] : right - here[1]]
    both = both & two[top - there[0] : bottom - there[0], left - there[1] : right - there[1]]
    return [float(both.sum() / one.sum()), float(both.sum() / two.sum())]


def _pixelate(
    letter: _Letter, corner: tuple[int, int], config: CabcConfig, rng: np.random.Generator
) -> _Mask:
    """The letter as square blocks, some missing, all a little out of place."""
    cells = -(-config.size // config.block)
    side = cells * config.block * RASTER
    canvas = np.zeros((side, side), bool)
    top, left = corner[0] * RASTER, corner[1] * RASTER
    canvas[top : top + letter.ink.shape[0], left : left + letter.ink.shape[1]] = letter.ink
    step = config.block * RASTER
    covered = canvas.reshape(cells, step, cells, step).mean(axis=(1, 3))
    blocks = np.argwhere(covered > config.block_threshold) * config.block
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


def _markers(
    masks: list[_Mask], label: int, config: CabcConfig, rng: np.random.Generator
) -> Int[np.ndarray, "2 2"] | None:
    """The first marker on letter A, the second on A or B, each clear of the other letter."""
    alone = [
        np.argwhere(mine & (distance_to(other) >= config.marker_radius))
        for mine, other in (masks, masks[::-1])
    ]
    if not all(map(len, alone)):
        return None
    first = _pick(alone[0], config.size, rng)
    apart = [np.hypot(*(pixels - first).T) for pixels in alone]
    # A distance at which both letters offer a place: it must not give the answer away.
    least = max(2.0 * config.marker_radius, apart[0].min(), apart[1].min())
    most = min(apart[0].max(), apart[1].max())
    if most <= least:
        return None
    wanted = rng.uniform(least, most)
    near = [np.abs(gaps - wanted) <= 1 for gaps in apart]
    if not all(hits.any() for hits in near):
        return None
    letter = 0 if label else 1
    return np.stack([first, rng.choice(alone[letter][near[letter]])])


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
    rng = np.random.default_rng([seed, row])
    label = int(rng.integers(0, 2))
    faces = load_faces(config.fonts)
    for _ in range(_SHAPE_TRIES):
        face = faces[rng.integers(len(faces))]
        categories = rng.integers(0, len(LETTERS), 2)
        common = draw_affine(rng, config.common)
        letters = [
            _letter(face, int(c), combine(common, draw_affine(rng, config.own)), config, rng)
            for c in categories
        ]
        for _ in range(_PLACE_TRIES):
            corners = _place(letters, config, rng)
            if corners is None:
                continue
            masks = [_pixelate(*pair, config, rng) for pair in zip(letters, corners, strict=True)]
            markers = _markers(masks, label, config, rng)
            if markers is not None:
                image = _draw(masks, markers, config)
                joined = masks[0].astype(np.uint8) | (masks[1].astype(np.uint8) << 1)
                return CabcRow(image, joined, label, categories, markers)
    raise ValueError("cabc: no placement satisfies the overlap limits; widen them or the radius")
