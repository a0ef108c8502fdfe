"""Max-product of contour models in this library and in PGMax (Pool + Enum), in one run."""

from collections.abc import Callable, Sequence
from functools import partial

import jax
import numpy as np

from bench.graphs import contours
from bench.sweeps import sweep
from bench.timing import seconds
from mam.graph import compile_graphs
from mam.infer.problem import Problem

MEMBERS = 50
ITERATIONS = 50


Sweeps = Callable[[int], object]


def per_sweep(runs: Sequence[Sweeps], rounds: int = 20) -> list[float]:
    """Seconds for one sweep of each: what more of them take, so that starting costs nothing.

    The rivals take turns, so that other work on the machine meets both.
    """
    few, many = 10, 10 + ITERATIONS
    best = np.full((len(runs), 2), np.inf)
    for _ in range(rounds):
        for i, run in enumerate(runs):
            best[i] = np.minimum(best[i], [seconds(partial(run, n), 1) for n in (few, many)])
    return list((best[:, 1] - best[:, 0]) / ITERATIONS)


def ours(messages: int) -> Sweeps:
    """Max-product of this library."""
    graph, evidence = contours(messages, MEMBERS)
    compiled = compile_graphs(graph)
    problem = Problem.of(compiled, evidence, np.float32)
    arrays = jax.device_put((problem.potentials, problem.evidence))
    return lambda n: sweep(compiled.wiring, *arrays, iterations=n)


def theirs(messages: int) -> Sweeps:
    """The same model in PGMax: a Pool for each group, an Enum for each part."""
    from pgmax import fgraph, fgroup, infer, vgroup

    parts = max(MEMBERS + 2, messages // (2 * MEMBERS + 1))
    part = vgroup.NDVarArray(num_states=2, shape=(parts,))
    side = vgroup.NDVarArray(num_states=2, shape=(parts, 2))
    attention = vgroup.NDVarArray(num_states=2, shape=(parts, MEMBERS))
    graph = fgraph.FactorGraph(variable_groups=[part, side, attention])
    pools = []
    for i in range(parts):
        out = [attention[i, j] for j in range(MEMBERS)]
        into = [attention[(i - 1 - j) % parts, j] for j in range(MEMBERS)]
        pools += [[*out, side[i, 1]], [*into, side[i, 0]]]
    graph.add_factors(fgroup.PoolFactorGroup(variables_for_factors=pools))
    graph.add_factors(
        fgroup.EnumFactorGroup(
            variables_for_factors=[[part[i], side[i, 0], side[i, 1]] for i in range(parts)],
            factor_configs=np.array([[0, 0, 0], [1, 0, 1], [1, 1, 0], [1, 1, 1]]),
            log_potentials=np.array([0, -1.6, -1.6, 0.0]),
        )
    )
    inferer = infer.build_inferer(graph.bp_state, backend="bp")
    arrays = inferer.init()
    # Compiled as a whole here, so that only sweeps are compared.
    run = jax.jit(
        lambda arrays, n: inferer.run(arrays, num_iters=n, damping=0.5, temperature=0.0),
        static_argnums=1,
    )
    return lambda n: run(arrays, n)


def main(messages: int = 100_000) -> None:
    """Print the ratio."""
    print(f"\nContour model, {MEMBERS} members a group, {messages} messages")
    try:
        from tests.oracles.pgmax import load

        load()
        import pgmax.fgraph  # noqa: F401
    except BaseException as error:
        print(f"PGMax is not here ({error}); no comparison")
        return
    mine, other = per_sweep([ours(messages), theirs(messages)])
    print(f"mam {1e3 * mine:.3f} ms/sweep, PGMax {1e3 * other:.3f} ms/sweep: {other / mine:.1f}x")


if __name__ == "__main__":
    main()
