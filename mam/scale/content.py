"""A digest of what an object holds, the same in every process: for fingerprints of estimators."""

import contextlib
import dataclasses
import hashlib
import inspect
import types
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any

import numpy as np

_PLAIN = (type(None), bool, int, float, complex, str, bytes)


def content_digest(value: Any) -> str:
    """A digest of parameters, learned arrays and functions, whatever they are nested in.

    Two objects of equal content have the same, and it changes with any array, number or line of a
    function that they hold.

    >>> content_digest({"a": np.arange(3)}) == content_digest({"a": np.arange(3)})
    True
    >>> content_digest(np.arange(3)) == content_digest(np.arange(3.0))
    False
    """
    found = hashlib.sha256()
    for word in _words(value, ()):
        found.update(len(word).to_bytes(8, "little") + word)
    return found.hexdigest()


def _words(value: Any, above: tuple[int, ...]) -> Iterator[bytes]:
    """What is told of a value, in order; ``above`` are the objects that it lies in."""
    if callable(value) and hasattr(value, "__wrapped__"):
        value = inspect.unwrap(value)  # the function itself, without what watches or compiles it
    yield type(value).__qualname__.encode()
    if isinstance(value, _PLAIN):
        yield repr(value).encode(errors="backslashreplace")
    elif isinstance(value, PurePath | type | types.BuiltinFunctionType | types.ModuleType):
        yield str(value).encode(errors="backslashreplace")
    elif isinstance(value, np.ndarray) and value.dtype != object:
        yield f"{value.dtype.str} {value.shape}".encode()
        yield np.ascontiguousarray(value).tobytes()
    elif id(value) in above:
        yield b"above"
    else:
        yield from _inner(value, (*above, id(value)))


def _inner(value: Any, above: tuple[int, ...]) -> Iterator[bytes]:
    """The words of what holds others."""
    if isinstance(value, Mapping | set | frozenset):
        # In no order that depends on the process.
        pairs = value.items() if isinstance(value, Mapping) else ((one, None) for one in value)
        for words in sorted([list(_words(pair, above)) for pair in pairs]):
            yield from words
    elif isinstance(value, list | tuple):
        yield str(len(value)).encode()
        for one in value:
            yield from _words(one, above)
    elif isinstance(value, types.CodeType):
        yield from _words((value.co_code, value.co_consts, value.co_names), above)
    elif isinstance(value, types.FunctionType):
        cells = [cell.cell_contents for cell in value.__closure__ or ()]
        about = (value.__module__, value.__qualname__, value.__defaults__, cells)
        yield from _words((*about, value.__kwdefaults__, value.__code__), above)
    elif isinstance(value, types.MethodType):
        yield from _words((value.__self__, value.__func__), above)
    elif hasattr(value, "__array__"):  # of JAX, or of objects
        array = np.asarray(value)
        yield from _words(array.tolist() if array.dtype == object else array, above)
    elif dataclasses.is_dataclass(value):
        fields = {one.name: getattr(value, one.name) for one in dataclasses.fields(value)}
        yield from _words(fields, above)
    else:
        # What it would be sent to another process as; of what cannot be sent its type is told.
        reduced: Any = ()
        with contextlib.suppress(TypeError):
            reduced = value.__reduce_ex__(4)[:3]
        yield from _words(reduced, above)
