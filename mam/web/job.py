"""What all jobs share: what they are given and what they return."""

from collections.abc import Callable
from typing import Any

from jaxtyping import Shaped
from numpy import ndarray

from mam.data.images import read_picture
from mam.web.frames import Telling

Answer = tuple[dict[str, Any], list[bytes]]
Job = Callable[[dict[str, Any], list[bytes], Telling], Answer]


def given_picture(arguments: dict[str, Any], blobs: list[bytes]) -> Shaped[ndarray, "..."]:
    """The picture that a job is about; its size is checked before it is decoded."""
    return read_picture(blobs[0], arguments["name"], max_pixels=arguments["pixels"])
