"""The three rules of a Markov Attention Model, checked over all factors at once.

1. A variable is either regular or an attention variable.
2. An attention variable shares factors with exactly two regular variables, its *ends*.
3. A factor over an attention variable has exactly one of its two ends.

The gene network of the paper has a factor over X_A, X_C, a_AB and a_AD: by the letter of rule 2 its
attention variables meet three regular variables. Such a third variable, which decides when the
attention is ON, is declared as *context*; without any context the rules are checked literally.
"""

from dataclasses import dataclass

import numpy as np

from mam.factors import Factors, Ragged
from mam.graph import FactorGraph


@dataclass(frozen=True)
class AttentionVariables:
    """The attention variables of a graph, the regular variables they join, and their context."""

    variables: np.ndarray
    ends: np.ndarray  # (variables, 2)
    context: np.ndarray  # (n, 2): an attention variable and a further regular one it may meet

    def flags(self, count: int) -> np.ndarray:
        """Return which of the first ``count`` variables are attention variables."""
        flags = np.zeros(count, bool)
        flags[self.variables] = True
        return flags


def check_rules(graph: FactorGraph, attention: AttentionVariables) -> None:
    """Raise ValueError naming the variable or factor that breaks a rule."""
    flags = attention.flags(len(graph.states))
    wrong = attention.variables[flags[attention.ends].any(1)]
    if wrong.size:
        raise ValueError(
            f"rule 1: attention variable {graph.label(int(wrong[0]))} joins another attention "
            "variable; its ends must be regular"
        )
    ends = np.full((len(graph.states), 2), -1)
    ends[attention.variables] = attention.ends
    pairs = [np.zeros(0, np.int64)]  # attention * size + regular: one number sorts faster than two
    for name, factors in graph.factors:
        meetings = _meetings(factors, flags)
        _check_one_end(graph, name, meetings, ends)
        met = meetings.attention[meetings.edge] * len(graph.states) + meetings.regular
        pairs.append(met)
    _check_two_regulars(graph, attention, np.sort(np.concatenate(pairs)))


@dataclass(frozen=True)
class _Meetings:
    """Edges to attention variables, and every regular variable in the same factor."""

    factor: np.ndarray  # of each edge to an attention variable
    attention: np.ndarray  # the variable at that edge
    edge: np.ndarray  # of each meeting, the edge
    regular: np.ndarray  # of each meeting, the regular variable


def _meetings(factors: Factors, flags: np.ndarray) -> _Meetings:
    scopes = factors.scopes()
    owner = scopes.row_of_value
    is_attention = flags[scopes.values]
    counts = np.bincount(owner[~is_attention], minlength=len(factors))
    offsets = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
    regulars = Ragged(scopes.values[~is_attention], offsets)
    factor = owner[is_attention]
    edge = np.repeat(np.arange(len(factor)), counts[factor])
    first = np.repeat(np.cumsum(counts[factor]) - counts[factor], counts[factor])
    within = np.arange(len(edge)) - first
    regular = regulars.values[regulars.offsets[factor[edge]] + within]
    return _Meetings(factor, scopes.values[is_attention], edge, regular)


def _check_one_end(graph: FactorGraph, name: str, meetings: _Meetings, ends: np.ndarray) -> None:
    is_end = (meetings.regular[:, None] == ends[meetings.attention[meetings.edge]]).any(1)
    found = np.bincount(meetings.edge[is_end], minlength=len(meetings.factor))
    bad = np.flatnonzero(found != 1)
    if bad.size:
        at = int(bad[0])
        label = graph.label(int(meetings.attention[at]))
        raise ValueError(
            f"rule 3: factor {name}[{meetings.factor[at]}] has {found[at]} of the two ends of "
            f"attention variable {label}; it needs exactly one"
        )


def _check_two_regulars(graph: FactorGraph, attention: AttentionVariables, met: np.ndarray) -> None:
    size = len(graph.states)
    wanted = attention.variables[:, None] * size + attention.ends
    context = attention.context[:, 0] * size + attention.context[:, 1]
    extra = met[~_among(met, np.sort(np.concatenate([wanted.ravel(), context])))]
    if extra.size:
        label, other = (graph.label(int(v)) for v in divmod(int(extra[0]), size))
        raise ValueError(
            f"rule 2: attention variable {label} shares a factor with {other} besides its two "
            "ends; declare it as context if it decides when the attention is ON"
        )
    missing = ~_among(wanted, met)
    if missing.any():
        row, side = (int(i) for i in np.argwhere(missing)[0])
        raise ValueError(
            f"rule 2: attention variable {graph.label(int(attention.variables[row]))} shares no "
            f"factor with its end {graph.label(int(attention.ends[row, side]))}"
        )


def _among(values: np.ndarray, pool: np.ndarray) -> np.ndarray:
    """Whether each value is in a sorted pool; sorting beats numpy's hashing here tenfold."""
    if not pool.size:
        return np.zeros(values.shape, bool)
    place = np.minimum(np.searchsorted(pool, values), len(pool) - 1)
    return pool[place] == values
