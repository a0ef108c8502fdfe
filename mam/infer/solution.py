"""What a solver answers, and how good the answer is."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape

import numpy as np

from mam.graph import FactorGraph

NO_GAP = 1e-5  # a gap up to this is rounding: the answer is proved


@dataclass(frozen=True)
class Solution:
    """An assignment with its certificate.

    ``score`` is the sum of log potentials and evidence (natural logarithm), -inf if a hard factor
    is violated. ``bound``, when asked for, is at least the score of any assignment, and ``gap`` is
    bound - score: at a gap of 0 the assignment is optimal. Not every model has a possible
    assignment: look at ``feasible`` first, and at ``impossible`` for a proof that there is none.
    """

    graph: FactorGraph
    values: np.ndarray  # the state of each variable
    margins: np.ndarray  # how much better that state is than the next, by the final beliefs
    score: float
    bound: float | None
    converged: bool
    iterations: int
    violated: tuple[str, ...]  # hard factors by name and number, and "evidence of" a variable
    ways: Mapping[str, int] = field(default_factory=dict)  # how many components were solved how
    open: np.ndarray | None = None  # variables whose component is not proved; None: see ``proof``

    def __repr__(self) -> str:
        return f"<Solution: {self.explain()}>"

    def _repr_html_(self) -> str:
        """What a notebook shows: how good it is, and the states of each group, some of many."""
        rows = [
            f"<tr><td>{escape(name)}</td><td>{escape(_some(states))}</td></tr>"
            for name, states in self.assignment.items()
        ]
        return f"<p>{escape(self.explain())}</p><table>{''.join(rows)}</table>"

    @property
    def assignment(self) -> Mapping[str, np.ndarray]:
        """The states by name, each array in the shape of its group."""
        return self.graph.split(self.values)

    @property
    def gap(self) -> float | None:
        """Bound less score, not below 0.

        Infinite if the assignment is not feasible; None without a bound, or if nothing is possible.
        """
        if self.impossible:
            return None
        return gap_between(self.score, self.bound)

    @property
    def feasible(self) -> bool:
        """Whether no hard factor is violated and no forbidden state is used."""
        return bool(np.isfinite(self.score))

    @property
    def impossible(self) -> bool:
        """Whether it is proved that no assignment is feasible."""
        return self.bound is not None and bool(np.isneginf(self.bound))

    @property
    def proof(self) -> str | None:
        """How it is known that the answer is the best one, or that there is none.

        "exact": every component was solved exactly; "bound": the bound meets the score; None: it
        is not known.
        """
        if not (self.optimal or self.impossible):
            return None
        return "bound" if any("max-product" in way for way in self.ways) else "exact"

    @property
    def proved(self) -> np.ndarray:
        """Of each variable, whether the states of its component are proved to be the best."""
        if self.open is None:
            return np.full(len(self.values), self.proof is not None)
        return ~self.open

    @property
    def optimal(self) -> bool:
        """Whether the assignment is feasible and the certificate proves it optimal."""
        return self.feasible and self.gap is not None and self.gap <= NO_GAP

    def __getitem__(self, name: str) -> np.ndarray:
        group = self.graph.group(name)
        return self.values[group.start : group.start + group.size].reshape(group.shape)

    def margin(self, name: str) -> np.ndarray:
        """Return the margins of a group of variables, in its shape."""
        group = self.graph.group(name)
        return self.margins[group.start : group.start + group.size].reshape(group.shape)

    def explain(self) -> str:
        """Say in words how good the answer is.

        The words come from the fields, so they cannot disagree with them.
        """
        if self.impossible:
            state = "no assignment is possible"
        elif self.violated:
            some = ", ".join(self.violated[:3]) + (", ..." if len(self.violated) > 3 else "")
            state = f"violates {some}"
        elif self.optimal:
            state = "proved optimal"
        elif self.gap is not None:
            state = f"within {self.gap:.4g} of the optimum"
        else:
            state = "feasible, no bound asked for"
        return f"score {self.score:.6g}, {state}; {self._how()}"

    def _how(self) -> str:
        run = "converged" if self.converged else "stopped"
        messages = f"max-product {run} after {self.iterations} iterations"
        if set(self.ways) <= {"max-product"} and sum(self.ways.values()) <= 1:
            return messages
        count = sum(self.ways.values())
        ways = ", ".join(f"{number} by {way}" for way, number in self.ways.items())
        several = f"{count} component{'s' if count != 1 else ''}: {ways}"
        by_messages = any("max-product" in way for way in self.ways)
        return f"{several}; {messages}" if by_messages else several


def _some(states: np.ndarray) -> str:
    return np.array2string(states, threshold=40, edgeitems=8)


def gap_between(score: float, bound: float | None) -> float | None:
    """Bound less score, not below 0 (the two are rounded apart); None without a bound.

    >>> gap_between(2.0, 2.5), gap_between(2.0, 2.0 - 1e-12), gap_between(2.0, None)
    (0.5, 0.0, None)
    """
    return None if bound is None else max(bound - score, 0.0)


def lifted(bound: float, score: float) -> float:
    """Lift a bound that lies below its score by no more than rounding; show what lies lower."""
    return score if score - 1e-9 * (1 + abs(score)) <= bound < score else bound
