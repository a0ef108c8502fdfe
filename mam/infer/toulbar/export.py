"""Graphs to toulbar2, an exact solver for cost networks, through pytoulbar2."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mam.core.memory import TooLarge
from mam.factors.network import Network
from mam.graph import FactorGraph, GraphUnion, union_scores
from mam.graph.evidence import Evidence
from mam.infer.network_of_tables import write_network
from mam.infer.toulbar.costs import Costs
from mam.infer.toulbar.process import check_installed, solve_in_process
from mam.infer.toulbar.toulbar_worker import build


@dataclass(frozen=True)
class Decoder:
    """Turns what toulbar2 answers into the terms of the graph."""

    variables: int  # of the graph; the auxiliary ones follow them
    offset: float  # the score is the offset less the cost

    def __call__(self, solution: Sequence[int]) -> np.ndarray:
        """Return the states of the graph's variables."""
        return np.array(solution[: self.variables], np.int64)

    def score(self, cost: float) -> float:
        """Return the score, in natural logarithms, that belongs to a cost."""
        return self.offset - cost


def to_toulbar2(graph: FactorGraph, evidence: Evidence | None = None) -> tuple[Any, Decoder]:
    """Return the graph as a ``pytoulbar2.CFN`` that minimises costs, and the way back.

    Variables keep their numbers and are named as in the graph; auxiliary ones follow. Costs are
    minus the log potentials, shifted so that none is negative. pytoulbar2 holds global state: make
    and solve one network after the other.
    """
    check_installed()
    network = network_of(graph, evidence)
    costs = Costs.of(network)
    names = graph.labels()
    names += [f"auxiliary {i}" for i in range(len(network.states) - len(names))]
    if costs is None:
        return _contradiction(names, network.states), Decoder(len(graph.states), 0.0)
    decoder = Decoder(len(graph.states), costs.offset)
    import pytoulbar2.pytb2

    try:
        return build(costs.arrays, costs.digits, names), decoder
    except pytoulbar2.pytb2.Contradiction:
        # Some contradictions are found while posting, which leaves the network half made.
        return _contradiction(names, network.states), decoder


def solve_with_toulbar2(
    graph: FactorGraph, evidence: Evidence | None = None, timeout: float | int | None = None
) -> tuple[np.ndarray, float]:
    """Return an optimal assignment and its score (natural logarithm).

    If no assignment is possible, the score is -inf and every state is -1. ``timeout`` is in
    seconds; TimeoutError is raised when no optimum was proved by then.
    """
    if timeout is not None and timeout <= 0:
        raise ValueError(f"timeout is a positive number of seconds, not {timeout}")
    limit = math.inf if timeout is None else float(timeout)
    answer = solve_in_process(network_of(graph, evidence), limit)
    if not answer.proved:
        raise TimeoutError(
            f"toulbar2 proved no optimum in {answer.seconds:.3g} s (best score {answer.score:.6g}, "
            f"bound {answer.bound:.6g}); give it a longer timeout"
        )
    if answer.values is None:
        return np.full(len(graph.states), -1), -math.inf
    return answer.values[: len(graph.states)], answer.score


def network_of(graph: FactorGraph, evidence: Evidence | None = None) -> Network:
    """Return a graph with its evidence as small tables; refuse a factor that has none."""
    union = GraphUnion.of(graph)
    network, unwritten = write_network(union, union_scores(union, evidence))
    if unwritten:
        raise TooLarge(f"a {unwritten[0].kind} factor is too large to be written as tables")
    return network


def _contradiction(names: list[str], states: np.ndarray) -> Any:
    """Return a network without a solution, in a form that is not refused while posting."""
    no_functions = dict.fromkeys(("arities", "listed", "counts"), ())
    arrays = {"states": np.array([*states, 2, 2]), **no_functions}
    cfn = build(arrays, 0, [*names, "this", "that"])
    this, that = len(names), len(names) + 1
    cfn.AddFunction([this], [math.inf, 0])
    cfn.AddFunction([this, that], [0, 0, math.inf, math.inf])
    return cfn
