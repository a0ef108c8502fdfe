"""Networks of log potentials in the terms of toulbar2: costs to minimise, packed into arrays."""

import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np

from mam.factors.network import Network, Tables

# Tables over up to this many variables are written whole, others as lists.
MOST_WHOLE = 3
# toulbar2 counts costs in whole numbers up to 5e17; their sum stays well below.
_MOST_COST = 1e16
_MOST_DIGITS = 12
# Answers should be right to 1e-6.
_FEWEST_DIGITS = 7


@dataclass(frozen=True)
class Costs:
    """A network with the costs ``shift - log potential``, shifted so that none is negative.

    ``arrays`` are the functions one after another, as ``toulbar_worker.build`` reads them: the
    variables' ``states``; each function's ``arities`` and its ``scopes``; ``listed``, whether it
    lists its configurations in ``cases`` or has a whole table; ``counts``, how many ``costs`` it
    has.
    """

    arrays: dict[str, np.ndarray]
    digits: int  # decimals of a cost
    offset: float  # the score is the offset less the cost

    @classmethod
    def of(cls, network: Network) -> "Costs | None":
        """Return the costs of a network, or None if one of its tables allows nothing."""
        parts = [_Part.of(tables) for tables in network.tables]
        if any(np.isneginf(part.shift).any() for part in parts):
            return None
        offset = math.fsum(float(part.shift.sum()) for part in parts)
        digits = _digits(math.fsum(float(part.spread.sum()) for part in parts))
        # A table of no variables is all shift.
        used = [part for part in parts if part.scopes.shape[1]]
        return cls(_arrays(network.states, used), digits, offset)

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


@dataclass(frozen=True)
class _Part:
    """Tables of one shape: costs and their shift, one row a table."""

    scopes: np.ndarray
    states: tuple[int, ...]
    costs: np.ndarray  # inf where impossible
    shift: np.ndarray
    spread: np.ndarray  # the largest finite cost

    @classmethod
    def of(cls, tables: Tables) -> "_Part":
        size = int(np.prod(tables.shape, dtype=np.int64))
        flat = tables.values.reshape(len(tables.values), size)
        scores = np.broadcast_to(flat, (len(tables), size))
        shift = scores.max(1, initial=-np.inf)
        costs = np.where(np.isneginf(shift), 0.0, shift)[:, None] - scores
        spread = costs.max(1, initial=0.0, where=np.isfinite(costs))
        return cls(tables.scopes, tables.shape, costs, shift, spread)

    @property
    def listed(self) -> bool:
        """Whether only the possible configurations are written."""
        return len(self.states) > MOST_WHOLE

    @property
    def counts(self) -> np.ndarray:
        """How many costs each table writes."""
        if not self.listed:
            return np.full(len(self.scopes), self.costs.shape[1])
        return np.isfinite(self.costs).sum(1)

    def cases(self) -> np.ndarray:
        """The configurations that are listed, one after another."""
        _, place = np.nonzero(np.isfinite(self.costs))
        return np.stack(np.unravel_index(place, self.states), 1).ravel()

    def written(self) -> np.ndarray:
        """The costs, one after another."""
        return self.costs[np.isfinite(self.costs)] if self.listed else self.costs.ravel()


def _arrays(states: np.ndarray, parts: list[_Part]) -> dict[str, np.ndarray]:
    return {
        "states": states.astype(np.int64),
        "arities": _joined((np.full(*p.scopes.shape) for p in parts), np.int64),
        "scopes": _joined((p.scopes.ravel() for p in parts), np.int64),
        "listed": _joined((np.full(len(p.scopes), p.listed) for p in parts), np.int64),
        "counts": _joined((p.counts for p in parts), np.int64),
        "cases": _joined((p.cases() for p in parts if p.listed), np.int64),
        "costs": _joined((p.written() for p in parts), np.float64),
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
