"""Writing models in the UAI format."""

import itertools
from collections.abc import Iterator
from os import PathLike
from pathlib import Path

import numpy as np

from mam.core.whole_files import write_whole
from mam.graph import FactorGraph
from mam.graph.evidence import Evidence, evidence_scores
from mam.models.dense import full_tables
from mam.models.uai.uai_model import UaiModel

# exp(708) is the end of the normal doubles on either side; beyond it digits get lost.
_LARGEST_EXPONENT = 700.0
# Log potentials that need more copies of their table than this belong in no file.
_MOST_COPIES = 1000


def write_uai(
    model: FactorGraph | UaiModel, path: str | PathLike, evidence: Evidence | None = None
) -> None:
    """Write a model as MARKOV, every factor as a full table; evidence becomes unary factors.

    Variables stand in the order of the graph, or of the file that a ``UaiModel`` came from. A
    table whose potentials do not fit into a double is written as several equal ones over the same
    scope, which multiply to it.
    """
    if isinstance(model, FactorGraph):
        number = np.arange(len(model.states))
        model = UaiModel(model, model.states, number, 0.0)
    graph = model.graph
    in_file = np.zeros(len(graph.states), np.int64)
    in_file[model.position[model.position >= 0]] = np.flatnonzero(model.position >= 0)
    constant = [("the constant", in_file[:0], np.array(model.constant))]
    tables = itertools.chain(constant if model.constant else [], _tables(graph, evidence))
    scopes, potentials = [], []
    for name, variables, logs in tables:
        scope = " ".join(map(str, [logs.ndim, *in_file[variables].tolist()]))
        words = [str(logs.size), *map(repr, _values(logs, name))]
        copies = _copies(logs, name)
        scopes += [scope] * copies
        potentials += [" ".join(words)] * copies
    states = " ".join(map(str, model.states.tolist()))
    head = ["MARKOV", str(len(model.states)), states, str(len(scopes))]
    write_whole(Path(path), ("\n".join([*head, *scopes, "", *potentials]) + "\n").encode())


def _tables(
    graph: FactorGraph, evidence: Evidence | None
) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    for name, factors in graph.factors:
        for i, (variables, logs) in enumerate(full_tables(graph, name, factors)):
            yield f"factor {name}[{i}]", variables, logs
    for name, scores in evidence_scores(graph, evidence).items():
        group = graph.group(name)
        for i in np.flatnonzero((scores != 0).any(1)):
            variable = group.start + int(i)
            yield f"the evidence of {group.label(variable)}", np.array([variable]), scores[i]


def _copies(logs: np.ndarray, name: str) -> int:
    """How often the table must be written so that each copy's potentials fit into a double."""
    largest = np.max(np.abs(logs[np.isfinite(logs)]), initial=0.0)
    copies = max(1, int(np.ceil(largest / _LARGEST_EXPONENT)))
    if copies > _MOST_COPIES:
        raise ValueError(
            f"{name} has a log potential of magnitude {largest:.3g}; "
            f"up to {_MOST_COPIES * _LARGEST_EXPONENT:g} can be written"
        )
    return copies


def _values(logs: np.ndarray, name: str) -> list[float]:
    return np.exp(logs.ravel() / _copies(logs, name)).tolist()
