"""Convolutions on batches with the channels last, and the first and last layers of the networks."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from mam.core.devices import by_device
from mam.rivals.norm import Moments, Norm, normalise

CHANNELS = 20
_STEM_SIDE = 7  # px, of both kernels of the stem
_LARGE = 16  # rows of maps that are not small
_FEW = 2  # steps
_AXES = ("NHWC", "HWIO", "NHWC")

Kernel = Float[Array, "_ _ _ _"]  # rows, columns, channels in, channels out
Maps = Float[Array, "batch _ _ _"]  # rows, columns, channels


def kernel_of(key: PRNGKeyArray, side: int, inward: int, outward: int) -> Kernel:
    """A random kernel, orthogonal over its channels: maps keep their size over the steps."""
    shape = (side, side, inward, outward)
    return jax.nn.initializers.orthogonal()(key, shape, jnp.float32)


def convolve(maps: Maps, kernel: Kernel, stride: int = 1) -> Maps:
    """Convolve; the size is divided by the stride."""
    strides = (stride, stride)
    return jax.lax.conv_general_dilated(maps, kernel, strides, "SAME", dimension_numbers=_AXES)


def enlarge(maps: Maps, kernel: Kernel) -> Maps:
    """Transposed convolution of stride 2: twice the size."""
    return jax.lax.conv_transpose(maps, kernel, (2, 2), "SAME", dimension_numbers=_AXES)


def pool(maps: Maps) -> Maps:
    """Maxima of 2 x 2."""
    window = (1, 2, 2, 1)
    return jax.lax.reduce_window(maps, -jnp.inf, jax.lax.max, window, window, "VALID")


def over_steps(step: Callable[..., Any], start: Any, own: Any) -> tuple[Any, Any]:
    """Run a recurrent step for each entry of ``own``; the last state, and what each step gave.

    The maps of a step are made again for its gradient: those of all steps would fill the memory.
    """
    # XLA's gradients of convolutions inside a loop take 30 times as long on a CPU; on small maps
    # that is less than compiling many steps.
    large = max(maps.shape[1] for maps in jax.tree.leaves(start)) >= _LARGE
    few = len(jax.tree.leaves(own)[0]) <= _FEW
    unroll = by_device(large or few, False)
    return jax.lax.scan(jax.checkpoint(step), start, own, unroll=unroll)


class Stem(eqx.Module):
    """Convolution, ReLU, 2 x 2 maxima, convolution, batch norm: images to maps of half the size."""

    first: Kernel
    bias: Float[Array, "channels"]
    second: Kernel
    norm: Norm

    @classmethod
    def of(cls, key: PRNGKeyArray, channels: int = CHANNELS) -> "Stem":
        """A random stem."""
        one, two = jax.random.split(key)
        first = kernel_of(one, _STEM_SIDE, 1, channels)
        second = kernel_of(two, _STEM_SIDE, channels, channels)
        return cls(first, jnp.zeros(channels, jnp.float32), second, Norm.of(channels))

    def __call__(
        self, images: Float[Array, "batch side side"], seen: Moments, learning: bool
    ) -> tuple[Maps, Moments]:
        """The maps, and the moments that were used."""
        maps = pool(jax.nn.relu(convolve(images[..., None], self.first) + self.bias))
        return normalise(convolve(maps, self.second), self.norm, seen, learning)


class Readout(eqx.Module):
    """Batch norm, 1 x 1 convolution to two channels, their maxima, batch norm, one logit."""

    norm: Norm
    kernel: Kernel
    bias: Float[Array, "2"]
    top: Norm
    weights: Float[Array, "2"]
    shift: Float[Array, ""]

    @classmethod
    def of(cls, key: PRNGKeyArray, channels: int = CHANNELS) -> "Readout":
        """A random readout."""
        one, two = jax.random.split(key)
        weights = jax.random.normal(two, (2,), jnp.float32)
        kernel, none = kernel_of(one, 1, channels, 2), jnp.zeros(2, jnp.float32)
        return cls(Norm.of(channels), kernel, none, Norm.of(2), weights, jnp.float32(0))

    def moments(self) -> dict[str, Moments]:
        """The form of its moments: 0 and 1."""
        return {"norm": Moments.of(self.norm), "top": Moments.of(self.top)}

    def __call__(
        self, maps: Maps, seen: dict[str, Moments], learning: bool
    ) -> tuple[Float[Array, "batch"], dict[str, Moments]]:
        """A logit for each image, and the moments that were used."""
        maps, norm = normalise(maps, self.norm, seen["norm"], learning)
        largest = (convolve(maps, self.kernel) + self.bias).max((1, 2))
        largest, top = normalise(largest, self.top, seen["top"], learning)
        return largest @ self.weights + self.shift, {"norm": norm, "top": top}
