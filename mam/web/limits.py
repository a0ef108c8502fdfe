"""What a request may ask for. Limits are checked before the work that they limit."""

from dataclasses import dataclass


@dataclass(frozen=True)
class WebLimits:
    """All limits of the server."""

    picture_bytes: int = 20 << 20  # of an upload: a camera's JPEG has 5 to 10 MB
    question_bytes: int = 2 << 20  # of any other body; the largest holds a painted mask
    held_bytes: int = 256 << 20  # pictures kept in memory, of all people together
    arriving_bytes: int = 256 << 20  # bodies that are on their way, of all people together
    pixels: int = 12_000_000  # of a picture; 0.5 s a megapixel
    body_seconds: float = 30.0  # in which a body must have arrived
    quick_seconds: float = 30.0  # for a job about curves or a small model
    long_seconds: float = 120.0  # for finding and learning; the first search compiles
    grace_seconds: float = 3.0  # for a job that nobody waits for to end by itself
    waiting: int = 100  # jobs that wait for a worker; one more is sent away
