"""Which factor of each graph sends at which stage of a sweep along an order of the variables.

Every variable has a rank in its graph. On the way forth the factors send in the order of their
first variables, each to all of its variables but the first; on the way back in the opposite order,
each to all but the last. News crosses a graph in one sweep, while all factors at once would need as
many iterations as the longest path has factors.

Where no variable is a later one of two factors, the graph is a forest and its order a walk: forth,
back and forth again is exact, because every path leads down in rank and then up.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import breadth_first_order, connected_components

from mam.core.pytree import pytree
from mam.factors import Ragged
from mam.factors.base import Leaf
from mam.graph import CompiledGraph, FactorGraph

Sends = tuple[tuple[bool | None, ...], ...]  # for each block and port

# Stages beyond those of the longest graph are not run: room for them only costs memory.
_FEWEST = 256
# Blocks of fewer factors run in any orientation, so that small graphs share their programs.
_ALIKE = 64


@pytree
@dataclass(frozen=True)
class Pass:
    """One way along the order: at each stage, one factor of every graph sends.

    It sends to those of its variables whose ranks are above ``after`` and at most ``upto``. For
    each port of each block, ``sends`` says whether that is true of all variables, of none, or for
    some (None); only where it is None are the ranks looked at.
    """

    row: tuple[Leaf, ...]  # for each block (stages, instances); past its last row: none
    after: tuple[Leaf, ...]  # like row
    upto: tuple[Leaf, ...]  # like row
    count: Leaf  # (): stages that are no padding
    sends: Sends = field(metadata={"static": True})


@pytree
@dataclass(frozen=True)
class Stages:
    """An order of the variables of every graph, and the ways along it.

    An iteration goes forth and back: in two passes where all factors are pairs and oriented alike,
    since either then has one port to send to; otherwise in one, which compiles sooner.
    """

    rank: tuple[Leaf, ...]  # for each class of variables; not read where pairs are oriented alike
    iteration: tuple[Pass, ...]
    last: Pass  # forth once more
    deciding: Pass  # forth, with a stage for every variable that is not its factor's first
    exact: Leaf  # (instances,): the graph is a forest and its order a walk


@dataclass(frozen=True)
class _Edges:
    """All factors with their variables."""

    block: np.ndarray  # of each factor
    row: np.ndarray
    instance: np.ndarray
    start: np.ndarray  # first edge of each factor; there is one at least
    factor: np.ndarray  # of each edge
    variable: np.ndarray  # of the union


def stages_of(compiled: CompiledGraph, order: Sequence[np.ndarray] | None = None) -> Stages:
    """Wire sweeps over a batch; ``order`` has for each graph one number a variable.

    Without it a graph is walked through breadth-first from its first variable, component by
    component.
    """
    edges = _edges_of(compiled)
    place = _walk(compiled, edges) if order is None else np.concatenate(order)
    rank = _ranks(compiled, place)
    own = rank[edges.variable]
    first = np.minimum.reduceat(own, edges.start) if len(own) else own
    last = np.maximum.reduceat(own, edges.start) if len(own) else own
    later, alone = own > first[edges.factor], first == last
    forth = _Sending(np.arange(len(first)), (last, first), first - alone, last)
    back = _Sending(forth.factor, (-last, -first), first - 1, last - 1).take(~alone)
    target = own[later]
    deciding = _Sending(edges.factor[later], (target, target), target - 1, target)
    alike = _alike(compiled, edges, own)
    mixed = tuple((None,) * len(ports) for ports in compiled.wiring.ports)
    if alike is None:
        iteration = (_pass(compiled, edges, mixed, forth, back),)
    else:
        opposite = tuple(ports[::-1] for ports in alike)
        iteration = _pass(compiled, edges, alike, forth), _pass(compiled, edges, opposite, back)
    return Stages(
        _by_class(compiled, rank),
        iteration,
        _pass(compiled, edges, alike or mixed, forth),
        _pass(compiled, edges, alike or mixed, deciding),
        _exact(compiled, edges, later, own == first[edges.factor]),
    )


class _Sending(NamedTuple):
    """Factors that send one after another: the last key counts first."""

    factor: np.ndarray
    keys: tuple[np.ndarray, np.ndarray]
    after: np.ndarray
    upto: np.ndarray

    def take(self, which: np.ndarray) -> "_Sending":
        """Return some of them."""
        return _Sending(
            self.factor[which],
            (self.keys[0][which], self.keys[1][which]),
            self.after[which],
            self.upto[which],
        )


def _edges_of(compiled: CompiledGraph) -> _Edges:
    """List the factors by graph and in the order of their own graph, whatever the batch."""
    found, scopes = [], [Ragged.of([])]
    for b, rows in enumerate(compiled.factor_rows):
        group = compiled.sets[compiled.wiring.parameters[b]]
        present = np.flatnonzero(rows >= 0)
        present = present[group.arity[rows[present]] > 0]
        factor = rows[present]
        scopes.append(group.factors.scopes().take(factor))
        found.append((np.full(len(factor), b), present, group.instance[factor], group.edge[factor]))
    nothing = np.zeros((4, 0), np.int64)
    block, row, instance, edge = np.concatenate([nothing, *map(np.stack, found)], 1)
    order = np.lexsort((edge, instance))
    lists = Ragged.stack(scopes).take(order)
    return _Edges(
        block[order],
        row[order],
        instance[order],
        lists.offsets[:-1],
        lists.row_of_value,
        lists.values,
    )


def _walk(compiled: CompiledGraph, edges: _Edges) -> np.ndarray:
    """Return when a breadth-first walk meets each variable."""
    count, factors = len(compiled.kind), len(edges.row)
    ends = np.stack([edges.variable, count + edges.factor])
    size = count + factors + 1
    joined = coo_array((np.ones(ends.shape[1], bool), ends), (size, size))
    label = connected_components(joined, directed=False)[1][:count]
    roots = np.unique(label, return_index=True)[1]
    pairs = np.concatenate([ends, np.stack([np.full(len(roots), size - 1), roots])], 1)
    both = np.concatenate([pairs, pairs[::-1]], 1)
    matrix = coo_array((np.ones(both.shape[1], bool), both), (size, size)).tocsr()
    matrix.sort_indices()
    met = breadth_first_order(matrix, size - 1, return_predecessors=False)
    return np.argsort(met[met < count])


def check_order(graphs: Sequence[FactorGraph], order: Sequence[np.ndarray]) -> None:
    """Refuse an order that has not one number for each variable of each graph."""
    if len(order) != len(graphs):
        raise ValueError(f"{len(order)} orders for {len(graphs)} graphs")
    for i, (graph, one) in enumerate(zip(graphs, order, strict=True)):
        if np.shape(one) != graph.states.shape or np.isnan(np.asarray(one, float)).any():
            raise ValueError(
                f"the order of graph {i} has shape {np.shape(one)}; it is one number for each of "
                f"its {len(graph.states)} variables"
            )


def _ranks(compiled: CompiledGraph, place: np.ndarray) -> np.ndarray:
    """Count the variables of each graph from 0 on in the order of their places."""
    graph = compiled.union.instance
    order = np.lexsort((place, graph))
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order)) - compiled.starts[graph[order]]
    return rank


def _pass(compiled: CompiledGraph, edges: _Edges, sends: Sends, *ways: _Sending) -> Pass:
    """Give every sending factor a stage in its graph, one way after another."""
    wiring = compiled.wiring
    way = np.repeat(np.arange(len(ways)), [len(one.factor) for one in ways])
    factor, after, upto = (
        np.concatenate([getattr(one, name) for one in ways]) for name in ("factor", "after", "upto")
    )
    keys = (np.concatenate([one.keys[k] for one in ways]) for k in (0, 1))
    instance = edges.instance[factor]
    order = np.lexsort((factor, *keys, way, instance))
    graph = instance[order]
    stage = np.arange(len(order)) - np.searchsorted(graph, graph)
    count = int(stage.max(initial=-1)) + 1
    size = _FEWEST
    while size < count:
        size *= 4
    tables = []
    for b, rows in enumerate(compiled.factor_rows):
        mine = edges.block[factor[order]] == b
        place, which = (stage[mine], graph[mine]), order[mine]
        table = np.full((3, size, wiring.instances), len(rows), np.int32)
        for one, values in zip(table, (edges.row[factor], after, upto), strict=True):
            one[place] = values[which]
        tables.append(table)
    row, low, high = zip(*tables, strict=True) if tables else ((), (), ())
    return Pass(row, low, high, np.int32(count), sends)


def _alike(compiled: CompiledGraph, edges: _Edges, rank: np.ndarray) -> Sends | None:
    """Which ports of each block are sent to on the way forth, if that is one of two everywhere."""
    found = []
    for b, ports in enumerate(compiled.wiring.ports):
        starts = edges.start[edges.block == b]
        if len(starts) < _ALIKE or [port.index.ndim for port in ports] != [1, 1]:
            return None
        rises, falls = rank[starts + 1] > rank[starts], rank[starts + 1] < rank[starts]
        if not (rises.all() or falls.all()):
            return None
        found.append((False, True) if rises.all() else (True, False))
    return tuple(found)


def _by_class(compiled: CompiledGraph, rank: np.ndarray) -> tuple[np.ndarray, ...]:
    ranks = []
    for kind in range(len(compiled.wiring.states)):
        mine = compiled.kind == kind
        own = np.zeros(compiled.wiring.class_size(kind), np.int32)
        own[compiled.position[mine]] = rank[mine]
        ranks.append(own)
    return tuple(ranks)


def _exact(
    compiled: CompiledGraph, edges: _Edges, later: np.ndarray, first: np.ndarray
) -> np.ndarray:
    """Whether no variable is a later one of two factors, and none is twice in one."""
    exact = np.ones(compiled.wiring.instances, bool)
    times = np.bincount(edges.variable[later], minlength=len(compiled.kind))
    exact[compiled.union.instance[times > 1]] = False
    twice = np.bincount(edges.factor[first], minlength=len(edges.row)) > 1
    exact[edges.instance[twice]] = False
    return exact
