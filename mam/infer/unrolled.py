"""Belief propagation for a fixed number of iterations, as a function that can be differentiated."""

from collections.abc import Mapping

import jax
import jax.numpy as jnp
from jaxtyping import Array

from mam.factors.base import Temperature
from mam.graph import CompiledGraph, VariableGroup
from mam.infer.loop import run_fixed
from mam.infer.messages import BeliefPropagation
from mam.infer.passing import Store


def propagate(
    compiled: CompiledGraph,
    evidence: Mapping[str, Array],
    potentials: Mapping[str, Array] | None = None,
    *,
    iterations: int = 20,
    damping: float = 0.5,
    temperature: Temperature = 0,
    noise: float = 0.0,
    seed: int = 0,
) -> dict[str, Array]:
    """Return the beliefs of one compiled graph: score(ON) - score(OFF), or scores per state.

    ``evidence`` holds finite differences for binary groups and scores for others, ``potentials``
    the log potentials of factor groups that are to be differentiated, in the shape they were given
    in; what is not named keeps its value. Gradients flow to both.

    >>> import jax.numpy as jnp, numpy as np
    >>> from mam.factors import Pairwise
    >>> from mam.graph import GraphBuilder, compile_graphs
    >>> builder = GraphBuilder()
    >>> x = builder.variables("x", 2)
    >>> builder.add("agree", Pairwise.of([[0, 1]], np.eye(2)))
    >>> graph = compile_graphs(builder.build())
    >>> def belief(e): return propagate(graph, {"x": e}, temperature=1.0)["x"][1]
    >>> print(jax.grad(belief)(jnp.array([0.0, 1.0])).round(3))
    [0.462 1.   ]
    """
    if len(compiled.graphs) != 1:
        raise ValueError("propagate works on one graph; differentiate a batch graph by graph")
    packed = _packed(compiled, evidence)
    solver = BeliefPropagation.of(
        compiled.wiring,
        _parameters(compiled, potentials or {}),
        packed,
        jax.random.key(seed),
        jnp.float32(damping),
        jnp.float32(0),
        temperature=temperature,
    )
    messages = run_fixed(solver, solver.init(jnp.float32(noise)), iterations)
    beliefs = solver.beliefs(messages)
    return {group.name: _read(compiled, beliefs, group) for group in compiled.graphs[0].variables}


def _packed(compiled: CompiledGraph, evidence: Mapping[str, Array]) -> Store:
    wiring = compiled.wiring
    packed = [
        jnp.zeros((wiring.class_size(k), *(() if n == 2 else (n,))), jnp.float32)
        for k, n in enumerate(wiring.states)
    ]
    for name, values in evidence.items():
        group = compiled.graphs[0].group(name)
        shape = (group.size,) if group.states == 2 else (group.size, group.states)
        kind = wiring.states.index(group.states)
        place = compiled.position[group.ids.ravel()]
        packed[kind] = packed[kind].at[place].set(jnp.reshape(values, shape))
    return tuple(packed)


def _parameters(compiled: CompiledGraph, potentials: Mapping[str, Array]) -> Store:
    for name in potentials:
        compiled.check_factor_group(name)
    result = []
    for group, values in zip(compiled.sets, compiled.parameters(), strict=True):
        array = jnp.asarray(values)
        for name, new in potentials.items():
            for rows in group.rows(name):
                array = array.at[rows].set(jnp.reshape(new, array[rows].shape))
        result.append(array)
    return tuple(result)


def _read(compiled: CompiledGraph, beliefs: Store, group: VariableGroup) -> Array:
    values = beliefs[compiled.wiring.states.index(group.states)]
    picked = values[compiled.position[group.ids.ravel()]]
    return picked.reshape(*group.shape, *picked.shape[1:])
