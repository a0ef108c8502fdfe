"""TD+H-CNN: H-CNN with a way to coarse maps and back inside each of its steps."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from mam.rivals.fgru import Fgru
from mam.rivals.hcnn import SIDE, STEPS
from mam.rivals.network_layers import (
    CHANNELS,
    Kernel,
    Maps,
    Readout,
    Stem,
    convolve,
    enlarge,
    kernel_of,
    over_steps,
    pool,
)
from mam.rivals.norm import Moments, Norm, normalise

_MIDDLE, _HIGH = 32, 128  # channels at a quarter and at an eighth of the images' side
_DOWN = ((CHANNELS, _MIDDLE), (_MIDDLE, _MIDDLE), (_MIDDLE, _MIDDLE))
_DOWN += ((_MIDDLE, _HIGH), (_HIGH, _HIGH), (_HIGH, _HIGH))
_UP = ((_HIGH, _MIDDLE), (_MIDDLE, CHANNELS))
_POOLED = (0, 3)  # convolutions before which maps are halved


class TdHcnn(eqx.Module):
    """Horizontal and top-down connections.

    A step of the fGRU ``cell`` gives maps; pooled and convolved these drive the coarse fGRU
    ``high``; what that knows comes back by transposed convolutions, and the fGRU ``merge`` joins
    it, as its state, with the maps, as its drive. Every convolution on the way has a batch norm
    for each step, and a ReLU.
    """

    stem: Stem
    cell: Fgru
    down: tuple[Kernel, ...]
    down_norms: tuple[Norm, ...]  # (steps, channels) each
    high: Fgru
    up: tuple[Kernel, ...]
    up_norms: tuple[Norm, ...]
    merge: Fgru
    readout: Readout

    @classmethod
    def of(cls, key: PRNGKeyArray, kernel: int = SIDE, steps: int = STEPS) -> "TdHcnn":
        """A random network; it takes images whose side is a multiple of 8."""
        stem, cell, high, merge, readout, *rest = jax.random.split(key, 5 + len(_DOWN) + len(_UP))
        return cls(
            Stem.of(stem),
            Fgru.of(cell, CHANNELS, kernel, steps),
            tuple(kernel_of(k, 3, *c) for k, c in zip(rest, _DOWN, strict=False)),
            tuple(Norm.of(steps, outward) for _, outward in _DOWN),
            Fgru.of(high, _HIGH, 1, steps),
            tuple(kernel_of(k, 4, *c) for k, c in zip(rest[len(_DOWN) :], _UP, strict=True)),
            tuple(Norm.of(steps, outward) for _, outward in _UP),
            Fgru.of(merge, CHANNELS, 1, steps),
            Readout.of(readout),
        )

    def moments(self) -> dict[str, Any]:
        """The form of its moments: 0 and 1."""
        return {
            "stem": Moments.of(self.stem.norm),
            "steps": jax.tree.map(Moments.of, self._norms(), is_leaf=_is_norm),
            "readout": self.readout.moments(),
        }

    def _norms(self) -> dict[str, Any]:
        """The batch norms that every step has of its own."""
        cells = {"cell": self.cell.norms, "high": self.high.norms, "merge": self.merge.norms}
        return {**cells, "down": self.down_norms, "up": self.up_norms}

    def __call__(
        self, images: Float[Array, "batch side side"], seen: dict[str, Any], learning: bool
    ) -> tuple[Float[Array, "batch"], dict[str, Any]]:
        """A logit for each image (above 0: yes), and the moments that were used."""
        drive, stem = self.stem(images, seen["stem"], learning)
        count, rows, cols, _ = drive.shape
        coarse = jnp.zeros((count, rows // 4, cols // 4, _HIGH), drive.dtype)

        def step(states: tuple[Maps, Maps], own: Any) -> tuple[tuple[Maps, Maps], dict[str, Any]]:
            return self._step(drive, states, own, learning)

        start, own = (jnp.zeros_like(drive), coarse), (self._norms(), seen["steps"])
        (state, _), steps = over_steps(step, start, own)
        logits, readout = self.readout(state, seen["readout"], learning)
        return logits, {"stem": stem, "steps": steps, "readout": readout}

    def _step(
        self, drive: Maps, states: tuple[Maps, Maps], own: tuple[Any, Any], learning: bool
    ) -> tuple[tuple[Maps, Maps], dict[str, Any]]:
        """The next fine and coarse state, and the moments that were used."""
        (state, coarse), (norms, seen) = states, own
        after: dict[str, Any] = {"down": [], "up": []}

        def settle(maps: Maps, way: str) -> Maps:
            number = len(after[way])
            maps, moments = normalise(maps, norms[way][number], seen[way][number], learning)
            after[way].append(moments)
            return jax.nn.relu(maps)

        fine, after["cell"] = self.cell.step(drive, state, norms["cell"], seen["cell"], learning)
        maps = fine
        for number, kernel in enumerate(self.down):
            maps = pool(maps) if number in _POOLED else maps
            maps = settle(convolve(maps, kernel), "down")
        coarse, after["high"] = self.high.step(maps, coarse, norms["high"], seen["high"], learning)
        back = coarse
        for kernel in self.up:
            back = settle(enlarge(back, kernel), "up")
        fine, after["merge"] = self.merge.step(fine, back, norms["merge"], seen["merge"], learning)
        return (fine, coarse), {**after, "down": tuple(after["down"]), "up": tuple(after["up"])}


def _is_norm(value: Any) -> bool:
    return isinstance(value, Norm)
