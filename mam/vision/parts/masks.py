r"""Object parts: small binary masks, and the noise with which they make an image.

A pixel is ON where a placed part covers it, up to noise: it is OFF although covered with
probability :math:`\pi_{01}`, ON although uncovered with :math:`\pi_{10}`. Given an image, covering
a pixel therefore changes the log likelihood by

.. math::
    g = \begin{cases} \log(1 - \pi_{01}) - \log \pi_{10} > 0 & \text{pixel ON} \\
    \log \pi_{01} - \log(1 - \pi_{10}) < 0 & \text{pixel OFF} \end{cases}

and every placement costs its prior (paper, "Symbol grounding with the sparsifier").
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Int, Shaped

from mam.core.model_files import load_model, save_model
from mam.core.schema import ArraySpec, ModelFile, Schema, Setting, floats
from mam.core.words import counted


@dataclass(frozen=True)
class Noise:
    """How parts make pixels; the defaults are those for pathfinder."""

    # Probability that a covered pixel is OFF. The paper has .07; with .02 parts are leaner and keep
    # to the directions of the strokes they serve.
    pi01: float = 0.02
    pi10: float = 0.0019  # probability that an uncovered pixel is ON
    prior: float = -20.0  # log potential of a placement, against none

    def __post_init__(self) -> None:
        for name in ("pi01", "pi10"):
            if not 0 < getattr(self, name) < 0.5:
                raise ValueError(f"{name} must lie between 0 and 0.5, not {getattr(self, name)}")
        if not self.prior < 0:
            raise ValueError(f"the prior must be negative, not {self.prior}: parts cost something")

    @property
    def gain(self) -> float:
        """What covering an ON pixel adds to the score."""
        return float(np.log1p(-self.pi01) - np.log(self.pi10))

    @property
    def loss(self) -> float:
        """What covering an OFF pixel takes from the score, as a positive number."""
        return float(np.log1p(-self.pi10) - np.log(self.pi01))


PATHFINDER = Noise()
PATHFINDER_PAPER = Noise(pi01=0.07)  # paper, "Learning" of the pathfinder challenge
CABC = Noise(pi01=0.45, pi10=0.05)  # paper, "Learning elastic graphs for cABC"


@dataclass(frozen=True, eq=False)
class Parts:
    """Part types as square masks of odd side, placed by their middle pixel.

    >>> Parts(np.eye(3, dtype=bool)[None]).sizes.tolist()
    [3]
    """

    masks: Shaped[np.ndarray, "types rows cols"]
    noise: Noise = PATHFINDER
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        masks = np.asarray(self.masks)
        if masks.ndim != 3 or masks.shape[1] != masks.shape[2] or masks.shape[1] % 2 == 0:
            raise ValueError(f"parts are (types, side, side) with an odd side, not {masks.shape}")
        if masks.dtype != bool:
            raise ValueError(f"parts are masks of bool, not {masks.dtype}")
        empty = np.flatnonzero(~masks.any((1, 2)))
        if empty.size:
            raise ValueError(f"part {empty[0]} has no pixels; leave it out")

    def __repr__(self) -> str:
        types, side, _ = self.masks.shape
        return f"<Parts: {counted(types, 'type')} of {side} x {side} px>"

    def __len__(self) -> int:
        return len(self.masks)

    @property
    def side(self) -> int:
        """Height and width of the masks, px."""
        return self.masks.shape[1]

    @property
    def radius(self) -> int:
        """The reach of a mask around its middle pixel, px."""
        return self.side // 2

    @property
    def sizes(self) -> np.ndarray:
        """The number of pixels of each part."""
        return self.masks.sum((1, 2))

    def moved(self, reach: int) -> "MovedParts":
        """The parts at every offset up to ``reach`` px, cut to their own window."""
        side, steps = self.side, np.arange(-reach, reach + 1)
        offsets = np.stack(np.meshgrid(steps, steps, indexing="ij"), -1).reshape(-1, 2)
        wide = np.pad(self.masks, ((0, 0), (reach, reach), (reach, reach)))
        cut = [wide[:, reach - r :, reach - c :][:, :side, :side] for r, c in offsets]
        return MovedParts(np.stack(cut), offsets)

    def save(self, path: str | Path) -> None:
        """Write the parts to a file."""
        arrays = {"masks": self.masks.astype(np.uint8)}
        save_model(path, ModelFile(arrays, asdict(self.noise), self.provenance), SCHEMA)

    @classmethod
    def load(cls, source: str | Path) -> "Parts":
        """Read parts from a file, or by their bundled name."""
        found = load_model(source, SCHEMA)
        return read_parts(found, found.config, found.provenance)


class MovedParts(NamedTuple):
    """Parts seen from positions beside their own."""

    masks: Bool[np.ndarray, "offsets types side side"]
    offsets: Int[np.ndarray, "offsets 2"]


def read_parts(
    file: ModelFile, noise: Mapping[str, Any], provenance: Mapping[str, Any] | None = None
) -> Parts:
    """The parts that a file holds."""
    return Parts(file.arrays["masks"].astype(bool), Noise(**floats(noise)), provenance or {})


# What files of parts, and of models that hold parts, say of them.
MASKS = {"masks": ArraySpec(("uint8",), ("types", "side", "side"), 0, 1)}
NOISE = {name: Setting(float) for name in ("pi01", "pi10", "prior")}
SIZES = {"types": (1, 1 << 16), "side": (1, 1023)}  # types are numbers of 16 bits
SCHEMA = Schema(
    "parts",
    MASKS,
    NOISE,
    "mam learn parts",
    SIZES,
    rules=[lambda file: read_parts(file, file.config)],
)
