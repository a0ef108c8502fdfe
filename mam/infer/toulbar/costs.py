"""Networks of log potentials in the terms of toulbar2: costs to minimise, packed into arrays."""

import json
import math
from collections.abc import Iterable, Iterator
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

    def cost(self, values: np.ndarray) -> float:
        """Return the cost of an assignment, not rounded; inf if it is impossible."""
        arrays = self.arrays
        variable, first = (np.cumsum(arrays[n]) - arrays[n] for n in ("arities", "counts"))
        total = 0.0
        for arity in range(1, MOST_WHOLE + 1):
            rows = np.flatnonzero((arrays["arities"] == arity) & (arrays["listed"] == 0))
            place = np.zeros(len(rows), np.int64)
            for k in range(arity):
                scope = arrays["scopes"][variable[rows] + k]
                place = place * arrays["states"][scope] + values[scope]
            total += float(arrays["costs"][first[rows] + place].sum())
        return total + sum(_listed_costs(arrays, values, variable, first))

    def write(self, file: BinaryIO, eliminate: int) -> None:
        """Append a line of JSON, with settings and the lengths of the arrays, and the arrays.

        toulbar2 may eliminate variables with up to ``eliminate`` neighbours while it searches.
        """
        lengths = {name: len(array) for name, array in self.arrays.items()}
        head = {"digits": self.digits, "eliminate": eliminate, "lengths": lengths}
        file.write(json.dumps(head).encode() + b"\n")
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


def _listed_costs(
    arrays: dict[str, np.ndarray], values: np.ndarray, variable: np.ndarray, first: np.ndarray
) -> Iterator[float]:
    """Yield the costs of the functions that are lists; their variables and costs start there."""
    case = 0
    for row in np.flatnonzero(arrays["listed"]):
        arity, count = int(arrays["arities"][row]), int(arrays["counts"][row])
        own = values[arrays["scopes"][variable[row] : variable[row] + arity]]
        cases = arrays["cases"][case : case + arity * count].reshape(count, arity)
        found = np.flatnonzero((cases == own).all(1))
        yield float(arrays["costs"][first[row] + found[0]]) if found.size else math.inf
        case += arity * count


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
