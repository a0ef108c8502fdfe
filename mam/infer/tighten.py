"""A bound below that of the linear program over single variables.

Where cycles of pairwise factors are frustrated that program is loose. Round by round, the cycles
that promise most get triangles (``pair_clusters``), and the dual descends on the larger model.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mam.factors import Pairwise, Table
from mam.factors.numeric_limits import limit
from mam.factors.reduce import every_configuration
from mam.graph import FactorGraph, GraphUnion, Scores, union_scores
from mam.infer.cycles import MOST_NODES, Cycle, Pair, frustrated_cycles, nodes_of
from mam.infer.deadline import Deadline
from mam.infer.dual_bounds import dual_bounds
from mam.infer.options import Options
from mam.infer.pair_clusters import PairModel, with_values
from mam.infer.passing import HostStore
from mam.infer.problem import Problem
from mam.infer.score import graph_scores
from mam.infer.solution import Solution, lifted

# Cycles that get their triangles in one round, at most.
_MOST_CYCLES = 4096
# Looks at the bound in the first round; later ones have twice as many as the one before, since
# few cycles are worth knowing precisely before all of them are in.
_FIRST_STEPS = 20
# States of the variables of a cycle, at most: a triangle has their third power.
_MOST_STATES = 16


def tightened(
    problem: Problem, solutions: list[Solution], options: Options, end: Deadline
) -> list[Solution]:
    """Return the solutions under lower bounds, where there are any by ``end``, or better ones."""
    return [
        _tightened(problem, number, solution, options, end)
        if not solution.optimal and not solution.impossible
        else solution
        for number, solution in enumerate(solutions)
    ]


def _tightened(
    problem: Problem, number: int, solution: Solution, options: Options, end: Deadline
) -> Solution:
    graph, evidence = _alone(problem, number)
    model, size = PairModel.of(graph), len(graph.states)
    union = GraphUnion.of(graph)
    scores = union_scores(union, evidence)
    small = {pair for pair, table in model.tables.items() if max(table.shape) <= _MOST_STATES}
    if nodes_of(small, graph.states) > MOST_NODES:
        return solution
    chosen: tuple[Cycle, ...] = ()
    for number in range(options.tighten + 1 if small else 0):
        steps = min(_FIRST_STEPS << number, options.bound_steps)
        larger, pairs = model.with_clusters(chosen)
        one = Problem.of(larger, evidence, np.float64)
        known = _stored(one, with_values(solution.values, pairs, graph.states))
        found = dual_bounds(one, known, replace(options, bound_steps=steps), end)
        values = one.compiled.gather(found.states)[:size].astype(np.int64)
        solution = _improved(union, scores, solution, values)
        lowest = min(float(found.bounds[0]), np.inf if solution.bound is None else solution.bound)
        solution = replace(solution, bound=lifted(lowest, solution.score))
        left = _left(one, found.messages, size)
        more = _best({pair: left[pair] for pair in small}, chosen, graph.states)
        over = end.over or (not more and steps == options.bound_steps)
        if solution.optimal or solution.impossible or over:
            break
        chosen += more
    return solution


def _best(
    tables: dict[Pair, np.ndarray], chosen: Sequence[Cycle], states: np.ndarray
) -> tuple[Cycle, ...]:
    """The most promising cycles that are not chosen yet."""
    known = {frozenset(cycle) for cycle in chosen}
    cycles = [cycle for _, cycle in frustrated_cycles(tables, states)]
    new = [cycle for cycle in cycles if frozenset(cycle) not in known]
    return tuple(new[:_MOST_CYCLES])


def _alone(problem: Problem, number: int) -> tuple[FactorGraph, dict[str, np.ndarray]]:
    """One graph of a batch with the potentials it has there, and its evidence."""
    compiled = problem.compiled
    union, start = compiled.union, int(compiled.starts[number])
    graph = compiled.graphs[number]
    here = np.arange(len(union.states)) - start
    factors = []
    for i, group in enumerate(union.sets):
        rows = np.flatnonzero(group.instance == number)
        if len(rows):
            factors.append((f"{i}", group.factors.take(rows, here)))
    scores = {some.values.shape[1]: some for some in compiled.unpacked(problem.scores)}
    evidence = {}
    for group in graph.variables:
        some = scores[group.states]
        place = np.searchsorted(some.variables, start + group.ids)
        evidence[group.name] = some.values[place]
    return FactorGraph(graph.variables, tuple(factors)), evidence


def _stored(problem: Problem, values: np.ndarray) -> HostStore:
    """States of all variables as one array a class."""
    compiled = problem.compiled
    stored = []
    for kind in range(len(compiled.wiring.states)):
        states = np.zeros(compiled.wiring.class_size(kind), np.int32)
        mine = compiled.kind == kind
        states[compiled.position[mine]] = values[mine]
        stored.append(states)
    return tuple(stored)


def _improved(
    union: GraphUnion, scores: tuple[Scores, ...], solution: Solution, values: np.ndarray
) -> Solution:
    """Take over states that score more."""
    score = float(graph_scores(union, scores, values)[0])
    if score <= solution.score:
        return solution
    return replace(solution, values=values, score=score, violated=())


def _left(problem: Problem, messages: HostStore, size: int) -> dict[Pair, np.ndarray]:
    """The tables of pairs of the first ``size`` variables, less what messages take from them."""
    compiled, found = problem.compiled, {}
    wiring, states = compiled.wiring, compiled.graphs[0].states
    for block, rows in enumerate(compiled.factor_rows):
        factors = compiled.sets[wiring.parameters[block]].factors
        if not isinstance(factors, Pairwise | Table):
            continue
        paired = isinstance(factors, Pairwise)
        cases = every_configuration(factors.shape) if paired else factors.configurations
        # Other tables may stand in the same block; those of pairs have two old variables.
        here = np.flatnonzero((rows >= 0) & ((factors.variables[rows] < size).sum(1) == 2))
        scores = factors.potentials[factors.row[rows[here]]]
        for place, port in enumerate(wiring.ports[block]):
            said = messages[port.kind][port.start + here]
            said = np.stack([0 * said, said], 1) if said.ndim == 1 else said
            scores = scores - said[:, cases[:, place]]
        for (u, v), own in zip(factors.variables[rows[here], :2].tolist(), scores, strict=True):
            found[u, v] = np.full((states[u], states[v]), -limit(np.float64))
            np.maximum.at(found[u, v], (cases[:, 0], cases[:, 1]), own)
    return found
