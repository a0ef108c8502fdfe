"""Export to toulbar2, an exact solver for cost networks, through pytoulbar2."""

import math
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mam.graph import FactorGraph
from mam.graph.evidence import Evidence
from mam.infer.toulbar.auxiliary import MOST_WHOLE, Function, Network

# toulbar2 counts costs in whole numbers up to 5e17; their sum stays well below.
_MOST_COST = 1e16
_MOST_DIGITS = 12
# Answers should be right to 1e-6.
_FEWEST_DIGITS = 7


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
    network = Network.of(graph, evidence)
    shifts = [float(f.scores.max(initial=-np.inf)) for f in network.functions]
    spreads = [
        shift - float(f.scores.min()) if len(f.scores) else math.inf
        for shift, f in zip(shifts, network.functions, strict=True)
    ]
    names = graph.labels()
    names += [f"auxiliary {i}" for i in range(len(network.states) - len(names))]
    decoder = Decoder(len(graph.states), math.fsum(s for s in shifts if math.isfinite(s)))
    if not all(map(math.isfinite, spreads)):
        return _contradiction(names, network.states), decoder
    cfn = _empty(names, network.states, _digits(math.fsum(spreads)))
    try:
        for function, shift in zip(network.functions, shifts, strict=True):
            _post(cfn, function, shift, network.states)
    except cfn.Contradiction:
        # Some contradictions are found while posting, which leaves the network half made.
        return _contradiction(names, network.states), decoder
    return cfn, decoder


def solve_with_toulbar2(
    graph: FactorGraph, evidence: Evidence | None = None, timeout: float | int | None = None
) -> tuple[np.ndarray, float]:
    """Return an optimal assignment and its score (natural logarithm).

    If no assignment is possible, the score is -inf and every state is -1. ``timeout`` is in
    seconds; TimeoutError is raised when no optimum was proved by then.
    """
    if timeout is not None and timeout <= 0:
        raise ValueError(f"timeout is a positive number of seconds, not {timeout}")
    cfn, decoder = to_toulbar2(graph, evidence)
    limit = 0 if timeout is None else math.ceil(timeout)
    start = time.perf_counter()
    try:
        found = cfn.Solve(timeLimit=limit)
    finally:
        _disarm()
    # toulbar2 does not say that it was stopped; its clock starts a little before ours.
    in_time = limit == 0 or time.perf_counter() - start < 0.9 * limit
    if found is None and in_time:
        return np.full(len(graph.states), -1), -math.inf
    if found is None:
        raise TimeoutError(f"toulbar2 found no assignment in {limit} s; give it a longer timeout")
    solution, cost, _ = found
    score, bound = decoder.score(cost), decoder.score(cfn.GetDDualBound())
    if bound - score > 1e-6:
        raise TimeoutError(
            f"toulbar2 proved no optimum in {limit} s (best score {score:.6g}, bound {bound:.6g}); "
            "give it a longer timeout"
        )
    return decoder(solution), score


def _disarm() -> None:
    """Stop the clock that toulbar2 leaves running after it has solved.

    Its alarm would go off much later, in any thread, and the handler allocates memory: a thread
    that is just doing the same would wait for itself.
    """
    if hasattr(signal, "setitimer"):  # not on Windows
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def _digits(spread: float) -> int:
    """How many decimals of the costs fit, given the largest total cost."""
    digits = min(_MOST_DIGITS, math.floor(math.log10(_MOST_COST / max(spread, 1.0))))
    if digits < _FEWEST_DIGITS:
        raise ValueError(
            f"the log potentials spread over {spread:.3g} in total, too much for the whole-number "
            "costs of toulbar2; use -inf for what is impossible"
        )
    return digits


def _empty(names: Sequence[str], states: Sequence[int], digits: int) -> Any:
    try:
        import pytoulbar2
    except ImportError:
        raise ValueError(
            "pytoulbar2 is not installed: pip install markov-attention[interchange]"
        ) from None
    cfn = pytoulbar2.CFN(resolution=digits, verbose=-1)
    # A network without a solution leaves best-first search off for all later ones, and without it
    # toulbar2 tells no bound, so that an optimum would look unproved.
    cfn.Option.hbfs = 1
    for name, count in zip(names, states, strict=True):
        cfn.AddVariable(name, range(count))
    return cfn


def _contradiction(names: Sequence[str], states: Sequence[int]) -> Any:
    """Return a network without a solution, in a form that is not refused while posting."""
    cfn = _empty([*names, "this", "that"], [*states, 2, 2], 0)
    this, that = len(names), len(names) + 1
    cfn.AddFunction([this], [math.inf, 0])
    cfn.AddFunction([this, that], [0, 0, math.inf, math.inf])
    return cfn


def _post(cfn: Any, function: Function, shift: float, states: list[int]) -> None:
    scope = list(function.scope)
    if len(scope) <= MOST_WHOLE:
        cfn.AddFunction(scope, (shift - function.whole(states)).ravel().tolist())
    else:
        costs = (shift - function.scores).tolist()
        cfn.AddCompactFunction(scope, math.inf, function.cases.tolist(), costs)
