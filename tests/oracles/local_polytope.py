"""The optimum of the linear program that the dual bound descends to, by a general solver."""

import numpy as np
import scipy.sparse as sp
from scipy.optimize import linprog

from mam.graph import FactorGraph, GraphUnion, union_scores


def local_bound(graph: FactorGraph, evidence: dict) -> float:
    """Maximise over locally consistent marginals: those of each factor agree with its variables.

    Every configuration of every factor is a variable of the program, so factors must be small.
    """
    union = GraphUnion.of(graph)
    first = np.append(0, np.cumsum(union.states))
    value = np.zeros(first[-1])
    for some in union_scores(union, evidence):
        for variable, scores in zip(some.variables, some.values, strict=True):
            value[first[variable] : first[variable + 1]] = scores
    of_variable = np.repeat(np.arange(len(union.states)), union.states)
    values, entries = [value], [np.stack([of_variable, np.arange(len(value)), 1 + 0 * of_variable])]
    right = [np.ones(len(union.states))]
    rules, columns = len(union.states), len(value)
    for group in union.sets:
        for factor in range(len(group.factors)):
            listing = group.factors.table(factor, union.states)
            cases = columns + np.arange(len(listing.potentials))
            values.append(listing.potentials)
            columns += len(cases)
            for place, variable in enumerate(listing.variables):
                states = np.arange(union.states[variable])
                rule = rules + listing.configurations[:, place]
                entries.append(np.stack([rule, cases, 1 + 0 * rule]))
                entries.append(
                    np.stack([rules + states, first[variable] + states, -1 + 0 * states])
                )
                right.append(np.zeros(len(states)))
                rules += len(states)
    return _solved(np.concatenate(values), np.concatenate(entries, 1), np.concatenate(right))


def _solved(value: np.ndarray, entries: np.ndarray, right: np.ndarray) -> float:
    row, column, sign = entries
    matrix = sp.csr_matrix((sign.astype(float), (row, column)), (len(right), len(value)))
    possible = np.isfinite(value)
    bounds = np.stack([np.zeros(len(value)), possible.astype(float)], 1)
    cost = np.where(possible, -value, 0.0)
    found = linprog(cost, A_eq=matrix, b_eq=right, bounds=bounds, method="highs")
    return -float(found.fun) if found.status == 0 else -np.inf
