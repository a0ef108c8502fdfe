"""What the groupers of strokes and of strands share: the solver of their chain model."""

from functools import cached_property

from mam.core.estimator import Estimator
from mam.vision.curves.chain_model import ChainSolver


class ChainGrouper(Estimator):
    """An estimator whose links are decided by the chain model."""

    @cached_property
    def _solver(self) -> ChainSolver:
        """Remembers sizes of arrays."""
        return ChainSolver()
