"""What figures were measured with: for the page."""

import platform
from importlib.metadata import version

import jax

from mam import __version__

_PACKAGES = ("jax", "numpy", "scipy", "scikit-image")


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
