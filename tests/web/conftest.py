"""A server as a user starts it, with its worker processes."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

PATIENCE = 120.0  # seconds that the first answer may take: the workers warm up


@contextmanager
def served(*options: str) -> Iterator[str]:
    """The address of `mam show`."""
    command = [sys.executable, "-m", "mam", "show", "--port", "0", *options]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=os.environ
    ) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().split()[0]
        finally:
            process.terminate()
            process.wait(20)


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    with served() as found:
        yield found


@pytest.fixture(scope="session")
def client(address: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=address, timeout=PATIENCE) as found:
        yield found


@pytest.fixture(scope="session")
def cross() -> bytes:
    """Two dark lines on paper."""
    import numpy as np

    from mam.data.images import encode_png

    picture = np.full((120, 160), 235, np.uint8)
    picture[57:63, 10:150] = picture[10:110, 77:83] = 40
    return encode_png(picture)
