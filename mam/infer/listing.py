r"""Small components of weighted ORs: all their configurations at once.

If every factor is a sum of weighted ORs, :math:`\sum_j w_j [c \cap M_j \ne \emptyset]`, the score
of all :math:`2^n` configurations of :math:`n` binary variables is one sum over subsets,

.. math:: \mathrm{score}(c) = \sum_j w_j - Z(\bar c), \qquad Z(t) = \sum_{M_j \subseteq t} w_j,

which takes :math:`n 2^n` additions, however many ORs there are. Evidence is an OR of one variable.
"""

from collections.abc import Sequence

import numpy as np

from mam.factors.base import FORBIDDEN
from mam.factors.ragged import Ragged
from mam.graph import GraphUnion, Scores
from mam.infer.connected import number_components
from mam.infer.solved_components import SolvedComponents

WAY = "listing"
# Entries that are held at once: 32 MB.
_AT_ONCE = 1 << 22


def list_small(
    union: GraphUnion, scores: Sequence[Scores], largest: float | int
) -> SolvedComponents:
    """Solve the components with at most ``largest`` configurations whose factors are such sums."""
    lists, weights, other = _terms(union, scores)
    first = lists.values[np.minimum(lists.offsets[:-1], len(lists.values) - 1)]
    first = np.where(lists.lengths > 0, first, -1)
    pairs = np.stack([np.repeat(first, lists.lengths), lists.values], 1)
    component = number_components(np.ones(len(union.states), bool), [pairs, *other])
    count = int(component.max(initial=-1)) + 1
    size = np.bincount(component, minlength=count)
    fine = size <= np.log2(largest)
    fine[component[union.states != 2]] = False
    for some in other:
        fine[component[some.ravel()]] = False
    owner = np.where(first >= 0, component[first], count)
    usual = np.where(np.abs(weights) < -FORBIDDEN / 2, np.abs(weights), 0.0)
    fine &= np.bincount(owner, usual, count + 1)[:-1] < -FORBIDDEN / 4
    order = np.argsort(component, kind="stable")
    place = np.empty(len(component), np.int64)
    place[order] = np.arange(len(order)) - (np.cumsum(size) - size)[component[order]]
    bits = np.where(fine[component], 1 << np.where(fine[component], place, 0), 0)
    mask = np.bincount(lists.row_of_value, bits[lists.values], len(lists)).astype(np.int64)
    values, margins = np.zeros(len(component), np.int64), np.full(len(component), np.nan)
    kept = fine.copy()
    for n in np.unique(size[fine]).tolist():
        every = np.flatnonzero(fine & (size == n))
        step = max(_AT_ONCE >> n, 1)
        for some in (every[i : i + step] for i in range(0, len(every), step)):
            table = _all_scores(some, owner, mask, weights, n)
            best = table.argmax(1)
            kept[some] = table.max(1) > FORBIDDEN / 2
            mine = order[np.isin(component[order], some)].reshape(len(some), n)
            values[mine] = best[:, None] >> np.arange(n) & 1
            margins[mine] = _margins(table, n)
    return _known(union, component, kept, values, margins)


def _terms(
    union: GraphUnion, scores: Sequence[Scores]
) -> tuple[Ragged, np.ndarray, list[np.ndarray]]:
    """All weighted ORs, and pairs that the other factors join."""
    lists, weights, other = [], [], []
    for some in scores:
        if some.values.shape[1] == 2:
            known = np.maximum(some.values, FORBIDDEN)
            lists.append(Ragged.of(some.variables[:, None]))
            weights.append(known[:, 1] - known[:, 0])
    for group in union.sets:
        found = group.factors.unions()
        if found is not None:
            lists.append(found.members)
            weights.append(found.weights)
            continue
        scopes = group.factors.scopes()
        start = scopes.values[scopes.offsets[scopes.row_of_value]]
        other.append(np.stack([start, scopes.values], 1))
    if not lists:
        return Ragged(np.zeros(0, np.int64), np.zeros(1, np.int64)), np.zeros(0), other
    return Ragged.stack(lists), np.concatenate(weights), other


def _all_scores(
    some: np.ndarray, owner: np.ndarray, mask: np.ndarray, weights: np.ndarray, n: int
) -> np.ndarray:
    """The scores of all configurations of some components, up to a constant each."""
    rank = np.full(int(max(owner.max(initial=0), some.max())) + 1, -1)
    rank[some] = np.arange(len(some))
    mine = np.flatnonzero(rank[owner] >= 0)
    place = (rank[owner[mine]] << n) + mask[mine]
    table = np.bincount(place, weights[mine], len(some) << n).reshape(len(some), 1 << n)
    total = table.sum(1, keepdims=True)
    for bit in range(n):
        halves = table.reshape(len(some), -1, 2, 1 << bit)
        halves[:, :, 1] += halves[:, :, 0]
    return total - table[:, ::-1]


def _margins(table: np.ndarray, n: int) -> np.ndarray:
    """How far the best configuration with a variable ON is from the best with it OFF."""
    found = np.empty((len(table), n))
    for bit in range(n):
        halves = table.reshape(len(table), -1, 2, 1 << bit)
        off, on = halves[:, :, 0].max((1, 2)), halves[:, :, 1].max((1, 2))
        found[:, bit] = np.abs(on - off)
    return np.where(found > -FORBIDDEN / 2, np.inf, found)


def _known(
    union: GraphUnion,
    component: np.ndarray,
    kept: np.ndarray,
    values: np.ndarray,
    margins: np.ndarray,
) -> SolvedComponents:
    solved = kept[component]
    graph = np.zeros(len(kept), np.int64)
    graph[component] = union.instance
    counts = np.bincount(graph[kept], minlength=len(union.graphs))
    return SolvedComponents(
        union,
        solved,
        np.where(solved, values, 0),
        np.where(solved, margins, np.nan),
        np.zeros(len(union.graphs), bool),
        tuple({WAY: int(number)} if number else {} for number in counts),
    )
