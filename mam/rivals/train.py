"""One step of learning: Nadam on the cross entropy of the answers."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, UInt8

from mam.rivals.data import Batch
from mam.rivals.networks import RivalNetwork, network_of
from mam.rivals.settings import Settings


class TrainState(eqx.Module):
    """All that changes from step to step."""

    network: RivalNetwork
    optimiser: Any


def start(settings: Settings) -> TrainState:
    """The state before the first step."""
    network = network_of(settings.network, settings.seed, settings.side)
    learned = eqx.filter(network, eqx.is_inexact_array)
    return TrainState(network, optax.nadam(settings.rate).init(learned))


def scaled(images: UInt8[Array, "batch side side"]) -> Float[Array, "batch side side"]:
    """Grey values as numbers from 0 to 1."""
    return images.astype(jnp.float32) / 255


def _loss(network: RivalNetwork, images: Array, labels: Array) -> Float[Array, ""]:
    logits, _ = network(scaled(images), network.moments(), learning=True)
    return optax.sigmoid_binary_cross_entropy(logits, labels).mean()


# The old state gives its memory to the new one.
@eqx.filter_jit(donate="all-except-first")
def learn_batch(
    batch: Batch, state: TrainState, rate: float
) -> tuple[TrainState, Float[Array, ""]]:
    """The state after a batch, and the mean loss on it."""
    value = eqx.filter_value_and_grad(_loss)
    loss, slope = value(state.network, *map(jnp.asarray, batch))
    learned = eqx.filter(state.network, eqx.is_inexact_array)
    with jax.numpy_dtype_promotion("standard"):  # optax mixes floats with the number of steps
        change, optimiser = optax.nadam(rate).update(slope, state.optimiser, learned)
    return TrainState(eqx.apply_updates(state.network, change), optimiser), loss


@eqx.filter_jit
def batch_moments(network: RivalNetwork, images: UInt8[Any, "batch side side"]) -> dict[str, Any]:
    """The moments of a batch, as in learning."""
    return network(scaled(jnp.asarray(images)), network.moments(), learning=True)[1]


@eqx.filter_jit
def answer(
    network: RivalNetwork, moments: dict[str, Any], images: UInt8[Any, "batch side side"]
) -> Float[Array, "batch"]:
    """The logit of each image."""
    return network(scaled(jnp.asarray(images)), moments, learning=False)[0]
