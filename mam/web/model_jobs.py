"""Jobs about small models: clamp variables, see states, margins and independence."""

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from mam.infer import solve
from mam.models import MarkovAttentionModel
from mam.models.examples import gene_network, two_lines
from mam.web.frames import Telling
from mam.web.job import Answer

_ROWS = 4  # of the two lines


class Toy(NamedTuple):
    """A small model with names, and places in a square of side 1, for its regular variables."""

    title: str
    story: str
    model: MarkovAttentionModel
    names: dict[str, str]  # by the label in the graph; those without are shown by their label
    places: dict[str, tuple[float, float]]  # x, y
    pairs: int  # how many regular variables, from the first, are asked about independence


def toys() -> dict[str, Toy]:
    """All models that the page shows."""
    segments = 2 * _ROWS
    named = {f"part[{k}]": f"{'left' if k % 2 == 0 else 'right'} {k // 2 + 1}" for k in range(8)}
    named |= {f"part[{segments + k}]": f"line {k + 1}" for k in range(2)}
    at = {f"part[{k}]": (0.12 + 0.42 * (k % 2), 0.12 + 0.25 * (k // 2)) for k in range(segments)}
    at |= {f"part[{segments + k}]": (0.9, 0.25 + 0.5 * k) for k in range(2)}
    return {
        "gene-network": Toy(
            "Gene network",
            "Gene A induces B, unless compound C is there: then A induces D. B and D repress "
            "each other.",
            gene_network(),
            {},
            {"A": (0.12, 0.5), "B": (0.85, 0.15), "C": (0.45, 0.5), "D": (0.85, 0.85)},
            4,
        ),
        "two-lines": Toy(
            "Two lines",
            "Eight segments in four rows. A line joins one of each column, at most one row apart, "
            "and there are at most two lines.",
            two_lines(_ROWS),
            named,
            at,
            segments,
        ),
    }


def toy(arguments: dict[str, Any], blobs: list[bytes], tell: Telling) -> Answer:
    """Solve a small model in a context."""
    known = toys()
    if arguments["model"] not in known:
        raise ValueError(f"{arguments['model']}: no such model; there are {', '.join(known)}")
    one, given = known[arguments["model"]], arguments["given"]
    graph = one.model.graph
    labels = [graph.label(k) for k in range(len(graph.states))]
    if wrong := sorted(set(given) - set(labels)):
        raise ValueError(f"{wrong[0]}: no variable of this model; there are {', '.join(labels)}")
    solution = solve(graph, graph.observe(given), bound=True)
    about = {"title": one.title, "story": one.story, "possible": solution.feasible}
    if not solution.feasible:
        return about, []
    variables = [
        _variable(one, labels, k, int(solution.values[k]), float(solution.margins[k]))
        | {"given": given.get(labels[k])}
        for k in range(len(labels))
    ]
    return about | {
        "variables": variables,
        "joined": _joined(one, labels),
        "context": [[labels[a], labels[b]] for a, b in one.model.attention.context.tolist()],
        "independent": _independent(one, labels, given),
        "score": round(solution.score, 3),
        "proof": solution.proof,
    }, []


def _variable(one: Toy, labels: list[str], k: int, state: int, margin: float) -> dict[str, Any]:
    attention = one.model.attention
    at = np.flatnonzero(attention.variables == k)
    label = labels[k]
    about: dict[str, Any] = {"label": label, "name": one.names.get(label, label), "state": state}
    about["margin"] = round(margin, 3) if np.isfinite(margin) else None
    if len(at):
        first, second = attention.ends[at[0]].tolist()
        return about | {"between": [labels[first], labels[second]]}
    x, y = one.places[label]
    return about | {"x": x, "y": y}


def _joined(one: Toy, labels: list[str]) -> list[list[str]]:
    """Pairs of regular variables that share a factor without attention variables."""
    flags = one.model.attention.flags(len(labels))
    scopes = [factors.scopes() for _, factors in one.model.graph.factors]
    each = [some[row] for some in scopes for row in range(len(some))]
    pairs = [scope for scope in each if len(scope) == 2 and not flags[scope].any()]
    return [[labels[v] for v in scope] for scope in pairs]


def _independent(one: Toy, labels: list[str], given: dict[str, int]) -> list[list[Any]]:
    """Pairs of regular variables, and whether they are independent in this context."""
    open_ = [label for label in list(one.places)[: one.pairs] if label not in given]
    context = {name: state for name, state in given.items() if name in one.places}
    return [[a, b, one.model.independent(a, b, context)] for a, b in combinations(open_, 2)]


def warm_models(arguments: dict[str, Any], blobs: list[bytes], tell: Telling) -> Answer:
    """Solve each model once."""
    for name in toys():
        toy({"model": name, "given": {}}, [], tell)
    return {}, []
