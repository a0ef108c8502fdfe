"""A small residual network of about the size of H-CNN: plain 3 x 3 convolutions, batch norms."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from mam.rivals.network_layers import Kernel, Maps, convolve, pool
from mam.rivals.norm import Moments, Norm, normalise, pick, stacked

_WIDTHS = (24, 32, 48, 56)  # channels of the stages, at 1/2, 1/4, 1/8 and 1/16 of the images' side
_DEPTHS = (1, 2, 2, 1)  # blocks of the stages: together they see 176 of 160 px
_KERNEL = 3  # px, of the blocks
_STEM = 7  # px
_SCALE = 0.2  # of the last norm of a block: it starts near its identity


def _kernel(key: PRNGKeyArray, side: int, inward: int, outward: int) -> Kernel:
    """A random kernel after which a ReLU keeps the variance."""
    start = jax.nn.initializers.he_normal()
    return start(key, (side, side, inward, outward), jnp.float32)


class ResidualBlock(eqx.Module):
    """Convolution, norm, ReLU, convolution, norm; added to its input, then a ReLU."""

    first: Kernel
    second: Kernel
    one: Norm
    two: Norm

    @classmethod
    def of(cls, key: PRNGKeyArray, channels: int) -> "ResidualBlock":
        """A random block."""
        kernels = [_kernel(own, _KERNEL, channels, channels) for own in jax.random.split(key)]
        return cls(kernels[0], kernels[1], Norm.of(channels), Norm.of(channels, scale=_SCALE))

    def moments(self) -> Moments:
        """The form of its moments: 0 and 1."""
        return stacked([Moments.of(self.one), Moments.of(self.two)])

    def __call__(self, maps: Maps, seen: Moments, learning: bool) -> tuple[Maps, Moments]:
        """The maps, and the moments that were used."""
        inside, one = normalise(convolve(maps, self.first), self.one, pick(seen, 0), learning)
        inside = convolve(jax.nn.relu(inside), self.second)
        inside, two = normalise(inside, self.two, pick(seen, 1), learning)
        return jax.nn.relu(maps + inside), stacked([one, two])


class ResidualStage(eqx.Module):
    """Maxima of 2 x 2 and a change of channels, but for the first stage; then blocks."""

    widen: Kernel | None
    blocks: tuple[ResidualBlock, ...]

    def __call__(
        self, maps: Maps, seen: tuple[Moments, ...], learning: bool
    ) -> tuple[Maps, tuple[Moments, ...]]:
        """The maps, and the moments that were used."""
        used = []
        if self.widen is not None:
            maps = convolve(pool(maps), self.widen)
        for block, own in zip(self.blocks, seen, strict=True):
            maps, found = block(maps, own, learning)
            used.append(found)
        return maps, tuple(used)


class ResNet(eqx.Module):
    """A convolution that halves, stages, the maxima over all places, batch norm, a logit."""

    stem: Kernel
    norm: Norm
    stages: tuple[ResidualStage, ...]
    top: Norm
    weights: Float[Array, "channels"]
    shift: Float[Array, ""]

    @classmethod
    def of(cls, key: PRNGKeyArray) -> "ResNet":
        """A random network; it takes images whose side is a multiple of 16."""
        stem, head, *keys = jax.random.split(key, 2 + len(_WIDTHS))
        stages = []
        for number, (own, width, depth) in enumerate(zip(keys, _WIDTHS, _DEPTHS, strict=True)):
            first, *rest = jax.random.split(own, 1 + depth)
            widen = _kernel(first, 1, _WIDTHS[number - 1], width) if number else None
            stages.append(ResidualStage(widen, tuple(ResidualBlock.of(k, width) for k in rest)))
        last = _WIDTHS[-1]
        weights = 0.1 * jax.random.normal(head, (last,), jnp.float32)
        first = _kernel(stem, _STEM, 1, _WIDTHS[0])
        norms = Norm.of(_WIDTHS[0]), Norm.of(last)
        return cls(first, norms[0], tuple(stages), norms[1], weights, jnp.float32(0))

    def moments(self) -> dict[str, Any]:
        """The form of its moments: 0 and 1."""
        return {
            "stem": Moments.of(self.norm),
            "stages": tuple(tuple(b.moments() for b in stage.blocks) for stage in self.stages),
            "top": Moments.of(self.top),
        }

    def __call__(
        self, images: Float[Array, "batch side side"], seen: dict[str, Any], learning: bool
    ) -> tuple[Float[Array, "batch"], dict[str, Any]]:
        """A logit for each image (above 0: yes), and the moments that were used."""
        maps = convolve(images[..., None], self.stem, 2)
        maps, stem = normalise(maps, self.norm, seen["stem"], learning)
        maps, used = jax.nn.relu(maps), []
        for stage, own in zip(self.stages, seen["stages"], strict=True):
            maps, found = stage(maps, own, learning)
            used.append(found)
        largest, top = normalise(maps.max((1, 2)), self.top, seen["top"], learning)
        logits = largest @ self.weights + self.shift
        return logits, {"stem": stem, "stages": tuple(used), "top": top}
