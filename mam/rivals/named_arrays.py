"""Trees of arrays as named arrays, and back."""

from collections.abc import Mapping
from typing import Any

import equinox as eqx
import jax
import numpy as np


def named_arrays(tree: Any, prefix: str) -> dict[str, np.ndarray]:
    """The arrays of a tree by their place in it.

    >>> sorted(named_arrays({"a": (np.zeros(2), np.ones(1)), "b": None}, "model"))
    ['model.a.0', 'model.a.1']
    """
    places = jax.tree_util.tree_leaves_with_path(eqx.filter(tree, eqx.is_array))
    return {_name(prefix, path): np.asarray(leaf) for path, leaf in places}


def filled(tree: Any, arrays: Mapping[str, np.ndarray], prefix: str, where: str) -> Any:
    """A tree of the same form (shapes will do) with the arrays of those names, if they fit."""
    others = {name for name in arrays if name.startswith(f"{prefix}.")}

    def found(path: Any, leaf: Any) -> Any:
        if not hasattr(leaf, "dtype"):
            return leaf
        name = _name(prefix, path)
        array = arrays.get(name)
        if array is None:
            raise ValueError(f"{where}: the file is damaged (no {name} in it)")
        if array.shape != leaf.shape or array.dtype != leaf.dtype:
            raise ValueError(
                f"{where}: {name} is {array.dtype} {array.shape}, not {leaf.dtype} {leaf.shape}"
            )
        others.discard(name)
        return jax.numpy.array(array)  # a copy: its memory may be given on

    whole = jax.tree_util.tree_map_with_path(found, tree)
    if others:
        raise ValueError(f"{where}: {min(others)} is no array of such a network")
    return whole


def _name(prefix: str, path: Any) -> str:
    return f"{prefix}.{jax.tree_util.keystr(path, simple=True, separator='.')}"
