"""What the groupers of strokes and of strands share: the solver of their model, and workers."""

import pickle
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache, partial
from itertools import starmap
from typing import Any, Self

from mam.core.estimator import Estimator
from mam.core.parcels import pack, unpack
from mam.core.workers import Workers, worker_count
from mam.vision.curves.chain_model import ChainSolver

_PIECES = 2  # for each worker at least: many small ones are slower than waiting for the last
_MOST = 32  # images of a piece
WIDEST = 10.0  # times the gaps learned from; beyond, everything might be joined to everything
NEXT_TO_NOTHING = 1e-9  # stands for no bridging at all where gaps are divided by it


def check_bridging(bridging: float | int) -> float:
    """Refuse a factor for the gaps that may be bridged that is no such number.

    >>> check_bridging(-1)
    Traceback (most recent call last):
    ...
    ValueError: bridging must lie between 0 and 10, not -1
    """
    if not 0 <= bridging <= WIDEST:
        raise ValueError(f"bridging must lie between 0 and {WIDEST:g}, not {bridging:g}")
    return float(bridging)


class ChainGrouper(Estimator):
    """An estimator whose links are decided by the chain model.

    ``n_jobs`` worker processes answer pieces of what it is asked, -1 for one a core; answers are
    the same for any number. ``_answered`` is what it says of a piece.
    """

    n_jobs: int | None

    @cached_property
    def _solver(self) -> ChainSolver:
        """Remembers sizes of arrays."""
        return ChainSolver()

    def spread(
        self,
        work: Callable[[Self, Sequence[Any], int], list[Any]],
        items: Sequence[Any],
        most: int = _MOST,
    ) -> list[Any]:
        """What ``work`` says of all items, given a grouper, some of them and the first number.

        Worker processes, if there are, do all of it: only the items and what is said go between.
        ``work`` is a function of a module, so that they find it. They get ``most`` items at a time.
        """
        return self._piecewise(
            len(items), lambda some: (items[some], some.start), work=work, most=most
        )

    def _piecewise(
        self,
        count: int,
        read: Callable[[slice], tuple[Any, ...]],
        alone: int | None = None,
        work: Callable[..., list[Any]] | None = None,
        most: int = _MOST,
    ) -> list[Any]:
        """The answers to ``count`` images, of which ``read`` takes some: pieces of ``alone`` images
        for this process (all, if None), or ``most``, if not fewer, for worker processes.
        """
        jobs, work = worker_count(self.n_jobs), work or type(self)._answered
        size = (alone or count) if jobs == 1 else min(max(count // (_PIECES * jobs), 1), most)
        starts = range(0, count, max(size, 1))
        calls = (read(slice(start, min(start + size, count))) for start in starts)
        if jobs == 1 or len(starts) == 1:
            pieces = starmap(partial(work, self), calls)
        else:
            sent = ((pack(call),) for call in calls)
            pieces = self._workers(jobs).each(partial(_by_copy, pickle.dumps(self), work), sent)
        return [one for piece in pieces for one in piece]

    def _workers(self, jobs: int) -> Workers:
        """Those of earlier calls, if there were so many."""
        kept: Workers | None = vars(self).get("_kept_workers")
        if kept is None or kept.count != jobs:
            self._kept_workers = kept = Workers(jobs)
        return kept

    def _answered(self, *piece: Any) -> list[Any]:
        raise NotImplementedError


def _by_copy(grouper: bytes, work: Callable[..., list[Any]], piece: Any) -> list[Any]:
    """What is done with a grouper, in a worker."""
    return work(_opened(grouper), *unpack(piece))


@lru_cache(maxsize=2)  # what a grouper remembers of earlier images serves the next
def _opened(grouper: bytes) -> ChainGrouper:
    """The grouper, with no workers of its own."""
    return pickle.loads(grouper).set_params(n_jobs=None)
