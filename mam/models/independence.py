r"""Context-specific independence.

``x`` and ``y`` are independent in a context c when, for every value z of the other regular
variables that can occur with it,

.. math:: p(x, y \mid z, c) = p(x \mid z, c)\, p(y \mid z, c),

attention variables being summed out, and those named in ``marginal``. With ``others="unknown"`` all
other regular variables are summed out. Small models are enumerated. On large ones the question is
answered from the structure: the context is propagated through the hard constraints, attention
variables that are OFF then cut the graph, and what is no longer connected is independent. That
answer is sound but careful: False means "not shown".
"""

from collections.abc import Mapping, Sequence

import numpy as np

from mam.graph import FactorGraph
from mam.infer.condition import possible_states
from mam.infer.exact import Exact, enumerate_exactly

# Enumeration takes about a second up to here.
_ENUMERATE = 200_000


def independent(
    graph: FactorGraph,
    x: str | int,
    y: str | int,
    given: Mapping[str, int],
    *,
    hidden: np.ndarray,
    others: str = "known",
    marginal: Sequence[str | int] = (),
    method: str = "auto",
) -> bool:
    """Answer for a graph whose ``hidden`` (attention) variables are never observed."""
    if others not in ("known", "unknown"):
        raise ValueError(f"others is 'known' or 'unknown', not {others!r}")
    if method not in ("auto", "exact", "structural"):
        raise ValueError(f"method is 'auto', 'exact' or 'structural', not {method!r}")
    first, second = graph.variable(x), graph.variable(y)
    context = {graph.variable(label): int(state) for label, state in given.items()}
    _check(graph, first, second, context)
    summed = [graph.variable(label) for label in marginal]
    for variable in summed:
        if variable in (first, second) or variable in context:
            raise ValueError(f"{graph.label(variable)} is asked about or given, and summed out")
    hidden = hidden.copy()
    hidden[summed] = True
    known = graph.observe(given)
    if method != "structural":
        try:
            exact = enumerate_exactly(graph, known, limit=_ENUMERATE)
        except ValueError:
            if method == "exact":
                raise
        else:
            return _factorises(exact, first, second, context, hidden, others)
    return _disconnected(graph, first, second, known, context, hidden, others)


def _check(graph: FactorGraph, x: int, y: int, context: dict[int, int]) -> None:
    if x == y:
        raise ValueError(f"{graph.label(x)} is always dependent on itself")
    for variable in context:
        if variable in (x, y):
            raise ValueError(f"{graph.label(variable)} is asked about and given at once")


def _factorises(
    exact: Exact, x: int, y: int, context: dict[int, int], hidden: np.ndarray, others: str
) -> bool:
    if not len(exact.scores):
        raise ValueError("the context is impossible: no configuration agrees with it")
    graph = exact.graph
    known = others == "known"
    rest = [v for v in range(len(graph.states)) if known and not hidden[v] and v not in (x, y)]
    settings = exact.values[:, [v for v in rest if v not in context]]
    which = np.unique(settings, axis=0, return_inverse=True)[1].ravel()
    joint = np.zeros((which.max(initial=0) + 1, graph.states[x], graph.states[y]))
    weight = np.exp(exact.scores - exact.score)
    np.add.at(joint, (which, exact.values[:, x], exact.values[:, y]), weight)
    product = joint.sum(2, keepdims=True) * joint.sum(1, keepdims=True)
    total = joint.sum((1, 2), keepdims=True)
    return bool(np.all(np.abs(joint * total - product) <= 1e-9 * total**2))


def _disconnected(
    graph: FactorGraph,
    x: int,
    y: int,
    known: dict[str, np.ndarray],
    context: dict[int, int],
    hidden: np.ndarray,
    others: str,
) -> bool:
    possible = possible_states(graph, known)
    settled = np.array([int(states.sum()) == 1 for states in possible])
    observed = settled | (~hidden if others == "known" else np.zeros_like(settled))
    observed[list(context)] = True
    observed[[x, y]] = False
    owner, variable, start = [], [], 0
    for _, factors in graph.factors:
        scopes = factors.scopes()
        owner.append(scopes.row_of_value + start)
        variable.append(scopes.values)
        start += len(factors)
    return not _connected(np.concatenate(owner), np.concatenate(variable), observed, x, y, start)


def _connected(
    owner: np.ndarray, variable: np.ndarray, observed: np.ndarray, x: int, y: int, factors: int
) -> bool:
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    free = ~observed[variable]
    size = len(observed) + factors
    links = (np.ones(free.sum()), (variable[free], len(observed) + owner[free]))
    labels = connected_components(coo_matrix(links, (size, size)), directed=False)[1]
    return bool(labels[x] == labels[y])
