"""Evidence: what is known about each variable, apart from the structure."""

from collections.abc import Mapping, Sequence

import numpy as np

from mam.factors.numeric_limits import check_magnitude, limit, magnitudes
from mam.graph.model import FactorGraph, VariableGroup

Evidence = Mapping[str, object]


def evidence_scores(graph: FactorGraph, evidence: Evidence | None) -> dict[str, np.ndarray]:
    """Return log scores ``(variables, states)`` of each group that has variables and evidence."""
    groups = {name: graph.group(name) for name in evidence or {}}
    return {
        name: group_scores(group, (evidence or {})[name])
        for name, group in groups.items()
        if group.size
    }


def as_difference(scores: np.ndarray, dtype: type) -> np.ndarray:
    """Return the message form of packed evidence: one number if binary, else maximum 0."""
    big = limit(dtype)
    if scores.shape[1] == 2:
        # An infinity less a finite score is infinite; both states are never forbidden.
        return np.clip(scores[:, 1] - scores[:, 0], -big, big).astype(dtype)
    return np.maximum(scores - scores.max(1, keepdims=True), -big).astype(dtype)


def left_out(scores: np.ndarray, dtype: type) -> np.ndarray:
    """Return what the message form leaves out of each variable's scores.

    It is the score of OFF, or the largest score of a variable with more states. Where OFF is
    forbidden the message form says that ON scores the stand-in for infinity.
    """
    if scores.shape[1] == 2:
        off, on = scores.T
        return np.where(np.isneginf(off), on - limit(dtype), off)
    return scores.max(1)


def evidence_of_each(
    graphs: int, evidence: Evidence | Sequence[Evidence] | None
) -> Sequence[Evidence]:
    """Return one set of evidence for each graph of a batch."""
    if evidence is None:
        return [{}] * graphs
    if isinstance(evidence, Mapping):
        if graphs > 1:
            raise ValueError(f"a batch of {graphs} graphs needs a list of evidence")
        return [evidence]
    if len(evidence) != graphs:
        raise ValueError(f"{len(evidence)} sets of evidence for {graphs} graphs")
    return evidence


def group_scores(
    group: VariableGroup, values: object, dtype: np.dtype | type = np.float64
) -> np.ndarray:
    """Return evidence for a group as ``(variables, states)`` scores, checked.

    Finite scores must be small enough for messages of the given type.
    """
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
    impossible = np.isneginf(scores).all(1)
    if impossible.any():
        label = group.label(group.start + int(np.flatnonzero(impossible)[0]))
        raise ValueError(f"evidence forbids every state of {label}")
    check_magnitude(magnitudes(scores), dtype, f"evidence for {group.name!r} has a score")
    return scores
