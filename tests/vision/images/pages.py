"""Drawn lines on all sorts of paper, with the truth of what is ink."""

import io
from collections.abc import Callable

import numpy as np
from PIL import Image, ImageDraw
from scipy import ndimage

from mam.data.images import read_picture

ROWS, COLS = 240, 320
_FINE = 4  # lines are drawn this many times larger, then reduced: grey borders, as pens leave them

Light = Callable[[np.random.Generator], np.ndarray]


def lines(random: np.random.Generator, count: int, width: float) -> np.ndarray:
    """How much of each pixel each of some smooth lines covers."""
    covered = []
    for _ in range(count):
        knots = random.uniform(0.08, 0.92, (5, 2)) * (ROWS, COLS)
        knots[:, 1] = np.sort(knots[:, 1])
        at = np.linspace(0, 4, 400)
        course = np.stack([np.interp(at, np.arange(5), column) for column in knots.T], 1)
        course = ndimage.gaussian_filter1d(course, 25, axis=0, mode="nearest")
        canvas = Image.new("L", (COLS * _FINE, ROWS * _FINE))
        pen = ImageDraw.Draw(canvas)
        points = [tuple((point[::-1] + 0.5) * _FINE) for point in course]
        pen.line(points, fill=255, width=round(width * _FINE), joint="curve")
        covered.append(np.asarray(canvas.reduce(_FINE)) / 255.0)
    return np.stack(covered)


def even(random: np.random.Generator) -> np.ndarray:
    return np.ones((ROWS, COLS))


def shadow(random: np.random.Generator) -> np.ndarray:
    """A sharp shadow: of what is on one side of a line, or a disc."""
    rows, cols = np.mgrid[:ROWS, :COLS]
    angle, depth = random.uniform(0, np.pi), random.uniform(0.35, 0.6)
    beside = (rows - ROWS / 2) * np.sin(angle) + (cols - COLS / 2) * np.cos(angle) > 0
    disc = np.hypot(rows - ROWS / 2, cols - COLS / 2) < random.uniform(60, 110)
    dim = np.where(disc if random.uniform() < 0.5 else beside, depth, 1.0)
    return ndimage.gaussian_filter(dim, random.choice([0.7, 3.0]))


def gradient(random: np.random.Generator) -> np.ndarray:
    rows, cols = np.mgrid[-1 : 1 : ROWS * 1j, -1 : 1 : COLS * 1j]
    angle = random.uniform(0, 2 * np.pi)
    along = (rows * np.sin(angle) + cols * np.cos(angle)) / np.sqrt(2)
    return 0.62 + 0.36 * along


def texture(random: np.random.Generator) -> np.ndarray:
    """Fibres of paper: smooth noise of several sizes."""
    sizes = ((0.7, 0.02), (2.0, 0.02), (8.0, 0.03))
    fields = [ndimage.gaussian_filter(random.normal(size=(ROWS, COLS)), s) for s, _ in sizes]
    return 0.94 + sum(
        share * field / field.std() for (_, share), field in zip(sizes, fields, strict=True)
    )


LIGHTS: dict[str, Light] = {
    "even": even,
    "shadow": shadow,
    "gradient": gradient,
    "texture": texture,
}


def page(
    kind: str,
    seed: int,
    *,
    width: float = 4.0,
    dark: bool = True,
    quality: int | None = None,
    colours: bool = False,
    noise: float = 1.5,
) -> tuple[np.ndarray, np.ndarray]:
    """A picture of lines under some light, and which pixels are ink by half or more."""
    random = np.random.default_rng(seed)
    cover = lines(random, 4, width)
    paper, pen = (235.0, 45.0) if dark else (25.0, 225.0)
    flat = np.full((ROWS, COLS, 3), paper)
    for k, one in enumerate(cover):
        ink = np.array(_INKS[k % len(_INKS)]) if colours else np.full(3, pen)
        flat += one[..., None] * (ink - flat)
    lit = flat * LIGHTS[kind](random)[..., None]
    seen = lit + random.normal(0, noise, (ROWS, COLS, 1 if not colours else 3))
    picture = np.clip(np.rint(seen), 0, 255).astype(np.uint8)
    picture = picture if colours else picture[..., 0]
    if quality is not None:
        out = io.BytesIO()
        Image.fromarray(picture).save(out, "JPEG", quality=quality)
        picture = read_picture(out.getvalue())
    return picture, cover.max(0) >= 0.5


# As plots have them: two of them are hardly darker than paper.
_INKS = ((31, 119, 180), (255, 127, 14), (44, 160, 44), (230, 200, 40))


def overlap(one: np.ndarray, other: np.ndarray) -> float:
    """Intersection over union."""
    return float((one & other).sum() / max((one | other).sum(), 1))
