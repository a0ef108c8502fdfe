"""``solve``: every component of a model the cheapest sure way, with a proof where there is one."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mam.core.memory import TooLarge
from mam.core.programs import forget_old_programs
from mam.graph import CompiledGraph, FactorGraph, GraphUnion, Scores, union_scores
from mam.graph.evidence import Evidence
from mam.infer.eliminate import Eliminated, eliminate
from mam.infer.hard import solve_rest
from mam.infer.maxproduct import max_product
from mam.infer.options import Options
from mam.infer.problem import graphs_of
from mam.infer.rest import Rest, leftovers
from mam.infer.score import graph_scores, violations
from mam.infer.solution import Solution
from mam.infer.stages import check_order

Order = np.ndarray | Sequence | None
Graphs = FactorGraph | CompiledGraph | Sequence[FactorGraph]

# Beyond this many edges looking for components takes longer than it is likely to save.
_MOST_EDGES = 1 << 21


def solve(
    graph: Graphs,
    evidence: Evidence | Sequence[Evidence] | None = None,
    options: Options | None = None,
    order: Order = None,
    **changes: Any,
) -> Any:
    """Find a best assignment: a ``Solution``, or a list of them for a batch of graphs.

    ``evidence`` maps names of variable groups to arrays, see ``pack_evidence``; a batch takes a
    list of such mappings. Settings are the fields of ``Options``, given as one or by name. The
    method is

    - "auto": evidence and hard constraints cut the graph into components; trees and components of
      small width are solved exactly, by elimination. Others go to toulbar2, where it is installed
      (for a tenth of ``seconds``), what it cannot prove by then to max-product, and with ``bound``
      what is still open to toulbar2 for the rest of its time;
    - "exact": elimination alone; ``TooLarge``, a ``ValueError``, if something is left over;
    - "toulbar2": elimination and toulbar2;
    - "max-product": messages alone, on the whole graph.

    With ``schedule="sweeps"`` messages go along an order of the variables: ``order`` has one number
    for each variable of the graph, or is a list of such arrays for a batch. By default a graph is
    walked through from its first variable.

    >>> from mam.factors import Pairwise
    >>> from mam.graph import GraphBuilder
    >>> builder = GraphBuilder()
    >>> x = builder.variables("x", 3)
    >>> builder.add("agree", Pairwise.of([[0, 1], [1, 2]], [[1, 0], [0, 1]]))
    >>> solution = solve(builder.build(), {"x": [0.5, 0, 0]})
    >>> solution["x"].tolist(), solution.score, solution.proof
    ([1, 1, 1], 2.5, 'exact')
    """
    chosen = replace(options or Options(), **changes)
    graphs = graph if isinstance(graph, CompiledGraph) else graphs_of(graph)
    single = isinstance(graph, FactorGraph) or (
        isinstance(graph, CompiledGraph) and len(graph.graphs) == 1
    )
    orders = _orders(graphs_of(graph), order, single, chosen)
    too_large = chosen.method == "auto" and _edges(graphs) > _MOST_EDGES
    if chosen.method == "max-product" or too_large:
        found = max_product(graphs, evidence, chosen, orders)
    else:
        union = graphs.union if isinstance(graphs, CompiledGraph) else GraphUnion.of(graphs)
        found = _by_components(union, union_scores(union, evidence), chosen, orders)
    return found[0] if single else found


def _orders(
    graphs: Sequence[FactorGraph], order: Order, single: bool, options: Options
) -> list[np.ndarray] | None:
    if order is None:
        return None
    if options.schedule != "sweeps":
        raise ValueError(f"an order is for schedule='sweeps', not {options.schedule!r}")
    orders = [np.asarray(one) for one in ([order] if single else order)]
    check_order(graphs, orders)
    return orders


def _edges(graphs: CompiledGraph | tuple[FactorGraph, ...]) -> int:
    if isinstance(graphs, CompiledGraph):
        return graphs.edges
    return sum(graph.edges for graph in graphs)


def _by_components(
    union: GraphUnion,
    scores: tuple[Scores, ...],
    options: Options,
    orders: list[np.ndarray] | None,
) -> list[Solution]:
    forget_old_programs()
    found = eliminate(union, scores, options.largest_table)
    rest = leftovers(found, scores)
    if rest and options.method == "exact":
        raise TooLarge(
            f"this model cannot be solved exactly: {found.split.refusal}; method='auto' would "
            f"solve {len(rest)} of its components by max-product"
        )
    if orders is not None:
        everywhere = np.concatenate(orders)
        rest = [replace(one, order=everywhere[one.variables]) for one in rest]
    return _assembled(found, scores, rest, solve_rest(rest, options))


def _assembled(
    found: Eliminated, scores: tuple[Scores, ...], rest: list[Rest], answers: list[Solution]
) -> list[Solution]:
    """Put the answers of all components together, graph by graph."""
    union = found.split.union
    values, margins, impossible = (
        known.copy() for known in (found.values, found.margins, found.impossible)
    )
    count = len(union.graphs)
    missing = np.zeros(count)  # what the bounds of components lie above their scores
    bounded, converged = np.ones(count, bool), np.ones(count, bool)
    iterations = np.zeros(count, np.int64)
    for one, answer in zip(rest, answers, strict=True):
        mine = one.variables[one.free]
        values[mine], margins[mine] = answer.values[one.free], answer.margins[one.free]
        bounded[one.owner] &= answer.bound is not None
        if answer.bound is not None and not answer.impossible:
            missing[one.owner] += max(answer.bound - answer.score, 0.0)
        impossible[one.owner] |= answer.impossible
        converged[one.owner] &= answer.converged
        iterations[one.owner] = max(iterations[one.owner], answer.iterations)
    total = graph_scores(union, scores, values)
    broken = [()] * count if np.isfinite(total).all() else violations(union, scores, values)
    # Nothing is known of a graph whose answer is not feasible, unless that is proved.
    above = np.where(np.isfinite(total), total + missing, np.inf)
    bounds = np.where(impossible, -np.inf, above)
    ways = _ways(found, rest, answers)
    ends = np.append(union.starts, len(values))
    return [
        Solution(
            graph,
            values[ends[i] : ends[i + 1]],
            margins[ends[i] : ends[i + 1]],
            float(total[i]),
            float(bounds[i]) if bounded[i] or impossible[i] else None,
            bool(converged[i]),
            int(iterations[i]),
            broken[i],
            ways=ways[i],
        )
        for i, graph in enumerate(union.graphs)
    ]


def _ways(found: Eliminated, rest: list[Rest], answers: list[Solution]) -> list[dict[str, int]]:
    """How many components of each graph were solved how."""
    split = found.split
    ways: list[Counter[str]] = [Counter() for _ in split.union.graphs]
    graph = split.graph_of_component[split.exact]
    for number, solved in enumerate(np.bincount(graph, minlength=len(ways))):
        if solved:
            ways[number]["elimination"] = int(solved)
    for one, answer in zip(rest, answers, strict=True):
        ways[one.owner].update(answer.ways)
    # A graph without any choice needs no method, and is known all the same.
    return [dict(some) or {"evidence": 1} for some in ways]
