"""A model of a UAI file as a graph, with the file's own numbering of the variables."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Int

from mam.graph import FactorGraph
from mam.infer import Options, Solution, log_partition, marginals, solve

Observed = Mapping[int, int]


@dataclass(frozen=True)
class UaiAnswer:
    """An answer in the terms of the file."""

    solution: Solution  # its score and bound are those of the file, constant and all
    assignment: Int[np.ndarray, " variables"]  # by the file's numbering
    method: str  # how its components were solved: "elimination", "max-product" or several


@dataclass(frozen=True)
class UaiMarginals:
    """Probabilities in the terms of the file."""

    probabilities: list[np.ndarray]  # of the states of each variable, by the file's numbering
    log_partition: float
    exact: bool


@dataclass(frozen=True)
class UaiModel:
    """A model as a graph, and how its variables are numbered in the file.

    The graph has one group of variables for each number of states: ``x2`` holds the binary ones,
    ``x3`` those with three states. A variable with one state has no place in the graph. Scores of
    the graph lack ``constant``: ``solve`` and ``log_partition`` here add it, and ``in_file`` turns
    other scores into those of the file.
    """

    graph: FactorGraph
    states: Int[np.ndarray, " variables"]  # of each variable of the file
    position: Int[np.ndarray, " variables"]  # its number in the graph, -1 with one state
    constant: float  # the sum of the log potentials that depend on no variable of the graph

    def solve(
        self,
        observed: Observed | None = None,
        options: Options | None = None,
        **changes: Any,
    ) -> UaiAnswer:
        """Find the best assignment of the file, as ``mam.infer.solve`` does."""
        known = dict(observed or {})
        solution = solve(self.graph, self.evidence(known), options, **changes)
        bound = None if solution.bound is None else self.in_file(solution.bound)
        solution = replace(solution, score=self.in_file(solution.score), bound=bound)
        assignment = self.in_file_order(solution.values)
        assignment[list(known)] = list(known.values())
        return UaiAnswer(solution, assignment, ", ".join(solution.ways))

    def log_partition(
        self, observed: Observed | None = None, *, method: str = "exact", **changes: Any
    ) -> float:
        """Return log Z of the file, as ``mam.infer.log_partition`` computes it."""
        evidence = self.evidence(observed or {})
        return self.in_file(log_partition(self.graph, evidence, method=method, **changes))

    def marginals(self, observed: Observed | None = None, **changes: Any) -> UaiMarginals:
        """Return the probabilities of the file's variables, as ``mam.infer.marginals`` does."""
        known = dict(observed or {})
        found = marginals(self.graph, self.evidence(known), **changes)
        flat = [row for group in self.graph.variables for row in found[group.name]]
        each = [np.ones(1) if place < 0 else flat[place] for place in self.position.tolist()]
        return UaiMarginals(each, self.in_file(found.log_partition), found.exact)

    def in_file(self, score: float) -> float:
        """Turn a score, a bound or log Z of the graph into that of the file."""
        return score + self.constant

    def in_file_order(self, values: np.ndarray) -> np.ndarray:
        """Return the states of the file's variables, given those of the graph's."""
        known = self.position >= 0
        result = np.zeros(len(self.states), np.int64)
        result[known] = np.asarray(values)[self.position[known]]
        return result

    def evidence(self, observed: Observed) -> dict[str, np.ndarray]:
        """Return observed states, by number in the file, as evidence for ``solve``."""
        check_observed(observed, self.states)
        scores = {}
        for group in self.graph.variables:
            scores[group.name] = np.zeros((group.size, group.states))
        starts = np.array([group.start for group in self.graph.variables])
        for variable, state in observed.items():
            place = int(self.position[variable])
            if place >= 0:
                group = self.graph.variables[int(np.searchsorted(starts, place, "right")) - 1]
                row = scores[group.name][place - group.start]
                row[np.arange(group.states) != state] = -np.inf
        return scores


def check_observed(observed: Observed, states: np.ndarray) -> None:
    """Refuse evidence about variables or states that do not exist."""
    for variable, state in observed.items():
        if not 0 <= variable < len(states):
            raise ValueError(
                f"evidence names variable {variable}, but the model has {len(states)} "
                "(they count from 0)"
            )
        if not 0 <= state < states[variable]:
            raise ValueError(
                f"evidence sets variable {variable} to state {state}, "
                f"but it has {states[variable]} states (they count from 0)"
            )
