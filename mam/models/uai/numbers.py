"""Numbers in a text file, with the line of each for the error messages."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float


@dataclass(frozen=True)
class Numbers:
    """The numbers of a file, after ``skip`` words that are not numbers."""

    path: Path
    text: bytes
    skip: int
    values: Float[np.ndarray, " numbers"]

    @classmethod
    def read(cls, path: Path, text: bytes, skip: int = 0) -> "Numbers":
        """Turn all words but the first ``skip`` into numbers; the first that is none is named."""
        words = text.split()[skip:]
        try:
            # Python reads 1_000 as a number, no other program does.
            if b"_" in text:
                raise ValueError("underscore")
            values = np.array(list(map(float, words)), dtype=np.float64)
        except ValueError:
            bad = next(i for i, word in enumerate(words) if not _is_number(word))
            line = _line_of(text, skip + bad)
            raise ValueError(f"{path}, line {line}: {_shown(words[bad])} is not a number") from None
        return cls(path, text, skip, values)

    def __len__(self) -> int:
        return len(self.values)

    def line(self, index: int) -> int:
        """Return the line of a number; past the end, the last line."""
        return _line_of(self.text, self.skip + index)

    def error(self, index: int, what: str) -> ValueError:
        """Return an error that names file and line."""
        return ValueError(f"{self.path}, line {self.line(index)}: {what}")

    def whole_numbers(self, start: int, count: int, what: str) -> np.ndarray:
        """Return ``count`` whole numbers from ``start`` on, refusing what is missing or broken."""
        if start + count > len(self):
            raise self.error(
                len(self) - 1,
                f"the file ends here, but {what} needs {start + count - len(self)} more numbers",
            )
        values = self.values[start : start + count]
        # Beyond 2^53 a double no longer counts; no file is that long.
        wrong = np.flatnonzero(~((values == np.floor(values)) & (np.abs(values) < 2.0**53)))
        if wrong.size:
            at = start + int(wrong[0])
            raise self.error(at, f"{what} must be a whole number, not {self.values[at]:g}")
        return values.astype(np.int64)

    def count(self, index: int, what: str) -> int:
        """Return an announced number of things, each of which takes at least one number."""
        announced = int(self.whole_numbers(index, 1, f"the number of {what}")[0])
        left = len(self) - index - 1
        if announced < 0:
            raise self.error(index, f"the number of {what} cannot be negative: {announced}")
        if announced > left:
            raise self.error(
                index, f"{announced} {what} are announced, but only {left} numbers follow"
            )
        return announced


def _is_number(word: bytes) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return b"_" not in word


def _shown(word: bytes) -> str:
    text = word[:20].decode("ascii", "backslashreplace")
    return repr(text if len(word) <= 20 else text + "...")


def _line_of(text: bytes, word: int) -> int:
    """Return the line of a word, counted from 1; past the end, the line of the last word."""
    last = seen = 0
    for number, line in enumerate(text.split(b"\n"), 1):
        count = len(line.split())
        seen += count
        last = number if count else last
        if seen > word:
            return number
    return max(last, 1)
