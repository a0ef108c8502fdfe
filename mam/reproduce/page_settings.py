"""The last section of a page: settings, times, the device and the versions."""

import platform
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from importlib.metadata import version
from typing import Any

import jax

from mam import __version__
from mam.reproduce.steps import Step, StepFolder
from mam.show.page import TableRow, table

SETTINGS = "Settings, versions and times"  # its heading
NO_FIGURE = "–"
_PACKAGES = ("jax", "numpy", "scipy", "scikit-image")


def settings_table(told: Mapping[str, str]) -> str:
    """The table of settings, with the device and the versions."""
    rows = [TableRow([name, said]) for name, said in {**told, **device_and_versions()}.items()]
    return table(["what", "setting"], rows)


def settings_in_full(methods: Mapping[str, Any]) -> str:
    """A table of every setting of some methods, side by side."""
    told = {name: flat_settings(settings) for name, settings in methods.items()}
    names = dict.fromkeys(name for own in told.values() for name in own)
    rows = [
        TableRow([name, *(own.get(name, NO_FIGURE) for own in told.values())]) for name in names
    ]
    return table(["setting", *told], rows)


def flat_settings(settings: Any, before: str = "") -> dict[str, str]:
    """Settings inside settings as words, by their names from the outside to the inside.

    >>> from mam.vision.parts.masks import Noise
    >>> flat_settings({"noise": Noise(), "times": 3, "rounds": ()})
    {'noise: pi01': '0.02', 'noise: pi10': '0.0019', 'noise: prior': '-20.0', 'times': '3', \
'rounds': 'none'}
    """
    if is_dataclass(settings):
        settings = {field.name: getattr(settings, field.name) for field in fields(settings)}
    elif isinstance(settings, tuple) and hasattr(settings, "_asdict"):
        settings = settings._asdict()  # type: ignore[attr-defined]
    elif isinstance(settings, tuple):
        settings = {str(number): one for number, one in enumerate(settings, 1)} or None
    if not isinstance(settings, Mapping):
        return {before: "none" if settings is None else str(settings)}
    found: dict[str, str] = {}
    for name, value in settings.items():
        found |= flat_settings(value, f"{before}: {name}" if before else name)
    return found


def time_told(store: StepFolder, steps: Sequence[Step]) -> str:
    """The time that finished steps took, in words."""
    return f"{store.seconds(steps):,.0f} s for {len(steps)} steps, compiling included"


def device_and_versions() -> dict[str, str]:
    """The device and the versions.

    >>> sorted(device_and_versions())
    ['device', 'versions']
    """
    device = jax.devices()[0]
    packages = [f"{name} {version(name)}" for name in _PACKAGES]
    python = f"Python {platform.python_version()}"
    return {
        "device": f"{device.device_kind}, {device.platform}; {platform.machine()}",
        "versions": ", ".join([f"mam {__version__}", python, *packages]),
    }
