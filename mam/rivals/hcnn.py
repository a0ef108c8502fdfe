"""H-CNN: a stem, eight steps of one fGRU with large kernels, a readout."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from mam.rivals.fgru import Fgru
from mam.rivals.network_layers import CHANNELS, Maps, Readout, Stem, over_steps
from mam.rivals.norm import Moments, Norm

STEPS = 8
SIDE = 15  # px, of the kernels of the fGRU


class Hcnn(eqx.Module):
    """Horizontal connections alone."""

    stem: Stem
    cell: Fgru
    readout: Readout

    @classmethod
    def of(cls, key: PRNGKeyArray, kernel: int = SIDE, steps: int = STEPS) -> "Hcnn":
        """A random network; it takes images of any even side."""
        stem, cell, readout = jax.random.split(key, 3)
        return cls(Stem.of(stem), Fgru.of(cell, CHANNELS, kernel, steps), Readout.of(readout))

    def moments(self) -> dict[str, Any]:
        """The form of its moments: 0 and 1."""
        return {
            "stem": Moments.of(self.stem.norm),
            "cell": Moments.of(self.cell.norms),
            "readout": self.readout.moments(),
        }

    def __call__(
        self, images: Float[Array, "batch side side"], seen: dict[str, Any], learning: bool
    ) -> tuple[Float[Array, "batch"], dict[str, Any]]:
        """A logit for each image (above 0: yes), and the moments that were used."""
        drive, stem = self.stem(images, seen["stem"], learning)

        def step(state: Maps, own: tuple[Norm, Moments]) -> tuple[Maps, Moments]:
            return self.cell.step(drive, state, *own, learning)

        state, cell = over_steps(step, jnp.zeros_like(drive), (self.cell.norms, seen["cell"]))
        logits, readout = self.readout(state, seen["readout"], learning)
        return logits, {"stem": stem, "cell": cell, "readout": readout}
