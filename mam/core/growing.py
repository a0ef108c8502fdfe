"""Array sizes that grow in steps, so that few of them occur."""


class GrowingSizes:
    """Array sizes that only grow, in steps, so that a stream of images compiles few shapes."""

    def __init__(self, spare: float = 0.5) -> None:
        self._sizes: dict[str, int] = {}
        self._spare = spare  # places to spare when a size grows, of those needed

    def fit(self, name: str, count: int, least: int = 64) -> int:
        """Return a size that holds ``count`` entries."""
        known = self._sizes.get(name, 0)
        if count > known:
            wanted = max(count + int(count * self._spare), least)
            grain = max(1 << wanted.bit_length() - 3, 1)
            self._sizes[name] = known = -(-wanted // grain) * grain
        return max(known, least)
