"""toulbar2, an exact solver for cost networks."""

from mam.infer.toulbar.auxiliary import Function, Network
from mam.infer.toulbar.export import Decoder, solve_with_toulbar2, to_toulbar2

__all__ = ["Decoder", "Function", "Network", "solve_with_toulbar2", "to_toulbar2"]
