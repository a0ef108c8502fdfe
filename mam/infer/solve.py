"""``solve``: every component of a model the cheapest sure way, with a proof where there is one."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from mam.core.growing import GrowingSizes
from mam.core.memory import TooLarge
from mam.core.programs import forget_old_programs
from mam.graph import (
    CompiledGraph,
    FactorGraph,
    GraphUnion,
    Scores,
    compile_graphs,
    compile_growing,
    union_scores,
)
from mam.graph.evidence import Evidence
from mam.infer.assemble import assembled
from mam.infer.connected import all_tangled, cycles, forests
from mam.infer.eliminate import eliminate
from mam.infer.hard_components import EASY, completed, solve_rest, without_messages
from mam.infer.leftovers import Rest, leftovers
from mam.infer.listing import list_small
from mam.infer.maxproduct import max_product
from mam.infer.options import Options
from mam.infer.problem import graphs_of
from mam.infer.solution import Solution
from mam.infer.stages import check_order
from mam.infer.trees import settle_trees

Order = np.ndarray | Sequence | None
Orders = list[np.ndarray] | None  # one for each graph of a batch
Graphs = FactorGraph | CompiledGraph | Sequence[FactorGraph]

# Beyond this many edges looking for components takes longer than it is likely to save.
_MOST_EDGES = 1 << 21
# From so many edges on even a look at the components takes as long as some iterations of messages;
# and if so large a share of the edges closes cycles, it shows what is clear without it.
_LARGE = 1 << 17
_DENSE = 0.3
_WORTH_A_LOOK = 1 << 13  # below this many it takes no time


def solve(
    graph: Graphs,
    evidence: Evidence | Sequence[Evidence] | None = None,
    options: Options | None = None,
    order: Order = None,
    sizes: GrowingSizes | None = None,
    **changes: Any,
) -> Any:
    """Find a best assignment: a ``Solution``, or a list of them for a batch of graphs.

    ``evidence`` maps names of variable groups to arrays, see ``pack_evidence``; a batch takes a
    list of such mappings. Settings are the fields of ``Options``, given as one or by name. The
    method is

    - "auto": every component the cheapest sure way, see ``solve_rest`` for what elimination and
      messages on trees leave over; large tangled ones by messages alone unless ``bound`` is asked
      for;
    - "exact": elimination alone; ``TooLarge``, a ``ValueError``, if something is left over;
    - "toulbar2": elimination and toulbar2;
    - "quick": components of ``AnyOf`` and ``Choice`` by listing all their states, by branch and
      bound, or by tearing out and refilling, for which nothing is compiled; max-product for the
      others;
    - "max-product": messages alone, on the whole graph.

    With ``schedule="sweeps"`` messages go along an order of the variables: ``order`` has one number
    for each variable of the graph, or is a list of such arrays for a batch. By default a graph is
    walked through from its first variable.

    ``sizes`` are those of the arrays of earlier calls, for a stream of graphs of which few shapes
    are to be compiled; they have no part in any answer, and only "quick" heeds them.

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
    if chosen.method == "quick":
        found = _quickly(graphs, evidence, chosen, sizes)
    else:
        found = _solved(graphs, evidence, chosen, orders)
    return found[0] if single else found


def _solved(
    graphs: CompiledGraph | tuple[FactorGraph, ...],
    evidence: Evidence | Sequence[Evidence] | None,
    options: Options,
    orders: Orders,
) -> list[Solution]:
    messages = partial(max_product, graphs, evidence, options, orders)
    if options.method == "max-product" or _messages_alone(graphs, options):
        return messages()
    if isinstance(graphs, CompiledGraph):
        return _compiled(graphs, evidence, options, orders)
    union = GraphUnion.of(graphs)
    scores = union_scores(union, evidence)
    worth_a_look = not options.thorough and _edges(graphs) >= _WORTH_A_LOOK
    if worth_a_look and all_tangled(union, scores):
        return messages()
    return _by_components(union, scores, options, orders)


def _messages_alone(graphs: CompiledGraph | tuple[FactorGraph, ...], options: Options) -> bool:
    """Whether looking for components would take longer than it is likely to save."""
    edges = _edges(graphs)
    if options.method != "auto" or edges > _MOST_EDGES:
        return options.method == "auto"
    return (
        not options.thorough and edges > _LARGE and cycles(_nodes(graphs), edges) > _DENSE * edges
    )


def _orders(graphs: Sequence[FactorGraph], order: Order, single: bool, options: Options) -> Orders:
    if order is None:
        return None
    if options.schedule != "sweeps":
        raise ValueError(f"an order is for schedule='sweeps', not {options.schedule!r}")
    orders = [np.asarray(one) for one in ([order] if single else order)]
    check_order(graphs, orders)
    return orders


def _nodes(graphs: CompiledGraph | tuple[FactorGraph, ...]) -> int:
    each = graphs.graphs if isinstance(graphs, CompiledGraph) else graphs
    return sum(len(one.states) + sum(len(some) for _, some in one.factors) for one in each)


def _edges(graphs: CompiledGraph | tuple[FactorGraph, ...]) -> int:
    if isinstance(graphs, CompiledGraph):
        return graphs.edges
    return sum(graph.edges for graph in graphs)


def _quickly(
    graphs: CompiledGraph | tuple[FactorGraph, ...],
    evidence: Evidence | Sequence[Evidence] | None,
    options: Options,
    sizes: GrowingSizes | None,
) -> list[Solution]:
    union = graphs.union if isinstance(graphs, CompiledGraph) else GraphUnion.of(graphs)
    scores = union_scores(union, evidence)
    known = list_small(union, scores, options.largest_table)
    rest = leftovers(known, scores)

    def by_messages(some: list[Rest]) -> list[Solution]:
        hard = [one.graph for one in some]
        wired = compile_graphs(hard) if sizes is None else compile_growing(hard, sizes)
        return max_product(wired, [one.evidence for one in some], options)

    answers = without_messages(rest, options)
    return assembled(known, scores, rest, completed(rest, answers, by_messages))


def _by_components(
    union: GraphUnion,
    scores: tuple[Scores, ...],
    options: Options,
    orders: Orders,
    messages: Callable[[], list[Solution]] | None = None,
) -> list[Solution]:
    """Eliminate what is easy; ``messages`` solves the graphs as they are, compiled already."""
    forget_old_programs()
    found = eliminate(union, scores, options.largest_table, options.thorough)
    known = found.known
    if messages is not None and not (options.thorough or known.solved.any()):
        sizes = np.bincount(found.split.component[found.split.component >= 0])
        if sizes.min(initial=EASY) > EASY:
            return messages()
    rest = _ordered(leftovers(known, scores), orders)
    answers = _wide_trees(rest, options)
    if None in answers and options.method == "exact":
        raise TooLarge(
            f"this model cannot be solved exactly: {found.split.refusal}; method='auto' would "
            f"solve {answers.count(None)} of its components by max-product"
        )
    answers = completed(rest, answers, lambda some: solve_rest(some, options))
    return assembled(known, scores, rest, answers)


def _wide_trees(rest: Sequence[Rest], options: Options) -> list[Solution | None]:
    """The answers to trees whose tables are too large to write; messages need no tables."""
    answers: list[Solution | None] = [None] * len(rest)
    if not rest:
        return answers
    trees = np.flatnonzero(forests(GraphUnion.of([one.graph for one in rest]))).tolist()
    if trees:
        compiled = compile_graphs([rest[i].graph for i in trees])
        evidence = [rest[i].evidence for i in trees]
        known, scores = settle_trees(compiled, evidence, replace(options, precision="double"))
        found = assembled(known, scores, [], [])
        done = np.bincount(known.union.instance[~known.solved], minlength=len(trees)) == 0
        for i, answer, sure in zip(trees, found, done, strict=True):
            answers[i] = answer if sure and answer.feasible else None
    return answers


def _ordered(rest: list[Rest], orders: Orders) -> list[Rest]:
    if orders is None:
        return rest
    place = np.concatenate(orders)
    return [replace(one, order=place[one.variables]) for one in rest]


def _compiled(
    compiled: CompiledGraph,
    evidence: Evidence | Sequence[Evidence] | None,
    options: Options,
    orders: Orders,
) -> list[Solution]:
    """Trees by messages on the wiring that is there, and what they leave over by elimination."""
    known, scores = settle_trees(compiled, evidence, options)
    if not known.solved.any():
        messages = partial(max_product, compiled, evidence, options, orders)
        if not options.thorough and all_tangled(known.union, scores):
            return messages()
        return _by_components(known.union, scores, options, orders, messages)
    rest = _ordered(leftovers(known, scores, whole=True), orders)
    if not rest:
        found = assembled(known, scores, [], [])
        if all(one.feasible for one in found):
            return found
        # Messages stand in for infinities; where nothing is possible elimination knows why.
        return _by_components(known.union, scores, options, orders)
    graphs = GraphUnion.of([one.graph for one in rest])
    left = union_scores(graphs, [one.evidence for one in rest])
    own = [one.order for one in rest if one.order is not None]
    answers = _by_components(graphs, left, options, own or None)
    return assembled(known, scores, rest, answers)
