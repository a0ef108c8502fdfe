"""`mam doctor`: what this installation has, where it runs, and what is slow about it."""

import json
import os
import shutil
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import typer

from mam.commands.cache import cache_folder
from mam.commands.command_options import JsonOption, QuietOption
from mam.commands.progress_bars import working

_PACKAGE = "markov-attention"
_LIBRARIES = ("jax", "jaxlib", "numpy", "scipy", "pillow", "scikit-image", "pyarrow", "safetensors")
_HIDDEN = ("dev",)  # extras of no use to a user
_FEW = 4  # GB of memory below which large pictures and models are refused
_LARGE = 2.0  # GB of compiled programs that are worth a word
_LATE = 0.3  # seconds that a small picture should take in a warm process


def register(app: typer.Typer) -> None:
    """Add this verb to the application."""
    app.command()(doctor)


def doctor(as_json: JsonOption = False, quiet: QuietOption = False) -> None:
    """Say what this installation has: versions, devices, extras, kept programs, what is slow.

    \b
    Example:
      mam doctor --json
    """
    with working("looking around", quiet):
        found = examine()
    typer.echo(json.dumps(asdict(found)) if as_json else found.as_text())


@dataclass(frozen=True)
class Extra:
    """Packages that some features need."""

    name: str
    packages: dict[str, str | None]  # their versions; None: not installed

    @property
    def missing(self) -> list[str]:
        """Those that are not installed."""
        return [name for name, version in self.packages.items() if version is None]

    def as_text(self) -> str:
        """Return a line."""
        if not self.missing:
            return f"{self.name:14}{', '.join(f'{n} {v}' for n, v in self.packages.items())}"
        remedy = f'pip install "{_PACKAGE}[{self.name}]"'
        return f"{self.name:14}without {', '.join(self.missing)}: {remedy}"


@dataclass(frozen=True)
class Examination:
    """All that the command finds out."""

    versions: dict[str, str | None]
    devices: list[str]
    cores: int
    memory_gb: float
    cache: str
    cache_files: int
    cache_mb: float
    extras: list[Extra]
    seconds: dict[str, float]  # what each step took
    slow: list[str]  # what is slow here, and the remedy

    def as_text(self) -> str:
        """Return a page to read."""
        kept = f"{self.cache_files} files, {self.cache_mb:.1f} MB; it may be removed at any time"
        return "\n".join(
            [
                *(f"{name:14}{version or 'missing'}" for name, version in self.versions.items()),
                "",
                f"{'devices':14}{', '.join(self.devices)}",
                f"{'host':14}{self.cores} cores, {self.memory_gb:.1f} GB of memory free",
                f"{'programs':14}{self.cache} ({kept})",
                "",
                *(extra.as_text() for extra in self.extras),
                "",
                *(f"{spent:6.2f} s      {what}" for what, spent in self.seconds.items()),
                "",
                *(self.slow or ["Nothing is slow that could be faster here."]),
            ]
        )


def examine() -> Examination:
    """Look at the installation and time a small picture."""
    seconds = _timed()
    import jax

    from mam.core.memory import free_memory
    from mam.core.workers import cores

    folder = cache_folder()
    files = [path for path in folder.rglob("*") if path.is_file()] if folder.is_dir() else []
    size = sum(path.stat().st_size for path in files) / 1e6
    devices = [f"{device.platform} ({device.device_kind})" for device in jax.devices()]
    extras = extras_of(_requirements())
    memory = free_memory() / 1e9
    backend = jax.default_backend()
    slow = [
        *_slow_device(backend),
        *_slow_cache(folder, size),
        *_slow_host(memory, extras, seconds["the same picture again"]),
    ]
    stand = str(folder), len(files), round(size, 1)
    return Examination(
        _versions(), devices, cores(), round(memory, 1), *stand, extras, seconds, slow
    )


def _timed() -> dict[str, float]:
    """How long importing takes, and grouping a small picture, first and then again."""
    found, start = {}, time.perf_counter()

    def lap(what: str) -> None:
        nonlocal start
        found[what] = round(time.perf_counter() - start, 3)
        start = time.perf_counter()

    import numpy as np

    from mam.tasks.drawing import group_drawing

    lap("importing what groups pictures")
    picture = np.full((120, 160), 255, np.uint8)
    for row, column in np.ndindex(6, 8):
        picture[10 + 18 * row : 12 + 18 * row, 8 + 19 * column : 16 + 19 * column] = 0
    for what in ("grouping a first small picture", "the same picture again"):
        group_drawing(picture)
        lap(what)
    return found


def _versions() -> dict[str, str | None]:
    from mam import __version__

    python = f"{sys.version.split()[0]} ({sys.executable})"
    return {"mam": __version__, "python": python} | {name: _version(name) for name in _LIBRARIES}


def _version(package: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _requirements() -> list[str]:
    from importlib.metadata import PackageNotFoundError, requires

    try:
        return requires(_PACKAGE) or []
    except PackageNotFoundError:  # run from a checkout
        return []


def extras_of(requirements: Sequence[str]) -> list[Extra]:
    """The extras of a package's requirements, as its metadata list them.

    >>> extras_of(["numpy>=2", "no-such-package>=1; extra == 'fun'"])
    [Extra(name='fun', packages={'no-such-package': None})]
    """
    import re

    found: dict[str, dict[str, str | None]] = {}
    for line in requirements:
        package, extra = re.match(r"[\w.-]+", line), re.search(r"extra == ['\"](.+?)['\"]", line)
        if package and extra and extra[1] not in _HIDDEN:
            found.setdefault(extra[1], {})[package[0]] = _version(package[0])
    return [Extra(name, packages) for name, packages in found.items()]


def _slow_device(backend: str) -> list[str]:
    if backend != "cpu":
        return []
    if shutil.which("nvidia-smi"):
        return ['There is an NVIDIA card that JAX does not use: pip install "jax[cuda12]"']
    return ["Programs run on the CPU; large batches are many times faster on an accelerator."]


def _slow_cache(folder: Path, megabytes: float) -> list[str]:
    there = next(path for path in (folder, *folder.parents) if path.exists())
    if not os.access(there, os.W_OK):
        return [
            f"{folder}: cannot be written, so every command compiles its programs anew; set "
            "XDG_CACHE_HOME to a folder that can."
        ]
    if not megabytes:
        return ["No programs are kept yet: the first command of a kind compiles for some seconds."]
    if megabytes > 1000 * _LARGE:
        return [f"{folder}: {megabytes / 1000:.1f} GB of programs are kept; remove what is old."]
    return []


def _slow_host(memory: float, extras: Sequence[Extra], again: float) -> list[str]:
    slow = []
    if memory < _FEW:
        slow.append(f"{memory:.1f} GB of memory are free: large models will be refused.")
    if any("pytoulbar2" in extra.missing for extra in extras):
        slow.append("Without pytoulbar2 hard components are solved by messages, often unproved.")
    if again > _LATE:
        slow.append(f"A small picture takes {again:.2f} s, usually below {_LATE}: a busy machine?")
    return slow
