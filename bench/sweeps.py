"""Sweeps per second of max-product, and the share of memory bandwidth that it reaches."""

import time
from collections.abc import Callable
from functools import partial

import jax
import numpy as np

from bench.graphs import contours, pixels
from bench.timing import copy_bandwidth, seconds
from mam.graph import FactorGraph, Wiring, compile_graphs
from mam.infer.loop import run
from mam.infer.messages import BeliefPropagation
from mam.infer.problem import Problem

ITERATIONS = 50


def useful_bytes(graph: FactorGraph) -> int:
    """The least that a sweep moves.

    For each edge: its message is read and written, read again where its variable adds it up, its
    variable's belief is read, and so are the two indices; for each variable: evidence and belief.
    """
    return 6 * 4 * graph.edges + 2 * 4 * len(graph.states)


@partial(jax.jit, static_argnames=("iterations",))
def sweep(wiring: Wiring, potentials: tuple, evidence: tuple, iterations: int) -> tuple:
    key, damping, never = jax.random.key(0), np.float32(0.5), np.float32(-1.0)
    solver = BeliefPropagation.of(wiring, potentials, evidence, key, damping, never, stride=5)
    return run(solver, solver.init(np.float32(0.01)), iterations // 5)[0]


def measure(make: Callable, messages: int, copy: float) -> dict[str, float]:
    graph, evidence = make(messages)
    start = time.perf_counter()
    compiled = compile_graphs(graph)
    built = time.perf_counter() - start
    problem = Problem.of(compiled, evidence, np.float32)
    arrays = jax.device_put((problem.potentials, problem.evidence))
    few, many = (
        seconds(lambda n=n: sweep(compiled.wiring, *arrays, iterations=n), 3)
        for n in (5, 5 + ITERATIONS)
    )
    once = (many - few) / ITERATIONS
    return {
        "messages": graph.edges,
        "compile_graphs_s": built,
        "ms": 1e3 * once,
        "sweeps_per_s": 1 / once,
        "share": useful_bytes(graph) / once / copy,
    }


def main(largest: int = 10_000_000) -> None:
    device = jax.devices()[0]
    copy = copy_bandwidth(4000 if device.platform == "gpu" else 200)
    print(f"\nSweeps of max-product on {device.device_kind}; a copy moves {copy / 1e9:.0f} GB/s")
    print(f"{'graph':10} {'messages':>10} {'wiring s':>9} {'ms/sweep':>9} {'sweeps/s':>9} "
          f"{'of copy':>8}")  # fmt: skip
    for name, make in (("or", pixels), ("pattern", contours)):
        messages = 10_000
        while messages <= largest:
            found = measure(make, messages, copy)
            print(
                f"{name:10} {found['messages']:10d} {found['compile_graphs_s']:9.2f} "
                f"{found['ms']:9.3f} {found['sweeps_per_s']:9.0f} {found['share']:8.1%}",
                flush=True,
            )
            messages *= 10


if __name__ == "__main__":
    main()
