"""toulbar2, an exact solver for cost networks, in a process of its own.

A graph becomes a ``Network`` of small tables, with auxiliary variables for structured factors.
"""

from mam.infer.toulbar.export import Decoder, network_of, solve_with_toulbar2, to_toulbar2
from mam.infer.toulbar.process import available, solve_in_process, solve_many
from mam.infer.toulbar.toulbar_answer import ToulbarAnswer

__all__ = [
    "Decoder",
    "ToulbarAnswer",
    "available",
    "network_of",
    "solve_in_process",
    "solve_many",
    "solve_with_toulbar2",
    "to_toulbar2",
]
