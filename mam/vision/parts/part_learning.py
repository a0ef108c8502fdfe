r"""Learn object parts from a few binary images, without supervision.

1. Discovery: max-product over placements, weights and pixels of small windows
   (:mod:`mam.vision.parts.discover`; paper, "Learning object parts from binary images").
2. Ascent on the same joint score over the whole images: sparsify, toggle weights, and start afresh
   parts that are hardly missed (:mod:`mam.vision.parts.joint`). The score never falls.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int
from scipy import ndimage

from mam.core.estimator import Estimator
from mam.core.progress import Tell
from mam.data.raster import disc
from mam.factors.numeric_limits import limit
from mam.vision.parts.discover import Discovery, discover
from mam.vision.parts.joint import (
    Arrangement,
    Canvas,
    Masks,
    covered,
    image_scores,
    joint_score,
    recentre,
    relocate_many,
    settle,
)
from mam.vision.parts.masks import PATHFINDER, Noise, Parts
from mam.vision.parts.placements import Placements
from mam.vision.parts.sparsifier import Sparsifier

BinaryImages = Sequence[Bool[np.ndarray, "_ _"]]

_SWEEPS = 50  # of weights and sites between two looks at the whole images; it rests far sooner


@dataclass(frozen=True)
class PartLearningConfig:
    """How parts are learned; the defaults are those for pathfinder."""

    count: int = 16  # part types (paper, "Pathfinder", Model)
    side: int = 7  # px of a patch, odd (released settings)
    # Whether parts keep to the circle in their patch; None: a single one does, as it has to serve
    # all directions.
    round: bool | None = None
    windows: int = 64  # windows a discovery sees; it needs to meet every shape a few times
    surround: int = 4  # px that a window shows around a patch at its middle: a stroke and its gaps
    iterations: int = 200  # of max-product in a discovery, at most; most rest after 150
    damping: float = 0.5  # share of the old message (as in the paper's attention model)
    tolerance: float = 1e-3  # rest: no message of a discovery moves by more
    symmetry: float = 8.0  # scale of the logistic noise on the weights' prior, log odds
    discoveries: int = 2  # the first anywhere, the others where no part explains the image
    starts: int = 2  # the parts with the best joint score are kept
    rounds: int = 4  # of sparsifying, toggling weights and relocating parts
    proposals: int = 80  # relocations tried in a round

    def __post_init__(self) -> None:
        positive = ("count", "windows", "iterations", "discoveries", "rounds", "starts")
        for name in positive:
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, not {getattr(self, name)}")
        if self.side < 3 or self.side % 2 == 0:
            raise ValueError(f"the side of a part must be odd and at least 3, not {self.side}")
        if not 0 <= self.surround <= self.side:
            raise ValueError(f"surround must lie in 0..{self.side} (the side), not {self.surround}")
        if not 0 <= self.damping < 1:
            raise ValueError(f"damping must lie in [0, 1), not {self.damping}")

    @property
    def support(self) -> Bool[np.ndarray, "side side"]:
        """The pixels of a patch that a part may have."""
        is_round = self.count == 1 if self.round is None else self.round
        return disc(self.side // 2) if is_round else np.ones((self.side, self.side), bool)


_CONFIG = PartLearningConfig()


class PartLearner(Estimator):
    """Learn parts from binary images of any sizes; the same ``seed`` gives the same parts.

    ``noise`` is that of the images; the parts carry it on. Learned: the parts ``parts_``;
    ``usage_``, the placements of each on the images; ``history_``, the joint score after discovery
    and after every round; how many parts were started afresh (``replaced_``), and how many
    no image needed (``dropped_``). ``Sparsifier(learner.parts_)`` explains images by them.
    """

    parts_: Parts
    usage_: Int[np.ndarray, " types"]
    history_: tuple[float, ...]
    replaced_: int
    dropped_: int

    def __init__(
        self,
        config: PartLearningConfig = _CONFIG,
        *,
        noise: Noise = PATHFINDER,
        seed: int = 0,
    ) -> None:
        self.config = config
        self.noise = noise
        self.seed = seed

    def fit(
        self,
        images: BinaryImages,
        y: None = None,
        *,
        progress: Tell = lambda stage, share: None,
        source: Mapping[str, Any] | None = None,
    ) -> "PartLearner":
        """Learn; about ten images with some hundred parts in them are enough.

        ``progress`` is called with the stage and the share that is done. ``source`` says where the
        images come from, and is kept in the parts' provenance.
        """
        config, noise, seed = self.config, self.noise, self.seed
        check_images(images, config.side)
        sparsifier = Sparsifier(Parts(np.ones((1, config.side, config.side), bool)))
        canvas = Canvas.of(images, noise, config.support)

        def climb(start: int) -> tuple[Arrangement, tuple[float, ...], int]:
            learner = _Learner(images, config, noise, canvas, sparsifier, (seed, start))
            return learner.learn(
                lambda stage, share: progress(stage, (start + share) / config.starts)
            )

        climbs = [climb(start) for start in range(config.starts)]
        found, self.history_, self.replaced_ = max(climbs, key=lambda climbed: climbed[1][-1])
        used = found.usage > 0
        made = {"seed": seed, "images": len(images), "joint_score": self.history_[-1]}
        about = {"config": asdict(config), **made, **(source or {})}
        self.parts_ = Parts(found.masks[used], noise, about)
        sites = _sites(sparsifier.set_params(parts=self.parts_, seed=seed).transform(images))
        self.usage_ = np.bincount(sites[:, 1], minlength=len(self.parts_))
        self.dropped_ = int((~used).sum())
        progress("improving parts", 1.0)
        return self

    def score(self, images: BinaryImages, y: None = None) -> float:
        """The mean score of the explanations of images by the parts, as of the sparsifier."""
        parts: Parts = self._learned("parts_")
        return Sparsifier(parts, seed=self.seed).score(images)


def check_images(images: BinaryImages, side: int) -> None:
    """Refuse images that nothing can be learned from, before any work starts."""
    if not images:
        raise ValueError("parts are learned from images, and there are none")
    for number, image in enumerate(images):
        if image.dtype != bool:
            raise ValueError(f"image {number} is {image.dtype}; parts are learned from bool masks")
        if min(image.shape) < side:
            raise ValueError(f"image {number} is {image.shape}, smaller than a part of side {side}")
    if not any(image.any() for image in images):
        raise ValueError(f"none of the {len(images)} images has an ON pixel")


@dataclass(frozen=True, eq=False)
class _Learner:
    """The training images, laid out once, and one climb of their joint score."""

    images: BinaryImages
    config: PartLearningConfig
    noise: Noise
    canvas: Canvas
    sparsifier: Sparsifier  # one for all rounds, so that its arrays keep their sizes
    seed: tuple[int, int]

    def learn(self, tell: Tell) -> tuple[Arrangement, tuple[float, ...], int]:
        """Return the parts, the joint score after every round, and how many were replaced."""
        found = self.start(tell)
        history, replaced = [joint_score(self.canvas, found)], 0
        for number in range(self.config.rounds):
            tell("improving parts", 0.5 + 0.5 * number / self.config.rounds)
            found, kept = self.improve(found, number)
            history.append(joint_score(self.canvas, found))
            replaced += kept
            if history[-1] <= history[-2]:
                break
        return found, tuple(history), replaced

    def start(self, tell: Tell) -> Arrangement:
        """Discover parts, then more where those explain nothing, until there are enough."""
        config, side = self.config, self.config.side
        masks = np.zeros((0, side, side), bool)
        found = Arrangement(masks, np.zeros((0, 4), np.int64))
        for number in range(config.discoveries):
            tell("discovering parts", 0.5 * number / config.discoveries)
            rng = np.random.default_rng([*self.seed, 0, number])
            new = self._discover(self._centres(found, rng), rng)
            masks = np.concatenate([found.masks[found.usage > 0], new])[: config.count]
            if len(masks):
                found = self._settled(Arrangement(masks, _none()), number)
            if len(masks) == config.count and (found.usage > 0).all():
                break
        missing = config.count - len(found.masks)
        empty = np.zeros((missing, side, side), bool)
        return replace(found, masks=np.concatenate([found.masks, empty]))

    def improve(self, found: Arrangement, number: int) -> tuple[Arrangement, int]:
        """Look at the whole images again, then at parts that could serve better elsewhere."""
        rng = np.random.default_rng([*self.seed, 1, number])
        found = self._settled(found, number)
        found, kept = relocate_many(self.canvas, found, self.config.proposals, rng)
        return recentre(settle(self.canvas, found, _SWEEPS)), kept

    def _settled(self, found: Arrangement, number: int) -> Arrangement:
        """Sparsify every image afresh, keep what is better, and settle weights and sites."""
        used = np.flatnonzero(found.masks.any((1, 2)))
        if not len(used):
            return found
        parts = Parts(found.masks[used], self.noise)
        self.sparsifier.set_params(parts=parts, seed=self.seed[0] + number)
        sites = _sites(self.sparsifier.transform(self.images))
        sites[:, 1] = used[sites[:, 1]]
        fresh = replace(found, sites=sites)
        better = image_scores(self.canvas, fresh) > image_scores(self.canvas, found)
        kept = found.sites[~better[found.sites[:, 0]]]
        both = np.concatenate([kept, sites[better[sites[:, 0]]]])
        return recentre(settle(self.canvas, replace(found, sites=both), _SWEEPS))

    def _centres(self, found: Arrangement, rng: np.random.Generator) -> Int[np.ndarray, "n 4"]:
        """Draw ON pixels that no part covers as the middles of windows."""
        gain = self.canvas.gain.copy()
        gain[covered(self.canvas, found)] = 0.0
        lit = np.flatnonzero(gain > 0)
        drawn = rng.choice(lit, min(self.config.windows, len(lit)), replace=False)
        height, width = self.canvas.size
        image, pixel = np.divmod(drawn, height * width)
        row, col = np.divmod(pixel, width)
        rim = self.canvas.rim
        return np.stack([image, np.zeros_like(image), row - rim, col - rim], 1)

    def _discover(self, centres: Int[np.ndarray, "n 4"], rng: np.random.Generator) -> Masks:
        """Return the masks that a discovery around these pixels makes use of."""
        config = self.config
        if not len(centres):
            return np.zeros((0, config.side, config.side), bool)
        windows = self.canvas.gain[self.canvas.patches(centres, config.surround)]
        prior = config.symmetry * rng.logistic(size=(config.side**2, config.count))
        prior[~self.canvas.support.ravel()] = -limit(np.float32)  # it stays OFF
        solver = Discovery(
            jnp.asarray(_whole_pieces(windows), jnp.float32),
            jnp.float32(self.noise.prior),
            jnp.asarray(prior, jnp.float32),
            jnp.float32(config.damping),
            jnp.float32(config.tolerance),
            side=config.side,
        )
        beliefs, _ = discover(solver, jnp.int32(config.iterations))
        usage = np.asarray(beliefs.placements > 0).sum((0, 1, 2))
        masks = np.asarray(beliefs.weights > 0).T.reshape(config.count, config.side, config.side)
        most_used = np.argsort(-usage, kind="stable")
        return masks[[type_ for type_ in most_used if usage[type_] and masks[type_].any()]]


def _whole_pieces(windows: Float[np.ndarray, "n h w"]) -> Float[np.ndarray, "n h w"]:
    """Say nothing about pieces that a window's edge cuts, where it shows a whole piece too."""
    result = windows.copy()
    touching = np.ones((3, 3), np.int32)
    for window in result:
        labels = np.zeros(window.shape, np.int32)
        ndimage.label(window > 0, touching, output=labels)
        edge = np.concatenate([labels[0], labels[-1], labels[:, 0], labels[:, -1]])
        cut = np.isin(labels, edge[edge > 0])
        if cut.sum() < (labels > 0).sum():
            window[cut] = 0.0
    return result


def _none() -> Int[np.ndarray, "0 4"]:
    return np.zeros((0, 4), np.int64)


def _sites(found: Sequence[Placements]) -> Int[np.ndarray, "sites 4"]:
    """Return the placements on all images: columns image, type, row, col."""
    columns = [
        np.stack([np.full(len(p.type), image), p.type, p.row, p.column], 1)
        for image, p in enumerate(found)
    ]
    return np.concatenate([_none(), *columns]).astype(np.int64)
