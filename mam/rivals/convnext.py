"""A small ConvNeXt of about the size of H-CNN: what a modern feed-forward network can do."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

_WIDTHS = (24, 48, 96)  # channels of the stages, at 1/4, 1/8 and 1/16 of the images' side
_DEPTHS = (2, 4, 1)  # blocks of the stages
_KERNEL = 7  # px, of the depthwise convolutions
_LAYER_SCALE = 1e-2  # with which a block starts beside its identity; 1e-6 is for far deeper ones


def _over_channels(function: Any, maps: Float[Array, "inward rows cols"]) -> Array:
    """Apply a function of the channels at every place."""
    places = jax.vmap(jax.vmap(function, 1, 1), 2, 2)
    return places(maps)


class ConvNextBlock(eqx.Module):
    """Depthwise convolution, norm, two layers over the channels; added to its input."""

    spread: eqx.nn.Conv2d
    norm: eqx.nn.LayerNorm
    widen: eqx.nn.Linear
    narrow: eqx.nn.Linear
    scale: Float[Array, "channels 1 1"]

    @classmethod
    def of(cls, key: PRNGKeyArray, channels: int) -> "ConvNextBlock":
        """A random block."""
        one, two, three = jax.random.split(key, 3)
        return cls(
            eqx.nn.Conv2d(
                channels, channels, _KERNEL, padding=_KERNEL // 2, groups=channels, key=one
            ),
            eqx.nn.LayerNorm(channels),
            eqx.nn.Linear(channels, 4 * channels, key=two),
            eqx.nn.Linear(4 * channels, channels, key=three),
            jnp.full((channels, 1, 1), _LAYER_SCALE, jnp.float32),
        )

    def __call__(self, maps: Float[Array, "channels rows cols"]) -> Array:
        """The maps of one image."""
        inside = _over_channels(
            lambda place: self.narrow(jax.nn.gelu(self.widen(self.norm(place)))),
            self.spread(maps),
        )
        return maps + self.scale * inside


class Stage(eqx.Module):
    """A convolution that reduces, then blocks."""

    norm: eqx.nn.LayerNorm | None  # of what is reduced; the images themselves have none
    reduce: eqx.nn.Conv2d
    blocks: tuple[ConvNextBlock, ...]

    def __call__(self, maps: Float[Array, "inward rows cols"]) -> Array:
        """The maps of one image."""
        maps = self.reduce(maps if self.norm is None else _over_channels(self.norm, maps))
        for block in self.blocks:
            maps = block(maps)
        return maps


class ConvNext(eqx.Module):
    """Stages, the mean over all places, a logit."""

    stages: tuple[Stage, ...]
    norm: eqx.nn.LayerNorm
    head: eqx.nn.Linear

    @classmethod
    def of(cls, key: PRNGKeyArray) -> "ConvNext":
        """A random network; it takes images whose side is a multiple of 16."""
        head, *keys = jax.random.split(key, 1 + len(_WIDTHS))
        stages = []
        for number, (own, width, depth) in enumerate(zip(keys, _WIDTHS, _DEPTHS, strict=True)):
            first, *rest = jax.random.split(own, 1 + depth)
            inward, factor = (_WIDTHS[number - 1], 2) if number else (1, 4)
            reduce = eqx.nn.Conv2d(inward, width, factor, factor, key=first)
            norm = eqx.nn.LayerNorm(inward) if number else None
            stages.append(Stage(norm, reduce, tuple(ConvNextBlock.of(k, width) for k in rest)))
        return cls(
            tuple(stages), eqx.nn.LayerNorm(_WIDTHS[-1]), eqx.nn.Linear(_WIDTHS[-1], 1, key=head)
        )

    def moments(self) -> dict[str, Any]:
        """No batch norm, so none."""
        return {}

    def __call__(
        self, images: Float[Array, "batch side side"], seen: dict[str, Any], learning: bool
    ) -> tuple[Float[Array, "batch"], dict[str, Any]]:
        """A logit for each image (above 0: yes)."""
        return jax.vmap(self._logit)(images), seen

    def _logit(self, image: Float[Array, "side side"]) -> Float[Array, ""]:
        maps = image[None]
        for stage in self.stages:
            maps = stage(maps)
        return self.head(self.norm(maps.mean((1, 2))))[0]
