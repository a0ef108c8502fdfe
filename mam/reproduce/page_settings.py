"""The last section of a page: settings, times, the device and the versions."""

import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version

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
