r"""Marginal MAP: the best states of some variables, all others being summed out,

.. math:: \max_q \log \sum_s e^{\text{score}(q, s)}.

The sum comes first: one variable s after another leaves, in the joint table of those that mention
it. What stays is a model of the queried variables q alone, which is solved as any other, with its
proof. Sums and maxima do not change places, so a table may grow that MAP and log Z are spared.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from itertools import count
from math import fsum, prod
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from mam.core.memory import TooLarge
from mam.infer import Options
from mam.infer.tables import log_sum
from mam.models.dense import full_tables
from mam.models.uai.numbers import Numbers
from mam.models.uai.to_graph import assemble
from mam.models.uai.uai_model import Observed, UaiAnswer, UaiModel, check_observed

_LARGEST_TABLE = 1 << 22  # entries: 32 MB

_Table = tuple[tuple[int, ...], np.ndarray]  # scope, log potentials


def read_uai_query(path: str | PathLike, model: UaiModel) -> list[int]:
    """Read a query file: how many variables are asked for, and their numbers."""
    place = Path(path)
    numbers = Numbers.read(place, place.read_bytes())
    if not len(numbers):
        raise ValueError(f"{place} is empty; a query is a number of variables and their numbers")
    count = int(numbers.whole_numbers(0, 1, "the number of queried variables")[0])
    if count != len(numbers) - 1:
        raise numbers.error(0, f"{count} variables are announced, but {len(numbers) - 1} follow")
    query = numbers.whole_numbers(1, count, "a queried variable").tolist()
    for place_of, variable in enumerate(query, 1):
        if not 0 <= variable < len(model.states):
            known = len(model.states)
            raise numbers.error(place_of, f"there is no variable {variable}, but 0 to {known - 1}")
        if variable in query[: place_of - 1]:
            raise numbers.error(place_of, f"variable {variable} is queried twice")
    return query


def marginal_map(
    model: UaiModel,
    query: Sequence[int],
    observed: Observed | None = None,
    options: Options | None = None,
    **changes: Any,
) -> UaiAnswer:
    """The best states of the queried variables, in their order; ``TooLarge`` names the width.

    The score is log sum exp over all others, that of the states with the evidence.
    """
    known = dict(observed or {})
    check_observed(known, model.states)
    kept = {int(model.position[v]): number for number, v in enumerate(query) if v not in known}
    kept.pop(-1, None)
    fixed = {int(model.position[v]): state for v, state in known.items()}
    tables = [_cut(scope, logs, fixed) for scope, logs in _tables(model)]
    gone = set(range(len(model.graph.states))) - set(kept) - set(fixed)
    constant, left = _sum_out(tables, model.graph.states, gone)
    parts = [(np.array([[kept[v] for v in scope]]), logs[None]) for scope, logs in left]
    states = np.ones(len(query), np.int64)
    for variable, number in kept.items():
        states[number] = model.graph.states[variable]
    answer = assemble(states, parts, constant + model.constant).solve({}, options, **changes)
    assignment = answer.assignment
    for number, variable in enumerate(query):
        assignment[number] = known.get(variable, assignment[number])
    method = f"sums, then {answer.method}" if answer.method else "sums"
    return replace(answer, assignment=assignment, method=method)


def _tables(model: UaiModel) -> list[_Table]:
    return [
        (tuple(scope.tolist()), logs)
        for name, factors in model.graph.factors
        for scope, logs in full_tables(model.graph, name, factors)
    ]


def _cut(scope: tuple[int, ...], logs: np.ndarray, fixed: dict[int, int]) -> _Table:
    """A table without the variables whose states are known."""
    chosen = tuple(fixed.get(v, slice(None)) for v in scope)
    return tuple(v for v in scope if v not in fixed), np.asarray(logs[chosen])


def _sum_out(
    tables: list[_Table], states: np.ndarray, gone: set[int]
) -> tuple[float, list[_Table]]:
    """Sum variables out; what is left: a constant, and tables over the others."""
    holding: dict[int, set[int]] = {}  # by variable, the numbers of its tables
    waiting, numbers = dict(enumerate(tables)), count(len(tables))
    for number, (scope, _) in waiting.items():
        for v in scope:
            holding.setdefault(v, set()).add(number)
    for v in _order(tables, states, gone):
        own, fresh = holding.pop(v, set()), next(numbers)
        # Without tables of its own each of its states counts the same.
        alone = (v,), np.zeros(int(states[v]))
        made = _without(v, [waiting.pop(number) for number in sorted(own)] or [alone], states)
        waiting[fresh] = made
        for other in made[0]:
            holding[other] = (holding[other] - own) | {fresh}
    constant = fsum(float(logs) for scope, logs in waiting.values() if not scope)
    return constant, [one for one in waiting.values() if one[0]]


def _without(v: int, tables: Sequence[_Table], states: np.ndarray) -> _Table:
    """The joint table with one variable summed out."""
    scope = (v, *sorted({u for own, _ in tables for u in own} - {v}))
    _check_size(scope, states)
    joint = reduce(np.add, (_aligned(one, scope) for one in tables))
    joint = np.broadcast_to(joint, tuple(states[list(scope)].tolist()))
    return scope[1:], np.asarray(log_sum(joint, (0,)))


def _aligned(table: _Table, scope: tuple[int, ...]) -> np.ndarray:
    """A table with an axis for each variable of a scope, of length 1 for those it lacks."""
    own, logs = table
    logs = logs.transpose(np.argsort([scope.index(v) for v in own]))
    lengths = dict(zip(sorted(own, key=scope.index), logs.shape, strict=True))
    return logs.reshape([lengths.get(v, 1) for v in scope])


def _check_size(scope: tuple[int, ...], states: np.ndarray) -> None:
    entries = prod(float(states[v]) for v in scope)
    if entries > _LARGEST_TABLE:
        raise TooLarge(
            f"marginal MAP is not solved here: summing out reaches width {len(scope) - 1} and a "
            f"table of {entries:.3g} entries, above {_LARGEST_TABLE:.3g}; ask for fewer or other "
            "variables, or give more evidence"
        )


def _order(tables: Sequence[_Table], states: np.ndarray, gone: set[int]) -> list[int]:
    """Who leaves first: the variable whose leaving joins the fewest strangers (min-fill)."""
    near: dict[int, set[int]] = {v: set() for v in gone}
    for scope, _ in tables:
        for v in scope:
            near.setdefault(v, set()).update(scope)
    for v, others in near.items():
        others.discard(v)
    costs = {v: _cost(v, near, states) for v in gone}
    order = []
    while costs:
        v = min(costs, key=lambda one: costs[one])
        del costs[v]
        order.append(v)
        around = near.pop(v)
        _check_size((v, *around), states)
        for u in around:
            near[u] |= around - {u}
            near[u].discard(v)
        for u in set().union(around, *(near[u] for u in around)) & costs.keys():
            costs[u] = _cost(u, near, states)
    return order


def _cost(v: int, near: dict[int, set[int]], states: np.ndarray) -> tuple[int, float, int]:
    around = near[v]
    strangers = sum(len(around - near[u]) - 1 for u in around)
    return strangers, prod((float(states[u]) for u in around), start=1.0), v
