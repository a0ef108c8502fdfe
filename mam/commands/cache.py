"""What JAX compiled, kept between commands; most of a short command would be compiling."""

import os
from pathlib import Path

_FOLDER = "JAX_COMPILATION_CACHE_DIR"


def cache_folder() -> Path:
    """Where compiled programs are kept."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(os.environ.get(_FOLDER) or home / "mam" / "xla")


def keep_compilations() -> None:
    """Let JAX keep what took a moment to compile; to be called before it is imported."""
    os.environ.setdefault(_FOLDER, str(cache_folder()))
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.3")
