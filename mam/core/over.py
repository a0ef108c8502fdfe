"""Where independent work is done."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

# Applies a function to many tasks, anywhere, and gives back the results in any order: ``map`` is
# one of them, what ``mam.scale.spread`` makes of a cluster another.
Over = Callable[[Callable[[Any], Any], Sequence[Any]], Iterable[Any]]
