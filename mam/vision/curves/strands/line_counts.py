r"""How many lines of a chart run through each arc of runs: a model of counts, solved by the engine.

Lines that come to an event leave it. With counts :math:`c_a \in \{1, .., 4\}` of arcs a picture
scores

.. math::
    - \sum_a \Bigl( (c_a - 1) \, \lambda_a^+ + [c_a > 1] \, \lambda_a^- + (c_a - 2)^+ \mu \Bigr)
    - \tau \sum_\text{events} \Bigl| \sum_{a \text{ comes}} c_a - \sum_{a \text{ leaves}} c_a \Bigr|

where :math:`\lambda_a = \theta \cdot \psi_a` are the learned log odds that one line alone has the
arc, :math:`\lambda^+` their positive part and :math:`\lambda^-` the rest, :math:`\mu` is what one
more line costs, and every line that begins or ends at an event costs :math:`\tau`.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from mam.factors import Table
from mam.graph import FactorGraph, GraphBuilder
from mam.infer import solve
from mam.vision.curves.strands.run_arcs import RunArcs
from mam.vision.curves.strands.run_widths import RunWidths

LINE_TERMS = (
    "constant",
    "wide",  # share of the runs that are wider than the pen,
    "wider",  # clearly so,
    "spare",  # px by which they are, on average
    "length",  # logarithm of the columns
    "tips",  # how many of its ends are ends of ink
    "long",  # from 0 for one column to 1 for many; the rest counts as much
    "long wide",
    "long wider",
    "long spare",
    "long tips",
)
MOST = 4  # lines in one arc
_ENDING = 4.5  # tau
_MORE = 1.0  # mu
_DEGREE = 7  # arcs of an event up to which its balance is told: tables grow as 4 to its power
_WIDE, _WIDER = 0.5, 1.2  # px
_LEAST, _MOST = -1.0, 4.0  # px: spare outside counts as these
_MANY = 20  # columns


def line_terms(arcs: RunArcs, widths: RunWidths) -> Float[np.ndarray, "arcs terms"]:
    """Return what the log odds of every arc are made of, in the order of ``LINE_TERMS``."""

    def mean(values: np.ndarray) -> np.ndarray:
        return np.bincount(arcs.arc, values, len(arcs)) / arcs.lengths

    wide, wider = mean(widths.spare > _WIDE), mean(widths.spare > _WIDER)
    spare = mean(np.clip(widths.spare, _LEAST, _MOST))
    length, tips = np.log1p(arcs.lengths), arcs.tips.sum(1)
    long = np.minimum(arcs.lengths, _MANY) / _MANY
    columns = [np.ones(len(arcs)), wide, wider, spare, length, tips, long]
    columns += [long * wide, long * wider, long * spare, tips * length]
    return np.stack([np.asarray(column, float) for column in columns], 1)


class LineCounts(NamedTuple):
    """How many lines run through each arc, and how that is known to be the best answer."""

    each: Int[np.ndarray, " arcs"]
    proof: str | None


def find_line_counts(arcs: RunArcs, single: Float[np.ndarray, " arcs"]) -> LineCounts:
    """Return how many lines run through each arc; ``single`` are log odds of one alone.

    >>> from mam.vision.curves.strands.ink_runs import find_runs
    >>> from mam.vision.curves.strands.run_arcs import find_arcs
    >>> ink = np.zeros((20, 30), bool)
    >>> ink[4:7, :10] = ink[10:13, :10] = ink[4:13, 10:20] = ink[4:7, 20:] = ink[10:13, 20:] = True
    >>> counts = find_line_counts(find_arcs(find_runs(ink)), np.full(5, 1.0))
    >>> counts.each.tolist(), counts.proof
    ([1, 1, 2, 1, 1], 'exact')
    """
    if not len(arcs):
        return LineCounts(np.zeros(0, np.int64), "exact")
    more = np.maximum(single, 0.0)
    steps = [-single, *(-more - _MORE for _ in range(MOST - 2))]
    evidence = np.cumsum(np.stack([np.zeros(len(arcs)), *steps], 1), 1)
    found = solve(_line_graph(arcs), {"lines": evidence})
    return LineCounts(1 + np.asarray(found["lines"], np.int64), found.proof)


def _line_graph(arcs: RunArcs) -> FactorGraph:
    """The balance of every event."""
    builder = GraphBuilder()
    builder.variables("lines", len(arcs), states=MOST)
    scopes: dict[tuple[int, int], list[list[int]]] = {}
    for coming, leaving in arcs.events:
        if len(coming) + len(leaving) <= _DEGREE:
            scopes.setdefault((len(coming), len(leaving)), []).append([*coming, *leaving])
    for (before, after), own in sorted(scopes.items()):
        lines = 1 + np.indices((MOST,) * (before + after))
        unequal = np.abs(lines[:before].sum(0) - lines[before:].sum(0))
        table = Table.of(np.array(own), -_ENDING * unequal.astype(float))
        builder.add(f"balance {before} to {after}", table)
    return builder.build()
