"""Functions of arrays that run where the arrays are: in numpy on a host, compiled on a device."""

from collections.abc import Callable
from functools import wraps
from types import ModuleType
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Shaped

if TYPE_CHECKING:  # either has what is called here
    Values = Any
else:
    Values = np.ndarray | Array

# For programs whose products take a GPU microseconds: to try out which way of multiplying is best
# takes it ten seconds each.
UNTUNED = {"xla_gpu_autotune_level": 0}

_P = ParamSpec("_P")
_T = TypeVar("_T")


def namespace(values: Shaped[Values, "..."]) -> ModuleType:
    """The module whose functions take such arrays.

    >>> namespace(np.ones(1)) is np, namespace(jnp.ones(1)) is jnp
    (True, True)
    """
    return jnp if isinstance(values, jax.Array) else np


def either(*static: str) -> Callable[[Callable[_P, _T]], Callable[_P, _T]]:
    """Run a function as it is, or as one program if any of its arrays is one of JAX's.

    ``static`` names what programs are compiled for. A millisecond of numpy is compiled for nothing;
    on an accelerator arrays stay where they are, and factors of products keep all their bits. A
    program of its own, it cannot be called inside of another one.

    >>> double = either()(lambda values: values * 2)
    >>> double(np.ones(1)), double(jnp.ones(1))
    (array([2.]), Array([2.], dtype=float32))
    """

    def decorate(function: Callable[_P, _T]) -> Callable[_P, _T]:
        program: Callable[..., Any] = jax.jit(
            function, static_argnames=static, compiler_options=UNTUNED
        )

        @wraps(function)
        def run(*args: _P.args, **named: _P.kwargs) -> _T:
            if not any(isinstance(one, jax.Array) for one in jax.tree.leaves((args, named))):
                return function(*args, **named)
            with jax.default_matmul_precision("highest"):
                return program(*args, **named)

        return run

    return decorate
