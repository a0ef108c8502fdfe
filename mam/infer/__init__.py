"""Solvers: max-product, the dual bound, sum-product, sampling, exact enumeration."""

from mam.infer.solution import Solution
from mam.infer.solve import Options, solve

__all__ = ["Options", "Solution", "solve"]
