"""A model of a UAI file as a graph, with the file's own numbering of the variables."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from mam.graph import FactorGraph

Observed = Mapping[int, int]


@dataclass(frozen=True)
class UaiModel:
    """A model as a graph, and how its variables are numbered in the file.

    The graph has one group of variables for each number of states: ``x2`` holds the binary ones,
    ``x3`` those with three states. A variable with one state has no place in the graph.
    """

    graph: FactorGraph
    states: Int[np.ndarray, " variables"]  # of each variable of the file
    position: Int[np.ndarray, " variables"]  # its number in the graph, -1 with one state
    constant: float  # the sum of the log potentials that depend on no variable of the graph

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
