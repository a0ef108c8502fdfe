"""Dataclasses whose fields JAX sees.

``jax.tree_util.register_dataclass`` does the same in C++, but two classes with as many fields then
have equal tree structures (only their hashes differ), and a cache of compiled programs now and then
answers with the program of the other class. Nodes registered here are told apart by their class.
"""

from dataclasses import fields
from typing import Any, TypeVar

import jax

Class = TypeVar("Class", bound=type)


def pytree(cls: Class) -> Class:
    """Register a dataclass as a node; fields with the metadata ``static`` are part of its shape.

    >>> from dataclasses import dataclass, field
    >>> @pytree
    ... @dataclass(frozen=True)
    ... class Scaled:
    ...     values: jax.Array
    ...     factor: int = field(metadata={"static": True})
    >>> jax.tree.map(lambda x: x + 1, Scaled(1, factor=3))
    Scaled(values=2, factor=3)
    """
    static = [f.name for f in fields(cls) if f.metadata.get("static")]
    data = [f.name for f in fields(cls) if f.name not in static]

    def flatten(node: Any) -> tuple[tuple, tuple]:
        return tuple(getattr(node, f) for f in data), tuple(getattr(node, f) for f in static)

    def flatten_with_keys(node: Any) -> tuple[tuple, tuple]:
        children, shape = flatten(node)
        keys = map(jax.tree_util.GetAttrKey, data)
        return tuple(zip(keys, children, strict=True)), shape

    def unflatten(shape: tuple, children: Any) -> Any:
        return cls(
            **dict(zip(data, children, strict=True)), **dict(zip(static, shape, strict=True))
        )

    jax.tree_util.register_pytree_with_keys(cls, flatten_with_keys, unflatten, flatten)
    return cls
