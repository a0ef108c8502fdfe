"""Several accelerators: a batch of images is spread over all of them, graphs are on each."""

import re
from typing import TypeVar

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jaxtyping import Array, Shaped

from mam.core.workers import own_cores

_T = TypeVar("_T")
_AXIS = "devices"
# Images that an accelerator works on at once; a core does one. Programs are compiled for each.
_IMAGES_EACH = 1, 4, 16
_CAPABILITY = 8.0  # of a GPU from which on it takes programs of Triton
_WARPS = 32  # of one program at most


def by_device(on_cpu: _T, on_accelerator: _T) -> _T:
    """What depends on where programs run: an accelerator wants more at once."""
    return on_cpu if jax.default_backend() == "cpu" else on_accelerator


def on_one_gpu() -> bool:
    """Whether programs that are written for a GPU can run: they are not spread over several."""
    devices = jax.devices()
    if len(devices) != 1 or devices[0].platform != "gpu":
        return False
    capability = str(getattr(devices[0], "compute_capability", ""))  # "9.0"; not of every maker
    return not re.fullmatch(r"\d+\.\d+", capability) or float(capability) >= _CAPABILITY


def warps(lanes: int, each: int) -> int:
    """Of how many warps a program with so many lanes is made, if there are so many in each."""
    return min(max(lanes // each, 1), _WARPS)


def batch_sizes() -> list[int]:
    """How many images are worked on at once: as many as there are, filled up to one of these."""
    return [len(jax.devices()) * each for each in by_device((1,), _IMAGES_EACH)]


def batch_size() -> int:
    """How many images are worked on at once, if there are so many."""
    return batch_sizes()[-1]


def batches_at_once() -> int:
    """How many batches threads work on, so that no device waits for the host."""
    return by_device(2, 3)


def host_threads() -> int:
    """How many threads prepare and read batches: numpy lets several work at once."""
    return min(own_cores(), by_device(2, min(max(own_cores() // 2, 2), 4)))


def spread(values: _T) -> _T:
    """Put arrays on the devices: each gets its share of the first axis, where it divides evenly."""
    devices = len(jax.devices())
    return jax.tree.map(lambda one: _put(one, devices > 1 and one.shape[0] % devices == 0), values)


def on_each(values: _T) -> _T:
    """Put arrays on the devices, whole on each of them."""
    return jax.tree.map(lambda one: _put(one, False), values)


def _put(values: Shaped[np.ndarray, "..."] | Array, divided: bool) -> Array:
    devices = jax.devices()
    if len(devices) == 1:
        return jax.device_put(values)
    spec = PartitionSpec(_AXIS) if divided else PartitionSpec()
    return jax.device_put(values, NamedSharding(Mesh(np.array(devices), (_AXIS,)), spec))
