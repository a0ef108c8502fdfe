"""How much memory there is, so that work which cannot fit is refused before it starts."""

import os
from pathlib import Path

import jax

from mam.core.devices import by_device

_MEMINFO = Path("/proc/meminfo")
# The limits that containers set, by the two versions of Linux's control groups.
_GROUP_LIMITS = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)


class TooLarge(ValueError):
    """An answer would take more memory than there is, or than is allowed."""


def free_memory() -> float:
    """Return about how many bytes work on the default device may take; inf if nobody tells."""
    return by_device(_host_memory, _device_memory)()


def check_memory(needed: float, what: str, remedy: str) -> None:
    """Refuse work that needs more bytes than are free."""
    free = free_memory()
    if needed > free:
        raise TooLarge(
            f"{what} needs about {needed / 1e9:.3g} GB of memory, and {free / 1e9:.3g} GB are "
            f"free: {remedy}"
        )


def _device_memory() -> float:
    stats = jax.local_devices()[0].memory_stats() or {}
    return float(stats.get("bytes_limit", float("inf"))) - float(stats.get("bytes_in_use", 0))


def _host_memory() -> float:
    if _MEMINFO.exists():
        lines = dict(line.split(":", 1) for line in _MEMINFO.read_text().splitlines())
        free = 1024.0 * int(lines["MemAvailable"].split()[0])
    elif hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        free = float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")
    else:
        return float("inf")
    limits = [path.read_text().strip() for path in _GROUP_LIMITS if path.exists()]
    return min([free, *(float(text) for text in limits if text.isdigit())])
