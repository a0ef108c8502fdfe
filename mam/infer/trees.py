r"""Trees by messages: whatever the factors, and wherever the wiring is.

Undamped messages on a tree come to rest after as many iterations as it is deep, mostly after far
fewer, and then they are exact. At rest the belief of a variable is its max-marginal,

.. math:: b_i(x_i) = \max_{x : x_i} \text{score}(x) + \text{const},

so where every variable of a tree has one best state, these states are the best assignment. Trees
with ties, trees too deep, beliefs too large to be precise (they stand for infinities), and whatever
has a cycle are left over.
"""

from collections.abc import Sequence
from dataclasses import replace

import jax
import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from mam.factors.limits import largest_finite
from mam.graph import CompiledGraph, GraphUnion
from mam.graph.evidence import Evidence
from mam.graph.wiring import PortWiring, Wiring
from mam.infer.known import Known
from mam.infer.options import Options
from mam.infer.problem import Problem, decode, margins
from mam.infer.restarts import propagate_restarts

WAY = "messages"
# Deeper trees are left to elimination, which needs few rounds for them.
_MOST_ITERATIONS = 60
# Rounding errors that add up in a belief, of the largest that counts as precise.
_ROUNDINGS = 100


def settle_trees(
    compiled: CompiledGraph, evidence: Evidence | Sequence[Evidence] | None, options: Options
) -> Known:
    """Solve the trees among the components of a batch of compiled graphs."""
    union = compiled.union
    component, tree = _components(union)
    largest = largest_finite(options.dtype)
    rounding = largest * float(np.finfo(options.dtype).eps)
    plain = replace(options, damping=0.0, noise=0.0, tolerance=rounding, restarts=1)
    plain = replace(plain, schedule="parallel", iterations=_MOST_ITERATIONS)
    problem = Problem.of(compiled, evidence, options.dtype)
    watched = _watching(compiled, tree[component])
    trees = replace(problem, compiled=replace(compiled, wiring=watched))
    _, beliefs, info = propagate_restarts(trees, plain)
    found = [np.asarray(belief) for belief in jax.device_get(beliefs)]
    lead = compiled.gather([own[0] for own in margins(found)]).astype(np.float64)
    values = compiled.gather([states[0] for states in decode(found)])
    size = compiled.gather([_largest(belief[0]) for belief in found])
    at_rest = np.asarray(info.converged)[0, : len(compiled.graphs)][union.instance]
    sure = at_rest & (lead > _ROUNDINGS * rounding) & (size < largest)
    unsure = np.bincount(component[~sure], minlength=len(tree)) > 0
    good = tree & ~unsure
    solved = good[component]
    return Known(
        union,
        solved,
        np.where(solved, values, 0),
        np.where(solved, lead, np.nan),
        np.zeros(len(union.graphs), bool),
        _ways(union, component, good),
    )


def forests(union: GraphUnion) -> np.ndarray:
    """Which graphs of a union have no cycle."""
    component, tree = _components(union)
    return np.bincount(union.instance[~tree[component]], minlength=len(union.graphs)) == 0


def _components(union: GraphUnion) -> tuple[np.ndarray, np.ndarray]:
    """The component of each variable, and which components have no cycle."""
    variables = len(union.states)
    ends, first = [np.zeros((2, 0), np.int64)], variables
    for group in union.sets:
        scopes = group.factors.scopes()
        ends.append(np.stack([scopes.values, first + scopes.row_of_value]))
        first += len(scopes)
    variable, factor = np.concatenate(ends, 1)
    matrix = coo_array((np.ones(len(factor), bool), (variable, factor)), (first, first))
    label = connected_components(matrix, directed=False)[1]
    # A tree has one edge less than it has nodes.
    edges = np.bincount(label[variable], minlength=int(label.max(initial=-1)) + 1)
    return label[:variables], edges < np.bincount(label)


def _watching(compiled: CompiledGraph, wanted: np.ndarray) -> Wiring:
    """The wiring with only the wanted variables looked at when it is asked what still moves."""
    wiring = compiled.wiring
    if wanted.all():
        return wiring
    by_class = []
    for kind in range(len(wiring.states)):
        mine = np.flatnonzero(compiled.kind == kind)
        watched = np.ones(wiring.class_size(kind) + 1, bool)
        watched[compiled.position[mine]] = wanted[mine]
        by_class.append(watched)

    def watch(port: PortWiring) -> PortWiring:
        index = np.asarray(port.index).reshape(len(port.index), -1)
        watched = by_class[port.kind][index].all(1)
        instance = np.where(watched, np.asarray(port.instance), wiring.instances)
        return replace(port, instance=instance.astype(np.int32))

    return replace(wiring, ports=tuple(tuple(map(watch, ports)) for ports in wiring.ports))


def _largest(belief: np.ndarray) -> np.ndarray:
    """The size of the numbers that each variable's lead is the difference of."""
    if belief.ndim == 1:
        return np.abs(belief)
    return np.abs(np.partition(belief, -2, axis=1)[:, -2:]).max(1)


def _ways(union: GraphUnion, component: np.ndarray, good: np.ndarray) -> tuple[dict[str, int], ...]:
    graph = np.zeros(len(good), np.int64)
    graph[component] = union.instance
    counts = np.bincount(graph[good], minlength=len(union.graphs))
    return tuple({WAY: int(count)} if count else {} for count in counts)
