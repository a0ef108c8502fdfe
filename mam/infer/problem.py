"""A compiled graph with its evidence, in the precision of a run."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from mam.core.programs import forget_old_programs
from mam.graph import CompiledGraph, FactorGraph, compile_graphs, pack_evidence
from mam.graph.evidence import Evidence, as_difference
from mam.infer.run_memory import refuse_if_too_large


@dataclass(frozen=True)
class Problem:
    """What every solver needs, as host arrays."""

    compiled: CompiledGraph
    potentials: tuple[np.ndarray, ...]
    evidence: tuple[np.ndarray, ...]  # differences, in the precision of the run
    scores: tuple[np.ndarray, ...]  # scores per state, in double precision, with infinities
    single: bool  # one graph was given, not a batch

    @classmethod
    def of(
        cls,
        graph: FactorGraph | CompiledGraph | Sequence[FactorGraph],
        evidence: Evidence | Sequence[Evidence] | None,
        dtype: type,
        restarts: int = 1,
    ) -> "Problem":
        """Compile what is not compiled yet and pack the evidence; refuse what cannot fit."""
        forget_old_programs()
        graphs = graphs_of(graph)
        refuse_if_too_large(graphs, dtype, restarts)
        compiled = graph if isinstance(graph, CompiledGraph) else compile_graphs(graphs)
        single = isinstance(graph, FactorGraph) or (
            isinstance(graph, CompiledGraph) and len(compiled.graphs) == 1
        )
        scores = pack_evidence(compiled, evidence, dtype)
        differences = tuple(as_difference(values, dtype) for values in scores)
        return cls(compiled, compiled.parameters(dtype), differences, scores, single)

    def instance_of(self, kind: int) -> np.ndarray:
        """Which graph each variable of a class belongs to (padding: past the last)."""
        return np.asarray(self.compiled.wiring.instance[kind])

    def has_factors(self, kind: int) -> np.ndarray:
        """Which variables of a class any factor is connected to."""
        wiring = self.compiled.wiring
        first = [np.asarray(slots)[0] for slots in wiring.slots[kind]]
        return np.concatenate(first) < wiring.store_sizes[kind]


def graphs_of(graph: object) -> tuple[FactorGraph, ...]:
    """Return the graphs of what was given to solve; refuse anything else by what it is."""
    if isinstance(graph, CompiledGraph):
        return graph.graphs
    if isinstance(graph, Iterable) and not isinstance(graph, str):
        return tuple(_one_graph(each) for each in graph)
    return (_one_graph(graph),)


def _one_graph(graph: object) -> FactorGraph:
    if isinstance(graph, FactorGraph):
        return graph
    what = "None" if graph is None else f"a {type(graph).__name__}"
    hint = "; call build() first" if hasattr(graph, "build") else ""
    hint = "; give its .graph" if hasattr(graph, "graph") else hint
    raise ValueError(f"a graph is wanted, not {what}{hint}")


def decode(beliefs: Sequence[np.ndarray], ties_on: bool = False) -> list[np.ndarray]:
    """Return each variable's best state on its own; a tie is OFF (or ON), or the first state.

    Beliefs have a leading axis of restarts.
    """
    on = np.greater_equal if ties_on else np.greater
    return [
        on(belief, 0).astype(np.int32) if belief.ndim == 2 else belief.argmax(2).astype(np.int32)
        for belief in beliefs
    ]


def margins(beliefs: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return how much better each variable's best state is than the next, likewise."""
    result = []
    for belief in beliefs:
        if belief.ndim == 2:
            result.append(np.abs(belief))
        else:
            top = np.partition(belief, -2, axis=2)[..., -2:]
            result.append(top[..., 1] - top[..., 0])
    return result
