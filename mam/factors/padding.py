"""How much room each array of a compiled graph gets, so that few shapes are ever compiled.

A shape that XLA has not seen costs seconds; padding costs a share of microseconds. Small graphs
therefore get coarse sizes that depend on one number only (the largest of their counts), and large
graphs get tight sizes. A stream of large graphs keeps its shapes by handing the ``room`` of one
compiled graph to the next: room only grows.
"""

from collections.abc import Mapping

import numpy as np

# Below this many edges an iteration is bound by overhead, not by the number of slots.
_SMALL = 1 << 13
_SMALLEST = 256
# Rows that cost more than this are not padded to the common size.
_CHEAP_ROW = 64
# A bucket narrower than this many slots in all is merged into the next wider one.
_WORTH_A_BUCKET = 1 << 14


class Padding:
    """Choose widths of buckets and numbers of rows; remember them by label in ``room``."""

    def __init__(self, size: int, room: Mapping[str, int] | None = None) -> None:
        self._least = dict(room or {})
        self._small = size <= _SMALL
        self._common = max(_SMALLEST, 4 ** int(np.ceil(np.log(max(size, 1)) / np.log(4) - 1e-9)))
        self.room: dict[str, int] = dict(self._least)

    def rows(self, label: str, count: int, cost: int = 1, degree: int = 1) -> int:
        """Return how many rows an array of ``count`` rows gets.

        ``cost`` is the number of slots in a row, ``degree`` the least number of edges in it.
        """
        if self._least.get(label, -1) >= count:
            capacity = self._least[label]
        elif self._small and cost <= _CHEAP_ROW:
            capacity = self._common // max(degree, 1)
        else:
            step = max(1, 1 << max(0, int(count - 1).bit_length() - 3))
            capacity = -(-count // step) * step
        capacity = max(capacity, count)
        self.room[label] = max(capacity, self.room.get(label, 0))
        return capacity

    def buckets(
        self, label: str, lengths: np.ndarray, cost: int = 1
    ) -> list[tuple[int, np.ndarray]]:
        """Split rows by length; return ``(width, row numbers padded with -1)`` for each bucket.

        ``cost`` is the number of slots that a row takes elsewhere.
        """
        widths = self._widths(label, lengths)
        which = np.searchsorted(widths, lengths)
        buckets = []
        for index, width in enumerate(widths):
            rows = np.flatnonzero(which == index)
            name = f"{label}/{width}"
            degree = widths[index - 1] if index else 1
            # A narrow first bucket also holds the rows without any edge.
            capacity = self.rows(name, len(rows), cost=cost, degree=degree)
            buckets.append((width, np.pad(rows, (0, capacity - len(rows)), constant_values=-1)))
        return buckets

    def _widths(self, label: str, lengths: np.ndarray) -> list[int]:
        longest = int(lengths.max(initial=1))
        known = [int(name.rpartition("/")[2]) for name in self._least if _is_bucket(name, label)]
        if self._small:
            widths = [4]
            while widths[-1] < max([longest, *known]):
                widths.append(widths[-1] * 4)
            return widths
        if known:
            wider = [_ladder(longest)[-1]] if longest > max(known) else []
            return sorted(known) + wider
        counts = np.bincount(np.searchsorted(_ladder(longest), lengths))
        widths, slots = [], 0
        for width, count in zip(_ladder(longest), counts, strict=False):
            slots += width * count
            if slots >= _WORTH_A_BUCKET:
                widths.append(width)
                slots = 0
        return sorted({*widths, int(_ladder(longest)[len(counts) - 1])})


def _is_bucket(name: str, label: str) -> bool:
    head, _, tail = name.rpartition("/")
    return head == label and tail.isdigit()


def _ladder(longest: int) -> list[int]:
    """Every width up to 8, then eight an octave: at most an eighth of a row is padding."""
    steps = list(range(1, 9))
    while steps[-1] < longest:
        steps += [steps[-1] * eighth // 8 for eighth in range(9, 17)]
    return steps
