"""``solve``: every component of a model the cheapest sure way, with a proof where there is one."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mam.core.memory import TooLarge
from mam.core.programs import forget_old_programs
from mam.graph import CompiledGraph, FactorGraph, GraphUnion, Scores, compile_graphs, union_scores
from mam.graph.evidence import Evidence
from mam.infer.assemble import assembled
from mam.infer.eliminate import eliminate
from mam.infer.hard import solve_rest
from mam.infer.maxproduct import max_product
from mam.infer.options import Options
from mam.infer.problem import graphs_of
from mam.infer.rest import Rest, leftovers
from mam.infer.solution import Solution
from mam.infer.trees import forests, settle_trees

Graphs = FactorGraph | CompiledGraph | Sequence[FactorGraph]

# Beyond this many edges looking for components takes longer than it is likely to save.
_MOST_EDGES = 1 << 21


def solve(
    graph: Graphs,
    evidence: Evidence | Sequence[Evidence] | None = None,
    options: Options | None = None,
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
    too_large = chosen.method == "auto" and _edges(graphs) > _MOST_EDGES
    if chosen.method == "max-product" or too_large:
        found = max_product(graphs, evidence, chosen)
    elif isinstance(graphs, CompiledGraph):
        found = _compiled(graphs, evidence, chosen)
    else:
        union = GraphUnion.of(graphs)
        found = _by_components(union, union_scores(union, evidence), chosen)
    return found[0] if single else found


def _edges(graphs: CompiledGraph | tuple[FactorGraph, ...]) -> int:
    if isinstance(graphs, CompiledGraph):
        return graphs.edges
    return sum(graph.edges for graph in graphs)


def _by_components(
    union: GraphUnion, scores: tuple[Scores, ...], options: Options
) -> list[Solution]:
    forget_old_programs()
    found = eliminate(union, scores, options.largest_table)
    known = found.known
    rest = leftovers(known, scores)
    answers = _wide_trees(rest, options)
    hard = [i for i, answer in enumerate(answers) if answer is None]
    if hard and options.method == "exact":
        raise TooLarge(
            f"this model cannot be solved exactly: {found.split.refusal}; method='auto' would "
            f"solve {len(hard)} of its components by max-product"
        )
    later = iter(solve_rest([rest[i] for i in hard], options))
    return assembled(known, scores, rest, [answer or next(later) for answer in answers])


def _wide_trees(rest: Sequence[Rest], options: Options) -> list[Solution | None]:
    """The answers to trees whose tables are too large to write; messages need no tables."""
    answers: list[Solution | None] = [None] * len(rest)
    if not rest:
        return answers
    trees = np.flatnonzero(forests(GraphUnion.of([one.graph for one in rest]))).tolist()
    if trees:
        compiled = compile_graphs([rest[i].graph for i in trees])
        evidence = [rest[i].evidence for i in trees]
        known = settle_trees(compiled, evidence, replace(options, precision="double"))
        found = assembled(known, union_scores(known.union, evidence), [], [])
        done = np.bincount(known.union.instance[~known.solved], minlength=len(trees)) == 0
        for i, answer, sure in zip(trees, found, done, strict=True):
            answers[i] = answer if sure and answer.feasible else None
    return answers


def _compiled(
    compiled: CompiledGraph, evidence: Evidence | Sequence[Evidence] | None, options: Options
) -> list[Solution]:
    """Trees by messages on the wiring that is there, and what they leave over by elimination."""
    known = settle_trees(compiled, evidence, options)
    scores = union_scores(known.union, evidence)
    rest = leftovers(known, scores, whole=True)
    if not rest:
        found = assembled(known, scores, [], [])
        if all(one.feasible for one in found):
            return found
        # Messages stand in for infinities; where nothing is possible elimination knows why.
        return _by_components(known.union, scores, options)
    graphs = GraphUnion.of([one.graph for one in rest])
    answers = _by_components(graphs, union_scores(graphs, [one.evidence for one in rest]), options)
    return assembled(known, scores, rest, answers)
