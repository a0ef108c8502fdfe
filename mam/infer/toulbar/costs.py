"""Networks of log potentials in the terms of toulbar2: costs to minimise, packed into arrays."""

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np

from mam.infer.toulbar.auxiliary import MOST_WHOLE, Function, Network

# toulbar2 counts costs in whole numbers up to 5e17; their sum stays well below.
_MOST_COST = 1e16
_MOST_DIGITS = 12
# Answers should be right to 1e-6.
_FEWEST_DIGITS = 7


@dataclass(frozen=True)
class Costs:
    """A network with the costs ``shift - log potential``, shifted so that none is negative.

    ``arrays`` are the functions one after another, as ``worker.build`` reads them: the variables'
    ``states``; each function's ``arities`` and its ``scopes``; ``listed``, whether it lists its
    configurations in ``cases`` or has a whole table; ``counts``, how many ``costs`` it has.
    """

    arrays: dict[str, np.ndarray]
    digits: int  # decimals of a cost
    offset: float  # the score is the offset less the cost

    @classmethod
    def of(cls, network: Network) -> "Costs | None":
        """Return the costs of a network, or None if one of its functions allows nothing."""
        functions = [_possible(function) for function in network.functions]
        if not all(len(function.scores) for function in functions):
            return None
        shifts = [float(f.scores.max()) for f in functions]
        spreads = (s - float(f.scores.min()) for s, f in zip(shifts, functions, strict=True))
        digits = _digits(math.fsum(spreads))
        # A function of no variables is all shift.
        shifted = [(f, s) for f, s in zip(functions, shifts, strict=True) if f.scope]
        return cls(_arrays(network.states, shifted), digits, math.fsum(shifts))

    @property
    def variables(self) -> int:
        """How many variables there are, auxiliary ones included."""
        return len(self.arrays["states"])

    @property
    def resolution(self) -> float:
        """How much rounding can change the difference of two assignments' scores.

        Each function's cost is rounded to a unit of its last digit, and the sum, which may have
        more digits than a double, to another two.
        """
        rounded = (len(self.arrays["arities"]) + 2) * 10.0**-self.digits
        return rounded + 4 * float(np.finfo(np.float64).eps) * abs(self.offset)

    def score(self, cost: float) -> float:
        """Return the score, in natural logarithms, that belongs to a cost."""
        return self.offset - cost

    def write(self, file: BinaryIO) -> None:
        """Append a line of JSON, which says how long the arrays are, and the arrays."""
        lengths = {name: len(array) for name, array in self.arrays.items()}
        file.write(json.dumps({"digits": self.digits, "lengths": lengths}).encode() + b"\n")
        for array in self.arrays.values():
            file.write(array.tobytes())


def _possible(function: Function) -> Function:
    finite = np.isfinite(function.scores)
    if finite.all():
        return function
    return Function(function.scope, function.cases[finite], function.scores[finite])


def _arrays(states: list[int], shifted: list[tuple[Function, float]]) -> dict[str, np.ndarray]:
    functions = [function for function, _ in shifted]
    lists = [function for function in functions if _as_list(function)]
    costs = [shift - (f.scores if _as_list(f) else f.whole(states).ravel()) for f, shift in shifted]
    return {
        "states": np.array(states, np.int64),
        "arities": np.array([len(function.scope) for function in functions], np.int64),
        "scopes": _joined((function.scope for function in functions), np.int64),
        "listed": np.array([_as_list(function) for function in functions], np.int64),
        "counts": np.array([len(part) for part in costs], np.int64),
        "cases": _joined((function.cases.ravel() for function in lists), np.int64),
        "costs": _joined(costs, np.float64),
    }


def _as_list(function: Function) -> bool:
    return len(function.scope) > MOST_WHOLE


def _joined(parts: Iterable, dtype: type) -> np.ndarray:
    return np.concatenate([np.zeros(0, dtype), *(np.asarray(part, dtype) for part in parts)])


def _digits(spread: float) -> int:
    """How many decimals of the costs fit, given the largest total cost."""
    digits = min(_MOST_DIGITS, math.floor(math.log10(_MOST_COST / max(spread, 1.0))))
    if digits < _FEWEST_DIGITS:
        raise ValueError(
            f"the log potentials spread over {spread:.3g} in total, too much for the whole-number "
            "costs of toulbar2; use -inf for what is impossible"
        )
    return digits
