"""Lists of different lengths as two flat arrays, and their padding to rectangles."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int


@dataclass(frozen=True)
class Ragged:
    """Row ``i`` holds ``values[offsets[i]:offsets[i + 1]]``.

    >>> rows = Ragged.of([[4, 5], [], [6]])
    >>> rows.lengths.tolist()
    [2, 0, 1]
    """

    values: Int[np.ndarray, " values"]
    offsets: Int[np.ndarray, " rows_plus_one"]

    @classmethod
    def of(cls, rows: "Ragged | np.ndarray | Sequence") -> "Ragged":
        """Make one from a rectangle, a list of lists, or another ragged list."""
        if isinstance(rows, Ragged):
            return rows
        if isinstance(rows, np.ndarray) and rows.ndim == 2:
            return cls(as_ids(rows.ravel()), np.arange(len(rows) + 1) * rows.shape[1])
        lengths = [np.size(row) for row in rows]
        filled = [np.ravel(row) for row in rows if np.size(row)]
        values = np.concatenate(filled) if filled else []
        return cls(as_ids(values), np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]))

    @classmethod
    def stack(cls, parts: "Sequence[Ragged]") -> "Ragged":
        """Put the rows of several lists below each other."""
        lengths = np.concatenate([part.lengths for part in parts])
        values = np.concatenate([part.values for part in parts])
        return cls(values, np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]))

    @classmethod
    def stack_columns(cls, parts: "Sequence[Ragged]") -> "Ragged":
        """Put the rows of several lists beside each other.

        >>> Ragged.stack_columns([Ragged.of([[1], [2]]), Ragged.of([[3], []])]).values.tolist()
        [1, 3, 2]
        """
        rows = np.concatenate([part.row_of_value for part in parts])
        values = np.concatenate([part.values for part in parts])
        lengths = np.sum([part.lengths for part in parts], axis=0)
        order = np.argsort(rows, kind="stable")
        return cls(values[order], np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: int | np.integer) -> np.ndarray:
        return self.values[self.offsets[row] : self.offsets[row + 1]]

    @property
    def lengths(self) -> np.ndarray:
        """The number of values in each row."""
        return np.diff(self.offsets)

    @property
    def row_of_value(self) -> np.ndarray:
        """The row that each value stands in."""
        return np.repeat(np.arange(len(self)), self.lengths)

    def take(self, which: np.ndarray) -> "Ragged":
        """Return some of the rows.

        >>> Ragged.of([[1, 2], [3], [4, 5]]).take(np.array([2, 0])).values.tolist()
        [4, 5, 1, 2]
        """
        lengths = self.lengths[which]
        offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
        place = np.arange(offsets[-1]) - np.repeat(offsets[:-1] - self.offsets[which], lengths)
        return Ragged(self.values[place], offsets)

    def rectangle(self, rows: np.ndarray, width: int) -> np.ndarray:
        """Return the given rows as a ``(len(rows), width)`` array, -1 where there is nothing.

        A row number of -1 stands for an empty row; rows may not be longer than ``width``.
        """
        known = rows >= 0
        safe = np.where(known, rows, 0) if len(self) else np.zeros_like(rows)
        lengths = np.where(known, self.lengths[safe], 0) if len(self) else np.zeros_like(rows)
        column = np.arange(width)
        present = column < lengths[:, None]
        if not self.values.size:
            return np.full(present.shape, -1, np.int64)
        index = np.where(present, self.offsets[safe][:, None] + column, 0)
        return np.where(present, self.values[index], -1)


def as_ids(values: object) -> np.ndarray:
    """Return variable numbers as an integer array, refusing anything else."""
    array = np.asarray(values)
    if array.size and not np.issubdtype(array.dtype, np.integer):
        raise ValueError(f"variables are given by whole numbers, not {array.dtype}")
    return array.astype(np.int64)


def rows_in(known: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the place of each row among the known ones, -1 where it is none of them.

    >>> rows_in(np.array([[0, 1], [1, 1]]), np.array([[1, 1], [0, 0]])).tolist()
    [1, -1]
    """
    both: np.ndarray = np.concatenate([known, rows])
    sizes = (np.max(both, 0, initial=0) + 1).tolist()
    if np.prod(sizes, dtype=float) < 2.0**62:
        codes = np.asarray(np.ravel_multi_index(tuple(both.T), sizes))
    else:
        codes = np.unique(both, axis=0, return_inverse=True)[1].ravel()
    listed, wanted = codes[: len(known)], codes[len(known) :]
    if not len(known):
        return np.full(len(rows), -1)
    order = np.argsort(listed)
    place = order[np.minimum(np.searchsorted(listed[order], wanted), len(known) - 1)]
    return np.where(listed[place] == wanted, place, -1)


# Codes up to here are counted in an array instead of being sorted.
_FEW_CODES = 1 << 16


def distinct_rows(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct rows of small whole numbers, and which of them each row is.

    The same as ``np.unique`` along the first axis, many times as fast for rows of few kinds.

    >>> kinds, which = distinct_rows(np.array([[0, 2], [1, 0], [0, 2]]))
    >>> kinds.tolist(), which.tolist()
    ([[0, 2], [1, 0]], [0, 1, 0])
    """
    sizes = np.max(rows, 0, initial=0).astype(np.int64) + 1
    if np.prod(sizes, dtype=float) > _FEW_CODES:
        kinds, which = np.unique(rows, axis=0, return_inverse=True)
        return kinds, which.ravel()
    codes = np.zeros(len(rows), np.int64)
    for column, size in zip(rows.T, sizes, strict=True):
        codes = codes * size + column
    found = np.bincount(codes) > 0
    first = np.zeros(len(found), np.int64)
    first[codes[::-1]] = np.arange(len(rows))[::-1]
    return rows[first[found]], (np.cumsum(found) - 1)[codes]
