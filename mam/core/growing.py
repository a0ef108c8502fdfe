"""Array sizes that grow in steps, so that few of them occur."""

from threading import Lock


class GrowingSizes:
    """Array sizes that only grow, in steps, so that a stream of images compiles few shapes.

    Several threads may ask at once.

    >>> sizes = GrowingSizes()
    >>> [sizes.fit("rows", count, least=1) for count in (1, 100, 90, 151)]
    [1, 160, 160, 160]
    """

    def __init__(self, spare: float = 0.5) -> None:
        self._sizes: dict[str, int] = {}
        self._lock = Lock()
        self._spare = spare  # places to spare when a size grows, of those needed

    @property
    def known(self) -> dict[str, int]:
        """The sizes so far, by name."""
        return dict(self._sizes)

    def fit(self, name: str, count: int, least: int = 64) -> int:
        """Return a size that holds ``count`` entries."""
        with self._lock:
            known = self._sizes.get(name, 0)
            if count > known:
                wanted = max(count + int(count * self._spare), least)
                grain = 1 << max(wanted.bit_length() - 3, 0)
                self._sizes[name] = known = -(-wanted // grain) * grain
        return max(known, least)
