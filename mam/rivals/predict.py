"""A learned rival: are the two markers of an image on the same thing?"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float32, UInt8

from mam.rivals.files import load_rival
from mam.rivals.networks import RivalNetwork, parameter_count
from mam.rivals.train import answer

BATCH = 128  # images answered at a time, at most


@dataclass(frozen=True, eq=False)
class Rival:
    """A network with what its file says of it."""

    network: RivalNetwork
    moments: dict[str, Any]
    kind: str
    task: str
    side: int
    provenance: Mapping[str, Any]
    name: str = "the rival"

    @classmethod
    def load(cls, source: str | Path) -> "Rival":
        """Read a rival from its file."""
        found = load_rival(source)
        kind, task, side = (found.config[name] for name in ("network", "task", "side"))
        about = found.provenance
        return cls(found.network, found.moments, kind, task, side, about, str(source))

    @property
    def parameters(self) -> int:
        """How many numbers it learned."""
        return parameter_count(self.network)

    def logits(
        self, images: UInt8[np.ndarray, "images rows cols"]
    ) -> Float32[np.ndarray, "images"]:
        """The log odds of yes, for images of the side that it was learned at."""
        if images.shape[1:] != (self.side, self.side):
            rows, cols = images.shape[1:]
            raise ValueError(
                f"{self.name}: takes images of {self.side} x {self.side} px, not {rows} x {cols}; "
                "reduce them"
            )
        if not len(images):
            return np.zeros(0, np.float32)
        parts = [self._some(images[at : at + BATCH]) for at in range(0, len(images), BATCH)]
        return np.concatenate(parts)

    def _some(self, images: UInt8[np.ndarray, "images side side"]) -> np.ndarray:
        # Few sizes, so that little is compiled.
        size = 1 << (len(images) - 1).bit_length()
        padded = np.concatenate(
            [images, np.zeros((size - len(images), *images.shape[1:]), np.uint8)]
        )
        return np.asarray(answer(self.network, self.moments, padded))[: len(images)]

    def check_task(self, task: str) -> None:
        """Refuse a task that it was not learned for."""
        if task != self.task:
            raise ValueError(f"{self.name}: a rival that learned {self.task}, not {task}")
