"""Components that elimination leaves over: by toulbar2 where it is installed, or max-product."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mam.graph import GraphUnion, union_scores
from mam.infer.maxproduct import max_product
from mam.infer.network import write_network
from mam.infer.options import Options
from mam.infer.rest import Rest
from mam.infer.solution import Solution
from mam.infer.toulbar import Answer, available, solve_many
from mam.infer.toulbar.process import check_installed

# Entries of all tables of a component that are handed over: some seconds of packing and reading.
_MOST_HANDED_OVER = 1 << 22
# What toulbar2 gets of its time when nobody asked for a proof.
_SHARE_UNASKED = 0.1


def solve_rest(rest: Sequence[Rest], options: Options) -> list[Solution]:
    """Return one answer a component, proved where toulbar2 can in its time."""
    if not rest:
        return []
    proved: list[Solution | None] = [None] * len(rest)
    if options.method == "toulbar2":
        check_installed()
    if options.method == "toulbar2" or available():
        proved = _by_toulbar2(rest, options)
    if options.method == "toulbar2":
        missing = [i for i, answer in enumerate(proved) if answer is None]
        if missing:
            raise ValueError(
                f"a component of {int(rest[missing[0]].free.sum())} variables has tables or "
                "potentials that toulbar2 cannot take; use method='auto'"
            )
        return [answer for answer in proved if answer is not None]
    open_ = [i for i, answer in enumerate(proved) if answer is None or answer.proof is None]
    by_messages: dict[int, Solution] = {}
    if open_:
        graphs, evidence = [rest[i].graph for i in open_], [rest[i].evidence for i in open_]
        by_messages = dict(zip(open_, max_product(graphs, evidence, options), strict=True))
    return [
        answer if answer is not None and i not in by_messages else _better(answer, by_messages[i])
        for i, answer in enumerate(proved)
    ]


def _by_toulbar2(rest: Sequence[Rest], options: Options) -> list[Solution | None]:
    networks = {}
    for i, one in enumerate(rest):
        union = GraphUnion.of(one.graph)
        entries = sum(group.factors.entries(union.states) for group in union.sets)
        if entries <= _MOST_HANDED_OVER:
            networks[i], _ = write_network(union, union_scores(union, one.evidence))
    seconds = (
        options.seconds
        if options.bound or options.method == "toulbar2"
        else (_SHARE_UNASKED * options.seconds)
    )
    try:
        answers = dict(zip(networks, solve_many(list(networks.values()), seconds), strict=True))
    except ValueError:  # potentials that spread too far for whole-number costs
        return [None] * len(rest)
    return [_solution(one, answers.get(i)) for i, one in enumerate(rest)]


def _solution(one: Rest, answer: Answer | None) -> Solution | None:
    if answer is None or (answer.values is None and not answer.impossible):
        return None
    count = len(one.variables)
    values = np.zeros(count, np.int64) if answer.values is None else answer.values[:count]
    # A proof holds to within the rounding of toulbar2's costs.
    bound = answer.score if answer.proved else answer.bound
    unknown = np.full(count, np.nan)
    ways = {"toulbar2": 1}
    return Solution(
        one.graph, values, unknown, answer.score, bound, answer.proved, 0, (), ways=ways
    )


def _better(one: Solution | None, other: Solution) -> Solution:
    """The assignment that scores more, under the lower of both bounds."""
    if one is None:
        return other
    best = other if other.score >= one.score else one
    if one.bound is None or other.bound is None:
        return best
    return replace(best, bound=min(one.bound, other.bound))
