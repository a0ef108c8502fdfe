"""Components that elimination leaves over: by toulbar2 where it is installed, or max-product."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Event

import numpy as np

from mam.graph import GraphUnion, union_scores
from mam.infer.linear import branch_and_bound
from mam.infer.maxproduct import max_product
from mam.infer.network import write_network
from mam.infer.options import Options
from mam.infer.rest import Rest
from mam.infer.solution import Solution
from mam.infer.toulbar import ToulbarAnswer, available, solve_many
from mam.infer.toulbar.process import check_installed

# Entries of all tables of a component that are handed over: some seconds of packing and reading.
_MOST_HANDED_OVER = 1 << 22
# What toulbar2 gets of its time before the messages: what is easy for it is proved by then, and
# what is not may be for them, since they close the gap wherever the linear relaxation is tight.
_FIRST = 0.1
# Variables of components that it gets although no bound is asked for.
EASY = 500
_BOTH = "toulbar2 and max-product"


def solve_rest(rest: Sequence[Rest], options: Options) -> list[Solution]:
    """Return one answer a component, proved where one of the solvers can in its time.

    Branch and bound, where the factors allow it, and toulbar2, where it is installed, have a tenth
    of ``seconds`` each, for components up to ``EASY`` variables; what is open then goes to messages
    and, with ``bound``, at the same time to toulbar2 for the rest of its time.
    """
    if not rest:
        return []
    if options.method == "toulbar2":
        check_installed()
        return _insisted(rest, _by_toulbar2(rest, options.seconds))
    answers = by_branch_and_bound(rest, _FIRST * options.seconds)
    if available():
        easy = [
            i
            for i, one in enumerate(rest)
            if answers[i] is None and (options.bound or one.free.sum() <= EASY)
        ]
        found = _by_toulbar2([rest[i] for i in easy], _FIRST * options.seconds)
        for i, answer in zip(easy, found, strict=True):
            answers[i] = answer
    open_ = [i for i, answer in enumerate(answers) if answer is None or answer.proof is None]
    for found in _by_both([rest[i] for i in open_], options) if open_ else ():
        for i, answer in zip(open_, found, strict=True):
            answers[i] = _better(answers[i], answer)
    return [answer for answer in answers if answer is not None]


def _by_both(rest: list[Rest], options: Options) -> Iterator[Sequence[Solution | None]]:
    """Answers by messages and, where a bound is wanted, by toulbar2, which works meanwhile."""
    if not (available() and options.bound):
        yield _by_messages(rest, options)
        return
    given_up = Event()
    with ThreadPoolExecutor(1) as pool:
        later = pool.submit(_by_toulbar2, rest, (1 - _FIRST) * options.seconds, given_up)
        try:
            yield _by_messages(rest, options)
            yield later.result()
        finally:
            given_up.set()  # whoever stops waiting does not wait for toulbar2


def by_branch_and_bound(rest: Sequence[Rest], seconds: float | int) -> list[Solution | None]:
    """The answers to components that are small linear programs; each may take some ``seconds``.

    HiGHS lets go of the interpreter, so several run at once. Without time nothing is tried.
    """
    if not rest or not seconds:
        return [None] * len(rest)

    def one(some: Rest) -> Solution | None:
        if some.free.sum() > EASY:
            return None
        return branch_and_bound(some.graph, some.evidence, float(seconds))

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        return list(pool.map(one, rest))


def completed(
    rest: Sequence[Rest],
    answers: Sequence[Solution | None],
    solver: Callable[[list[Rest]], Sequence[Solution]],
) -> list[Solution]:
    """All answers; a solver is asked about the components that have none yet."""
    missing = [one for one, answer in zip(rest, answers, strict=True) if answer is None]
    later = iter(solver(missing) if missing else [])
    return [next(later) if answer is None else answer for answer in answers]


def _by_messages(rest: Sequence[Rest], options: Options) -> list[Solution]:
    orders = [one.order for one in rest if one.order is not None]
    graphs, evidence = [one.graph for one in rest], [one.evidence for one in rest]
    return max_product(graphs, evidence, options, orders or None)


def _insisted(rest: Sequence[Rest], answers: Sequence[Solution | None]) -> list[Solution]:
    missing = [i for i, answer in enumerate(answers) if answer is None]
    if missing:
        variables = int(rest[missing[0]].free.sum())
        raise ValueError(
            f"toulbar2 has no answer to a component of {variables} variables: "
            "its tables or potentials are too large, or its time too short; use method='auto'"
        )
    return [answer for answer in answers if answer is not None]


def _by_toulbar2(
    rest: Sequence[Rest], seconds: float | int, given_up: Event | None = None
) -> list[Solution | None]:
    networks = {}
    for i, one in enumerate(rest):
        union = GraphUnion.of(one.graph)
        entries = sum(group.factors.entries(union.states) for group in union.sets)
        if entries <= _MOST_HANDED_OVER:
            networks[i], _ = write_network(union, union_scores(union, one.evidence))
    try:
        found = solve_many(list(networks.values()), seconds, given_up)
        answers = dict(zip(networks, found, strict=True))
    except ValueError:  # potentials that spread too far for whole-number costs
        return [None] * len(rest)
    return [_solution(one, answers.get(i)) for i, one in enumerate(rest)]


def _solution(one: Rest, answer: ToulbarAnswer | None) -> Solution | None:
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


def _better(one: Solution | None, other: Solution | None) -> Solution | None:
    """The assignment that scores more, under the lower of both bounds."""
    if one is None or other is None:
        return one or other
    best = other if other.score >= one.score else one
    bounds = [answer.bound for answer in (one, other) if answer.bound is not None]
    return replace(best, bound=min(bounds, default=None), ways={_BOTH: 1})
