"""Solvers: max-product, the dual bound, sum-product, sampling, and exact ones for small models."""

from mam.core.memory import TooLarge
from mam.infer.exact import Exact, enumerate_exactly
from mam.infer.marginals import Marginals, log_partition, marginals
from mam.infer.options import Options
from mam.infer.sample import sample
from mam.infer.solution import Solution
from mam.infer.solve import solve
from mam.infer.unrolled import propagate

__all__ = [
    "Exact",
    "Marginals",
    "Options",
    "Solution",
    "TooLarge",
    "enumerate_exactly",
    "log_partition",
    "marginals",
    "propagate",
    "sample",
    "solve",
]
