"""How things are timed here."""

import time
from collections.abc import Callable

import jax
import jax.numpy as jnp


def seconds(function: Callable[[], object], repeats: int = 5) -> float:
    """Least wall time of a call whose result is waited for, after one call to warm up.

    The least, because other work on the machine can only add to it.
    """
    jax.block_until_ready(function())
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        jax.block_until_ready(function())
        times.append(time.perf_counter() - start)
    return min(times)


def copy_bandwidth(megabytes: int) -> float:
    """Bytes read and written per second by a large copy on the default device."""
    source = jax.random.uniform(jax.random.key(0), (megabytes * 250_000,))
    copy = jax.jit(lambda x: x + jnp.float32(1))
    return 2 * source.nbytes / seconds(lambda: copy(source), 10)
