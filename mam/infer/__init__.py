"""Solvers: max-product, the dual bound, sum-product, sampling, and exact ones for small models."""

from mam.core.memory import TooLarge
from mam.infer.eliminate import eliminate_max, eliminate_sum, exact_solution
from mam.infer.exact import Exact, enumerate_exactly
from mam.infer.marginals import Marginals, log_partition, marginals
from mam.infer.options import Options
from mam.infer.order import Elimination, plan_elimination
from mam.infer.sample import sample
from mam.infer.solution import Solution
from mam.infer.solve import solve
from mam.infer.unrolled import propagate

__all__ = [
    "Elimination",
    "Exact",
    "Marginals",
    "Options",
    "Solution",
    "TooLarge",
    "eliminate_max",
    "eliminate_sum",
    "enumerate_exactly",
    "exact_solution",
    "log_partition",
    "marginals",
    "plan_elimination",
    "propagate",
    "sample",
    "solve",
]
