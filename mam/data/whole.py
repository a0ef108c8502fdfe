"""Files that are whole or absent: written under another name, then renamed."""

import os
from pathlib import Path


def check_folder(path: Path) -> None:
    """Refuse a path whose folder is missing, before any work is done for it."""
    if not path.absolute().parent.is_dir():
        raise FileNotFoundError(f"{path.parent}: no such folder")


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that nobody ever sees half of it."""
    torn = path.with_name(path.name + ".tmp")
    torn.write_bytes(content)
    os.replace(torn, path)
