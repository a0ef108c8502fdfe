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
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from mam.factors.numeric_limits import largest_finite
from mam.graph import CompiledGraph, GraphUnion, Scores
from mam.graph.evidence import Evidence
from mam.graph.wiring import PortWiring, Wiring
from mam.infer.connected import factor_components
from mam.infer.loop import run
from mam.infer.messages import BeliefPropagation
from mam.infer.options import Options
from mam.infer.passing import Store
from mam.infer.problem import Problem, decode, margins
from mam.infer.solved_components import SolvedComponents

WAY = "messages"
# Deeper trees are left to elimination, which needs few rounds for them.
_MOST_ITERATIONS = 60
_STRIDE = 4  # iterations between two looks whether messages still move
# Rounding errors that add up in a belief, of the largest that counts as precise.
_ROUNDINGS = 100


def settle_trees(
    compiled: CompiledGraph, evidence: Evidence | Sequence[Evidence] | None, options: Options
) -> tuple[SolvedComponents, tuple[Scores, ...]]:
    """Solve the trees among the components of compiled graphs; also return the evidence of all."""
    union = compiled.union
    components = factor_components(union)
    component, tree = components.component, components.cycles == 0
    problem = Problem.of(compiled, evidence, options.dtype)
    if not tree.any():
        return _nothing_known(union), compiled.unpacked(problem.scores)
    largest = largest_finite(options.dtype)
    rounding = largest * float(np.finfo(options.dtype).eps)
    watched = _watching(compiled, tree[component])
    with jax.enable_x64(options.precision == "double"):
        beliefs, rests = jax.device_get(
            _settle(watched, problem.potentials, problem.evidence, options.dtype(rounding))
        )
    found = [belief[None] for belief in beliefs]
    lead = compiled.gather([own[0] for own in margins(found)]).astype(np.float64)
    values = compiled.gather([states[0] for states in decode(found)])
    size = compiled.gather([_largest(belief[0]) for belief in found])
    at_rest = rests[: len(compiled.graphs)][union.instance]
    sure = at_rest & (lead > _ROUNDINGS * rounding) & (size < largest)
    unsure = np.bincount(component[~sure], minlength=len(tree)) > 0
    good = tree & ~unsure
    solved = good[component]
    known = SolvedComponents(
        union,
        solved,
        np.where(solved, values, 0),
        np.where(solved, lead, np.nan),
        np.zeros(len(union.graphs), bool),
        _ways(union, component, good),
    )
    return known, compiled.unpacked(problem.scores)


def _nothing_known(union: GraphUnion) -> SolvedComponents:
    count = len(union.states)
    none, ways = np.zeros(len(union.graphs), bool), tuple({} for _ in union.graphs)
    unknown = np.full(count, np.nan)
    return SolvedComponents(
        union, np.zeros(count, bool), np.zeros(count, np.int64), unknown, none, ways
    )


@jax.jit
def _settle(
    wiring: Wiring, potentials: Store, evidence: Store, tolerance: Array
) -> tuple[Store, Array]:
    """Undamped messages from nothing: the beliefs, and which graphs have come to rest."""
    dtype, unused = evidence[0].dtype, jax.random.key(0)
    solver = BeliefPropagation.of(
        wiring, potentials, evidence, unused, jnp.zeros((), dtype), tolerance, stride=_STRIDE
    )
    shapes = zip(wiring.store_sizes, wiring.states, strict=True)
    nothing = tuple(jnp.zeros(n if s == 2 else (n, s), dtype) for n, s in shapes)
    messages, info = run(solver, nothing, _MOST_ITERATIONS // _STRIDE)
    return solver.beliefs(messages), info.converged


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
