"""One step of learning: Nadam on the cross entropy of the answers."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, UInt8

from mam.rivals.data import Batch
from mam.rivals.networks import Network, network_of
from mam.rivals.settings import Settings


class State(eqx.Module):
    """All that changes from step to step."""

    network: Network
    moments: dict[str, Any]
    optimiser: Any


def start(settings: Settings) -> State:
    """The state before the first step."""
    network = network_of(settings.network, settings.seed, settings.side)
    learned = eqx.filter(network, eqx.is_inexact_array)
    return State(network, network.moments(), optax.nadam(settings.rate).init(learned))


def scaled(images: UInt8[Array, "batch side side"]) -> Float[Array, "batch side side"]:
    """Grey values as numbers from 0 to 1."""
    return images.astype(jnp.float32) / 255


def _loss(
    network: Network, moments: dict[str, Any], images: Array, labels: Array
) -> tuple[Float[Array, ""], dict[str, Any]]:
    logits, moments = network(scaled(images), moments, learning=True)
    return optax.sigmoid_binary_cross_entropy(logits, labels).mean(), moments


# The old state gives its memory to the new one.
@eqx.filter_jit(donate="all-except-first")
def learn_batch(batch: Batch, state: State, rate: float) -> tuple[State, Float[Array, ""]]:
    """The state after a batch, and the mean loss on it."""
    value = eqx.filter_value_and_grad(_loss, has_aux=True)
    (loss, moments), slope = value(state.network, state.moments, *map(jnp.asarray, batch))
    learned = eqx.filter(state.network, eqx.is_inexact_array)
    with jax.numpy_dtype_promotion("standard"):  # optax mixes floats with the number of steps
        change, optimiser = optax.nadam(rate).update(slope, state.optimiser, learned)
    return State(eqx.apply_updates(state.network, change), moments, optimiser), loss


@eqx.filter_jit
def answer(
    network: Network, moments: dict[str, Any], images: UInt8[Any, "batch side side"]
) -> Float[Array, "batch"]:
    """The logit of each image."""
    return network(scaled(jnp.asarray(images)), moments, learning=False)[0]
