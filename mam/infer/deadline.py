"""Until when something may work."""

import time
from dataclasses import dataclass
from threading import Event


@dataclass(frozen=True)
class Deadline:
    """A time, by ``time.monotonic``, or when another thread sets ``given_up``.

    >>> Deadline.within(3600).over, Deadline.within(0).over
    (False, True)
    """

    time: float
    given_up: Event | None = None

    @classmethod
    def within(cls, seconds: float | int, given_up: Event | None = None) -> "Deadline":
        """So many seconds from now."""
        return cls(time.monotonic() + seconds, given_up)

    @property
    def over(self) -> bool:
        """Whether nobody waits any more."""
        return self.left <= 0 or (self.given_up is not None and self.given_up.is_set())

    @property
    def left(self) -> float:
        """Seconds until then."""
        return self.time - time.monotonic()

    def earlier(self, time: float) -> "Deadline":
        """The same, but no later than a given time."""
        return Deadline(min(time, self.time), self.given_up)
