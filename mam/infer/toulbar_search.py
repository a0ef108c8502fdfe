"""toulbar2 beside other work: a search in another thread that can be asked and given up."""

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from threading import Event
from types import TracebackType

import numpy as np

from mam.factors.network import Network
from mam.graph import GraphUnion, union_scores
from mam.infer.leftovers import Rest
from mam.infer.network_of_tables import write_network
from mam.infer.solution import Solution
from mam.infer.toulbar import ToulbarAnswer, solve_many

# Entries of all tables of a component that are handed over: some seconds of packing and reading.
_MOST_HANDED_OVER = 1 << 22


class Search:
    """toulbar2's answers to some components, as they come within ``seconds``.

    ``with Search(...) as search`` works until the block is left, and ``proved`` is set once every
    component has a proof.
    """

    def __init__(self, rest: Sequence[Rest], seconds: float | int) -> None:
        self.proved = Event()
        self._rest = rest
        self._answers: list[Solution | None] = [None] * len(rest)
        self._given_up = Event()
        self._seconds = seconds
        self._pool = ThreadPoolExecutor(1)
        self._work: Future | None = None

    def __enter__(self) -> "Search":
        """Begin."""
        if self._rest and self._seconds:
            self._work = self._pool.submit(self._run)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop soon."""
        self._given_up.set()
        self._pool.shutdown()

    def wait(self, seconds: float | int | None = None) -> list[Solution | None]:
        """Return the answers so far, when all are there or after so many seconds."""
        if self._work is not None and self._work in wait([self._work], seconds).done:
            self._work.result()
        return list(self._answers)

    def _run(self) -> None:
        networks = self._networks()
        places = list(networks)
        try:
            found = solve_many(list(networks.values()), self._seconds, self._given_up)
            for number, answer in found:
                place = places[number]
                self._answers[place] = _solution(self._rest[place], answer)
        except ValueError:  # potentials that spread too far for whole-number costs
            return
        if all(answer is not None and answer.proof is not None for answer in self._answers):
            self.proved.set()

    def _networks(self) -> dict[int, Network]:
        """The components that are small enough to be handed over."""
        networks = {}
        for i, one in enumerate(self._rest):
            union = GraphUnion.of(one.graph)
            entries = sum(group.factors.entries(union.states) for group in union.sets)
            if entries <= _MOST_HANDED_OVER:
                networks[i], _ = write_network(union, union_scores(union, one.evidence))
        return networks


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
