"""Photographs are told from drawings, plots and scans."""

import io

import numpy as np
import pytest
from PIL import Image
from scipy import ndimage
from skimage import data

from mam.core.resize import scaled
from mam.data import make_row, read_picture, recipe
from mam.data.pixels import grey
from mam.vision.images.photograph import is_photograph

CAMERA = ("astronaut", "camera", "chelsea", "coffee", "coins", "grass", "gravel", "moon", "rocket")


def as_jpeg(pixels: np.ndarray, quality: int) -> np.ndarray:
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "JPEG", quality=quality)
    return grey(read_picture(out.getvalue()))


def test_most_photographs_are_known() -> None:
    known = [
        is_photograph(as_jpeg(scaled(grey(getattr(data, name)()), scale), quality))
        for name in CAMERA
        for scale, quality in ((1.0, 90), (0.6, 60))
    ]
    assert np.mean(known) >= 0.8  # 85 % of the many of `bench.look_alike`


def plot(kind: str) -> np.ndarray:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    random, figure = np.random.default_rng(0), Figure(figsize=(4, 3))
    canvas, axes = FigureCanvasAgg(figure), figure.subplots()
    if kind == "lines":
        axes.plot(random.normal(size=(200, 4)).cumsum(0))
    elif kind == "points":
        axes.scatter(*random.normal(size=(2, 300)), alpha=0.5)
    else:
        axes.bar(range(8), random.uniform(size=8), color=["C0", "C1", "C2", "C3"] * 2)
        axes.grid(True)
    canvas.draw()
    return grey(np.asarray(canvas.buffer_rgba())[..., :3].copy())


def drawn(kind: str) -> np.ndarray:
    if kind == "dashes":
        return 255 - make_row(recipe("pathfinder", "hard", 5), 0).clean
    if kind == "letters":
        return 255 - make_row(recipe("cabc", "hard", 5), 0).image
    if kind == "curves":
        mask = make_row(recipe("curves", "hard", 5), 0).mask
        return np.where(mask, 30, 240).astype(np.uint8)
    return plot(kind)


@pytest.mark.parametrize("kind", ["dashes", "letters", "curves", "lines", "points", "bars"])
def test_drawings_and_plots_are_none(kind: str) -> None:
    picture = drawn(kind)
    for version in (picture, 255 - picture, as_jpeg(picture, 75)):
        assert not is_photograph(version)
    # A scan: uneven light, a little blur and noise.
    light = np.linspace(0.7, 1, picture.shape[1])
    paper = 15 + 0.85 * light * ndimage.gaussian_filter(picture.astype(float), 0.6)
    noise = np.random.default_rng(0).normal(0, 2, picture.shape)
    assert not is_photograph(as_jpeg(np.clip(paper + noise, 0, 255).astype(np.uint8), 85))
