"""Compiled programs, forgotten before a process drowns in them.

XLA keeps every program that it compiles, and each takes some hundred memory maps. Linux grants a
process 65,530 of them; then the next compilation ends it. So whoever may compile calls
``forget_old_programs`` first: it looks at the maps now and then, and when many are taken lets JAX
drop all programs. Those still wanted are compiled again, once.
"""

import time
from pathlib import Path

import jax

_MAPS = Path("/proc/self/maps")
_MOST_MAPS = Path("/proc/sys/vm/max_map_count")
# A call compiles some ten programs of up to 300 maps each, so this leaves room for several calls.
_SHARE = 0.4
# Counting maps takes milliseconds; it is worth it only after this many new programs.
_NEW_PROGRAMS = 16


class _Compilations:
    """How many programs this process compiled, in how many seconds; and how many there were when
    the maps were last counted.

    The one piece of state in the library: what it counts belongs to the process as well.
    """

    total = 0
    seconds = 0.0
    looked = 0
    listening = False

    def listen(self, event: str, duration_secs: float, **details: object) -> None:
        if event.endswith(("backend_compile_duration", "jaxpr_to_mlir_module_duration")):
            self.seconds += duration_secs
        if event.endswith("backend_compile_duration"):
            self.total += 1

    def begin(self) -> None:
        """Count from now on, if that has not begun."""
        if not self.listening:
            self.listening = True
            jax.monitoring.register_event_duration_secs_listener(self.listen)


_COMPILED = _Compilations()


def memory_maps() -> int:
    """Return the number of memory maps of this process, 0 where the system does not tell."""
    return _MAPS.read_bytes().count(b"\n") if _MAPS.exists() else 0


def most_memory_maps() -> int:
    """Return how many memory maps a process may have."""
    return int(_MOST_MAPS.read_text()) if _MOST_MAPS.exists() else 65_530


def forget_old_programs() -> None:
    """Drop all compiled programs if they take a large share of the memory maps."""
    _COMPILED.begin()
    if _COMPILED.total - _COMPILED.looked < _NEW_PROGRAMS:
        return
    _COMPILED.looked = _COMPILED.total
    if memory_maps() > _SHARE * most_memory_maps():
        jax.clear_caches()


class Stopwatch:
    """Adds up the seconds between its starts and stops, and what of them was compiling.

    >>> watch = Stopwatch()
    >>> with watch:
    ...     total = sum(range(1000))
    >>> watch.seconds > 0, watch.compiling
    (True, 0.0)
    """

    def __init__(self) -> None:
        self.seconds = 0.0
        self.compiling = 0.0
        self._start = 0.0, 0.0

    def __enter__(self) -> "Stopwatch":
        _COMPILED.begin()
        self._start = time.perf_counter(), _COMPILED.seconds
        return self

    def __exit__(self, *error: object) -> None:
        begin, before = self._start
        spent = time.perf_counter() - begin
        self.seconds += spent
        # Several threads may compile at once.
        self.compiling += min(_COMPILED.seconds - before, spent)
