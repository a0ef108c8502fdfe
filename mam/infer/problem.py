"""A compiled graph with its evidence, in the precision of a run."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mam.factors.limits import limit
from mam.graph import CompiledGraph, FactorGraph, compile_graphs, pack_evidence
from mam.graph.evidence import Evidence, as_difference
from mam.infer.passing import HostStore


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
    ) -> "Problem":
        """Compile what is not compiled yet and pack the evidence."""
        compiled = graph if isinstance(graph, CompiledGraph) else compile_graphs(graph)
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
        first = [np.asarray(slots[0]) for slots in wiring.slots[kind]]
        return np.concatenate(first) < wiring.store_sizes[kind]

    def clamped(self, fixed: Sequence[np.ndarray], states: Sequence[np.ndarray]) -> HostStore:
        """Return the evidence with some variables fixed to given states."""
        result = []
        for evidence, mine, chosen in zip(self.evidence, fixed, states, strict=True):
            big = limit(evidence.dtype)
            if evidence.ndim == 1:
                demand = np.where(chosen == 1, big, -big)
                result.append(np.where(mine, demand, evidence).astype(evidence.dtype))
            else:
                demand = np.where(np.arange(evidence.shape[1]) == chosen[:, None], 0, -big)
                result.append(np.where(mine[:, None], demand, evidence).astype(evidence.dtype))
        return tuple(result)


def margins(beliefs: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return how much better each variable's best state is than the next."""
    result = []
    for belief in beliefs:
        if belief.ndim == 1:
            result.append(np.abs(belief))
        else:
            top = np.partition(belief, -2, axis=1)[:, -2:]
            result.append(top[:, 1] - top[:, 0])
    return result
