"""Components that elimination leaves over: by toulbar2 where it is installed, or max-product."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Event

from mam.core.workers import own_cores
from mam.infer.few_on import few_on
from mam.infer.leftovers import Rest
from mam.infer.linear import branch_and_bound
from mam.infer.maxproduct import max_product
from mam.infer.options import Options
from mam.infer.refill import refill
from mam.infer.solution import Solution
from mam.infer.toulbar import available
from mam.infer.toulbar.process import check_installed
from mam.infer.toulbar_search import Search

# What toulbar2 gets of its time before the messages: what is easy for it is proved by then, and
# what is not may be for them, since they close the gap wherever the linear relaxation is tight.
_FIRST = 0.1
# Variables of components that it gets although no bound is asked for.
EASY = 500
# Variables of components that branch and bound nearly always proves within a second.
PROVABLE = 200
_BOTH = "toulbar2 and max-product"


def solve_rest(rest: Sequence[Rest], options: Options) -> list[Solution]:
    """Return one answer a component, proved where one of the solvers can in its time.

    Branch and bound, where the factors allow it, has a tenth of ``seconds`` for components up to
    ``EASY`` variables; then toulbar2, where it is installed, a tenth for them or, with ``bound``,
    all of it for all. What is open after a tenth goes to messages, while toulbar2 goes on.
    """
    if not rest:
        return []
    if options.method == "toulbar2":
        check_installed()
        with Search(rest, options.seconds) as search:
            return _insisted(rest, search.wait())
    answers = by_branch_and_bound(rest, _FIRST * options.seconds)
    wanted = [
        i
        for i, one in enumerate(rest)
        if answers[i] is None and (options.bound or one.free.sum() <= EASY)
    ]
    seconds = options.seconds if options.bound else _FIRST * options.seconds
    with Search([rest[i] for i in wanted if available()], seconds) as search:
        _take(answers, wanted, search.wait(_FIRST * options.seconds))
        open_ = [i for i, answer in enumerate(answers) if not _proved(answer)]
        _take(answers, open_, _by_messages([rest[i] for i in open_], options, search.proved))
        if not all(map(_proved, answers)):
            _take(answers, wanted, search.wait())
    return [answer for answer in answers if answer is not None]


def _proved(answer: Solution | None) -> bool:
    return answer is not None and answer.proof is not None


def _take(
    answers: list[Solution | None], places: list[int], found: Sequence[Solution | None]
) -> None:
    """Let other answers to some components compete with those that are there."""
    for i, answer in zip(places, found, strict=False):
        answers[i] = _better(answers[i], answer)


def by_branch_and_bound(
    rest: Sequence[Rest], seconds: float | int, most: int = EASY
) -> list[Solution | None]:
    """Answers to components each in so many ``seconds``, or None. Without time nothing is tried.

    Sets of few variables are tried first, of components of any size that allows it, then HiGHS for
    up to ``most`` variables. That lets go of the interpreter, so several run at once.
    """
    if not rest or not seconds:
        return [None] * len(rest)

    # Python's own work is not done sooner by threads, but later.
    answers: list[Solution | None] = [few_on(one.graph, one.evidence) for one in rest]
    hard = [i for i, one in enumerate(rest) if answers[i] is None and one.free.sum() <= most]

    def search(i: int) -> Solution | None:
        return branch_and_bound(rest[i].graph, rest[i].evidence, float(seconds))

    with ThreadPoolExecutor(own_cores()) as pool:
        _take(answers, hard, list(pool.map(search, hard)))
    return answers


def without_messages(rest: Sequence[Rest], options: Options) -> list[Solution | None]:
    """Answers to components of ORs and choices, small ones proved; None for all others.

    Nothing is compiled, so the first of them is answered as fast as the last.
    """
    answers = by_branch_and_bound(rest, options.seconds, PROVABLE)
    return [
        refill(one.graph, one.evidence, options.seed)
        if answer is None and options.seconds
        else answer
        for one, answer in zip(rest, answers, strict=True)
    ]


def completed(
    rest: Sequence[Rest],
    answers: Sequence[Solution | None],
    solver: Callable[[list[Rest]], Sequence[Solution]],
) -> list[Solution]:
    """All answers; a solver is asked about the components that have none yet."""
    missing = [one for one, answer in zip(rest, answers, strict=True) if answer is None]
    later = iter(solver(missing) if missing else [])
    return [next(later) if answer is None else answer for answer in answers]


def _by_messages(rest: Sequence[Rest], options: Options, proved: Event) -> list[Solution]:
    """Answers by messages, which end soon once another solver has ``proved`` all."""
    if not rest:
        return []
    orders = [one.order for one in rest if one.order is not None]
    graphs, evidence = [one.graph for one in rest], [one.evidence for one in rest]
    return max_product(graphs, evidence, options, orders or None, proved)


def _insisted(rest: Sequence[Rest], answers: Sequence[Solution | None]) -> list[Solution]:
    missing = [i for i, answer in enumerate(answers) if answer is None]
    if missing:
        variables = int(rest[missing[0]].free.sum())
        raise ValueError(
            f"toulbar2 has no answer to a component of {variables} variables: "
            "its tables or potentials are too large, or its time too short; use method='auto'"
        )
    return [answer for answer in answers if answer is not None]


def _better(one: Solution | None, other: Solution | None) -> Solution | None:
    """The assignment that scores more, under the lower of both bounds."""
    if one is None or other is None:
        return one or other
    if one is other:
        return one
    best = other if other.score >= one.score else one
    bounds = [answer.bound for answer in (one, other) if answer.bound is not None]
    return replace(best, bound=min(bounds, default=None), ways={_BOTH: 1})
