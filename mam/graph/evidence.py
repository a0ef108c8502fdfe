"""Evidence: what is known about each variable, apart from the structure."""

from collections.abc import Mapping, Sequence

import numpy as np

from mam.factors.limits import largest_finite, limit
from mam.graph.compiled import CompiledGraph
from mam.graph.model import VariableGroup

Evidence = Mapping[str, object]


def pack_evidence(
    compiled: CompiledGraph, evidence: Evidence | Sequence[Evidence] | None, dtype: type
) -> tuple[np.ndarray, ...]:
    """Return one ``(variables, states)`` array of log scores a class, in the order of the wiring.

    Evidence for a group is an array of its shape with score(ON) - score(OFF) if it is binary, or
    of its shape with one more axis of scores per state. -inf forbids a state, and +inf demands it:
    a demanded state scores 0 and the others are forbidden.
    """
    given = _per_graph(compiled, evidence)
    wiring = compiled.wiring
    packed = [
        np.zeros((wiring.class_size(c), n), dtype=np.float64) for c, n in enumerate(wiring.states)
    ]
    for start, graph, values in zip(compiled.starts, compiled.graphs, given, strict=True):
        for name, array in values.items():
            group = graph.group(name)
            ids = int(start) + group.ids.ravel()
            if ids.size:
                target = packed[int(compiled.kind[ids[0]])]
                target[compiled.position[ids]] = group_scores(group, array)
    return tuple(_in_range(array, dtype) for array in packed)


def as_difference(scores: np.ndarray, dtype: type) -> np.ndarray:
    """Return the message form of packed evidence: one number if binary, else maximum 0."""
    big = limit(dtype)
    finite = np.clip(scores, -big, big)
    if scores.shape[1] == 2:
        return np.clip(finite[:, 1] - finite[:, 0], -big, big).astype(dtype)
    return np.maximum(finite - finite.max(1, keepdims=True), -big).astype(dtype)


def _per_graph(
    compiled: CompiledGraph, evidence: Evidence | Sequence[Evidence] | None
) -> Sequence[Evidence]:
    if evidence is None:
        return [{}] * len(compiled.graphs)
    if isinstance(evidence, Mapping):
        if len(compiled.graphs) > 1:
            raise ValueError(f"a batch of {len(compiled.graphs)} graphs needs a list of evidence")
        return [evidence]
    if len(evidence) != len(compiled.graphs):
        raise ValueError(f"{len(evidence)} sets of evidence for {len(compiled.graphs)} graphs")
    return evidence


def group_scores(group: VariableGroup, values: object) -> np.ndarray:
    """Return evidence for a group as ``(variables, states)`` scores, checked."""
    array = np.asarray(values, dtype=np.float64)
    if np.isnan(array).any():
        place = np.argwhere(np.isnan(array))[0].tolist()
        raise ValueError(f"evidence for {group.name!r} has NaN at {place}")
    if array.shape == (*group.shape, group.states):
        scores = array.reshape(group.size, group.states)
    elif array.shape == group.shape and group.states == 2:
        scores = np.stack([np.zeros(group.size), array.ravel()], 1)
    else:
        wanted = [str((*group.shape, group.states))] + [str(group.shape)] * (group.states == 2)
        raise ValueError(
            f"evidence for {group.name!r} has shape {array.shape}, not {' or '.join(wanted)}"
        )
    demanded = np.isposinf(scores)
    some = demanded.any(1, keepdims=True)
    scores = np.where(some, np.where(demanded, 0.0, -np.inf), scores)
    hopeless = np.isneginf(scores).all(1)
    if hopeless.any():
        label = group.label(group.start + int(np.flatnonzero(hopeless)[0]))
        raise ValueError(f"evidence forbids every state of {label}")
    return scores


def _in_range(scores: np.ndarray, dtype: type) -> np.ndarray:
    largest = largest_finite(dtype)
    size = np.abs(scores, where=np.isfinite(scores), out=np.zeros(scores.shape))
    if size.size and size.max() > largest:
        raise ValueError(
            f"evidence of magnitude {size.max():.3g} is above {largest:g}: scale it down, use "
            "precision='double', or use inf for what is certain"
        )
    return scores
