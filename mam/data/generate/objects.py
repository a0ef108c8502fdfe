"""The objects generator: textured things in clutter, each scene a pose, each frame a view of it.

An object is a plate with patches of colour; it depends on the seed and its number alone. A scene
shows one object, turned, scaled and sheared, over a background of clutter: discs and bars of any
colour, like the patches of the objects. Its frames differ as views of a moved camera do.
"""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float
from PIL import Image, ImageDraw
from scipy import ndimage

from mam.data.generate.draws import generator
from mam.data.schema import ObjectRow

_SIDE = 160  # px of the canvas that a texture is drawn on
_SHIFT = 40  # px by which frames differ at most, at a view of 1
_SMOOTH = 2  # times larger while drawing, for smooth borders

Colours = Float[np.ndarray, "rows cols 3"]


@dataclass(frozen=True)
class ObjectsConfig:
    """How pictures of objects are made. Values are ours."""

    rows: int = 240  # px
    cols: int = 320  # px
    objects: int = 4  # different ones, in turn from scene to scene
    frames: int = 5  # views of a scene
    size: tuple[float, float] = (0.8, 1.2)  # of an object; 1 is 100 px
    turn: float = 10.0  # degrees, at most to either side
    shear: float = 0.1  # at most
    view: float = 0.25  # 0..1, share of these ranges by which frames of a scene differ
    clutter: tuple[int, int] = (10, 20)  # things in the background
    noise: float = 0.02  # sigma, of brightness
    stream: int = 0  # of random numbers; every level has its own

    def __post_init__(self) -> None:
        if min(self.rows, self.cols) < 160:
            raise ValueError(f"{self.rows} x {self.cols}: the canvas needs 160 px at least")
        if not 0 <= self.view <= 1:
            raise ValueError(f"view {self.view}: it must lie in 0..1")
        if self.objects < 1 or self.frames < 1:
            raise ValueError("objects and frames: at least one of each")
        if not 0.2 <= self.size[0] <= self.size[1] <= 1.5:
            raise ValueError(f"size {self.size}: least and most must lie in 0.2..1.5")


_EASY = ObjectsConfig(turn=5.0, shear=0.05, size=(0.9, 1.1), clutter=(3, 8), noise=0.01)
LEVELS = {
    "easy": replace(_EASY, stream=1),
    "medium": ObjectsConfig(stream=2),
    "hard": ObjectsConfig(stream=3, turn=25.0, shear=0.2, size=(0.7, 1.4), clutter=(20, 40)),
}


def make_objects(config: ObjectsConfig, seed: int, row: int) -> ObjectRow:
    """Row `row` of the endless data set that `config` and `seed` define.

    >>> one = make_objects(ObjectsConfig(), seed=0, row=7)
    >>> one.image.shape, one.name, one.scene, one.frame
    ((240, 320, 3), 'object-1', 'scene-0001', 2)
    """
    scene, frame = divmod(row, config.frames)
    number = scene % config.objects
    # Background and pose belong to the scene, so they come from the number of its first frame.
    of_scene = generator(config.stream, seed, scene * config.frames, 1)
    of_frame = generator(config.stream, seed, row, 2)
    wide = _background(config, of_scene)
    pose = of_scene.uniform(-1, 1, 6) + config.view * of_frame.uniform(-1, 1, 6)
    place = np.clip(pose, -1, 1)
    shift = np.rint(config.view * of_frame.uniform(-_SHIFT, _SHIFT, 2)).astype(int)
    top, left = _SHIFT - shift
    canvas = wide[top : top + config.rows, left : left + config.cols]
    texture, shape = _object(np.random.default_rng([seed, number, 3]))
    centre = np.array([config.rows, config.cols]) * (0.5 + 0.2 * place[:2]) + shift
    canvas, mask = _laid_on(canvas, texture, shape, _affine(config, place[2:]), centre)
    canvas = canvas + of_frame.normal(0.0, config.noise, canvas.shape)
    image = np.rint(np.clip(canvas, 0, 1) * 255).astype(np.uint8)
    return ObjectRow(image, mask, f"object-{number}", f"scene-{scene:04d}", frame)


def _affine(config: ObjectsConfig, pose: Float[np.ndarray, "4"]) -> Float[np.ndarray, "2 2"]:
    """The map from an object's own coordinates to the picture's."""
    least, most = np.log(config.size)
    scale = np.exp(least + (most - least) * (pose[0] + 1) / 2)
    angle = np.radians(config.turn * pose[1])
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    shear = np.array([[1.0, config.shear * pose[2]], [config.shear * pose[3], 1.0]])
    return scale * turn @ shear


def _object(
    rng: np.random.Generator,
) -> tuple[Float[np.ndarray, "side side 3"], Bool[np.ndarray, "side side"]]:
    """Texture and shape: a plate with five to eight corners, its patches well apart in colour."""
    corners = int(rng.integers(5, 9))
    angle = np.sort(rng.uniform(0, 0.6, corners) + np.arange(corners)) * 2 * np.pi / corners
    radius = rng.uniform(38, 58, corners) * _SMOOTH
    middle = _SIDE * _SMOOTH / 2
    outline = np.stack([middle + radius * np.cos(angle), middle + radius * np.sin(angle)], 1)
    shape = Image.new("1", (_SIDE * _SMOOTH, _SIDE * _SMOOTH))
    ImageDraw.Draw(shape).polygon([tuple(point) for point in outline.tolist()], fill=1)
    texture = _patches(rng, (_SIDE, _SIDE), int(rng.integers(14, 22)), (8.0, 26.0))
    small = np.asarray(shape.resize((_SIDE, _SIDE), Image.Resampling.NEAREST))
    return texture, small


def _background(config: ObjectsConfig, rng: np.random.Generator) -> Colours:
    count = int(rng.integers(config.clutter[0], config.clutter[1] + 1))
    shape = config.rows + 2 * _SHIFT, config.cols + 2 * _SHIFT
    return _patches(rng, shape, count, (8.0, 50.0))


def _patches(
    rng: np.random.Generator, shape: tuple[int, int], count: int, size: tuple[float, float]
) -> Colours:
    """Discs and bars of random colours over a slope of brightness."""
    rows, cols = shape
    picture = Image.new("RGB", (cols * _SMOOTH, rows * _SMOOTH), _colour(rng))
    pen = ImageDraw.Draw(picture)
    for _ in range(count):
        x, y = rng.uniform(0, 1, 2) * (cols, rows) * _SMOOTH
        long, wide = np.sort(rng.uniform(*size, 2))[::-1] * _SMOOTH
        if rng.random() < 0.4:
            pen.ellipse([x - wide, y - wide, x + wide, y + wide], fill=_colour(rng))
        else:
            angle = rng.uniform(0, np.pi)
            along = np.array([np.cos(angle), np.sin(angle)]) * long
            across = np.array([-np.sin(angle), np.cos(angle)]) * wide / 3
            corners = [along + across, along - across, -along - across, -along + across]
            pen.polygon([(x + end[0], y + end[1]) for end in corners], fill=_colour(rng))
    small = np.asarray(picture.resize((cols, rows), Image.Resampling.BOX), float) / 255
    top, bottom = rng.uniform(0.8, 1.1, 2)
    slope = np.linspace(top, bottom, rows)[:, None, None]
    return small * slope


def _colour(rng: np.random.Generator) -> tuple[int, int, int]:
    red, green, blue = rng.integers(20, 236, 3).tolist()
    return red, green, blue


def _laid_on(
    canvas: Colours,
    texture: Float[np.ndarray, "side side 3"],
    shape: Bool[np.ndarray, "side side"],
    turn: Float[np.ndarray, "2 2"],
    centre: Float[np.ndarray, "2"],
) -> tuple[Colours, Bool[np.ndarray, "rows cols"]]:
    """The picture with an object on it, and the object's pixels."""
    back = np.linalg.inv(turn)
    start = _SIDE / 2 - back @ centre
    size = canvas.shape[:2]

    def warped(values: np.ndarray) -> np.ndarray:
        return ndimage.affine_transform(values, back, tuple(start), size, order=1)  # type: ignore

    cover = warped(shape.astype(float))
    layers = [warped(texture[..., colour]) for colour in range(3)]
    share = cover[..., None]
    return canvas * (1 - share) + np.stack(layers, -1) * share, cover > 0.5
