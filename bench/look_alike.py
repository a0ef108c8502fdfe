"""How well photographs are told from drawings, plots and scans: `python -m bench.look_alike`."""

import io
from collections.abc import Callable, Iterator

import numpy as np
from PIL import Image
from scipy import ndimage
from skimage import data

from mam.core.resize import scaled
from mam.data import make_row, read_picture, recipe
from mam.data.pixels import grey
from mam.vision.images.photograph import is_photograph

# They come with scikit-image; its others are scans, drawings, or have to be downloaded.
PHOTOGRAPHS = (
    *("astronaut", "brick", "camera", "chelsea", "clock", "coffee", "coins", "grass", "gravel"),
    *("hubble_deep_field", "immunohistochemistry", "moon", "rocket", "cell"),
)
CROPS = 6


def as_jpeg(pixels: np.ndarray, quality: int) -> np.ndarray:
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "JPEG", quality=quality)
    return grey(read_picture(out.getvalue()))


def photographs(random: np.random.Generator) -> Iterator[tuple[str, np.ndarray]]:
    """Crops of photographs at several scales, as JPEG."""
    for name in PHOTOGRAPHS:
        whole = grey(getattr(data, name)())
        yield name, as_jpeg(whole, 90)
        for _ in range(CROPS):
            side = int(random.uniform(0.4, 1) * min(whole.shape))
            top, left = (int(random.integers(n - side + 1)) for n in whole.shape)
            part = whole[top : top + side, left : left + side]
            scale = random.uniform(0.5, 1.5)
            yield name, as_jpeg(scaled(part, scale), int(random.integers(50, 98)))


def drawings(random: np.random.Generator) -> Iterator[tuple[str, np.ndarray]]:
    """Drawings, plots and scans of them: uneven light, blur, noise, JPEG."""
    for number in range(12):
        for kind, draw in SOURCES.items():
            clean = draw(number, random)
            yield kind, clean
            yield f"{kind}, inverted", 255 - clean
            yield f"{kind}, JPEG", as_jpeg(clean, int(random.integers(50, 95)))
            yield f"{kind}, scanned", scanned(clean, random)


def scanned(clean: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """A drawing in uneven light, a little blurred and noisy, as JPEG."""
    blurred = ndimage.gaussian_filter(clean.astype(float), random.uniform(0.3, 1.5))
    rows, cols = np.meshgrid(*(np.linspace(-1, 1, n) for n in clean.shape), indexing="ij")
    slope = random.uniform(-0.2, 0.2, 2)
    light = 0.8 + slope[0] * rows + slope[1] * cols
    paper = 20 + 0.85 * blurred * light + random.normal(0, random.uniform(0, 6), clean.shape)
    return as_jpeg(np.clip(paper, 0, 255).astype(np.uint8), int(random.integers(60, 95)))


def dashes(number: int, random: np.random.Generator) -> np.ndarray:
    return 255 - make_row(recipe("pathfinder", "hard", 91), number).clean


def curves(number: int, random: np.random.Generator) -> np.ndarray:
    level = ("easy", "medium", "hard")[number % 3]
    mask = make_row(recipe("curves", level, 91), number).mask
    return np.where(mask, 30, 240).astype(np.uint8)


def letters(number: int, random: np.random.Generator) -> np.ndarray:
    return 255 - make_row(recipe("cabc", "easy", 91), number).image


def plot(number: int, random: np.random.Generator) -> np.ndarray:
    """A plot as matplotlib draws it."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=random.uniform(3, 7, 2), dpi=float(random.uniform(60, 130)))
    canvas, axes = FigureCanvasAgg(figure), figure.subplots()
    if number % 3 == 0:
        figure.set_facecolor("black" if number % 2 else "white")
        axes.set_facecolor("black" if number % 2 else "#eeeeee")
    _fill(axes, number, random)
    canvas.draw()
    return grey(np.asarray(canvas.buffer_rgba())[..., :3].copy())


def _fill(axes, number: int, random: np.random.Generator) -> None:
    x = np.linspace(0, 10, 200)
    if number % 4 == 0:
        for _ in range(4):
            axes.plot(x, random.normal(size=200).cumsum(), linewidth=random.uniform(0.5, 4))
    elif number % 4 == 1:
        axes.scatter(*random.normal(size=(2, 300)), s=random.uniform(5, 60))
    elif number % 4 == 2:
        axes.bar(range(8), random.uniform(size=8), color=["C0", "C1", "C2", "C3"] * 2)
        axes.grid(True)
    else:
        axes.fill_between(x, np.sin(x), alpha=0.4)
        axes.hist(random.normal(5, 2, 500), density=True, histtype="step")


def printed(number: int, random: np.random.Generator) -> np.ndarray:
    """Crops of scanned print."""
    whole = (data.page, data.text)[number % 2]()
    side = int(random.uniform(0.6, 1) * min(whole.shape))
    top, left = (int(random.integers(n - side + 1)) for n in whole.shape)
    return whole[top : top + side, left : left + side]


SOURCES: dict[str, Callable[[int, np.random.Generator], np.ndarray]] = {
    "dashes": dashes,
    "curves": curves,
    "letters": letters,
    "plot": plot,
    "print": printed,
}


def main() -> None:
    random = np.random.default_rng(1)
    for kind, pictures in (("photographs", photographs), ("drawings", drawings)):
        found: dict[str, list[bool]] = {}
        for name, picture in pictures(random):
            found.setdefault(name, []).append(is_photograph(picture))
        everything = [one for own in found.values() for one in own]
        print(f"{kind}: {np.mean(everything):.3f} of {len(everything)} taken for photographs")
        for name, own in found.items():
            print(f"  {name:24}{np.mean(own):.2f}")


if __name__ == "__main__":
    main()
