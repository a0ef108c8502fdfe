"""What a run of messages will hold in memory, estimated before anything is wired or compiled."""

from collections.abc import Sequence

import numpy as np

from mam.core.memory import check_memory
from mam.graph import FactorGraph

# Evidence, beliefs, old and new messages in both directions, and what a pass over them holds.
_COPIES_OF_MESSAGES = 8


def refuse_if_too_large(graphs: Sequence[FactorGraph], dtype: type, restarts: int = 1) -> None:
    """Raise ``TooLarge`` if the messages of all restarts do not fit into memory."""
    numbers = sum(_numbers(graph) for graph in graphs)
    needed = float(np.dtype(dtype).itemsize) * restarts * numbers
    several = f"{len(graphs)} graphs" if len(graphs) > 1 else "the graph"
    check_memory(
        needed,
        f"passing messages over {several} from {restarts} starts",
        "use fewer restarts, smaller tables or batches, or precision='single'",
    )


def _numbers(graph: FactorGraph) -> float:
    states = graph.states
    messages = float(states.sum())
    held = 0.0
    for _, factors in graph.factors:
        messages += float(states[factors.scopes().values].sum())
        held += factors.held(states)
    return _COPIES_OF_MESSAGES * messages + held
