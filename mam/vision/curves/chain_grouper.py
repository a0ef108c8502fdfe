"""What the groupers of strokes and of strands share: the solver of their chain model."""

from functools import cached_property

from mam.core.estimator import Estimator
from mam.vision.curves.chain_model import ChainSolver

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
    """An estimator whose links are decided by the chain model."""

    @cached_property
    def _solver(self) -> ChainSolver:
        """Remembers sizes of arrays."""
        return ChainSolver()
