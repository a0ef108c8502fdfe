"""The dual bound of a problem: block descent, then a smoothed one where a gap is left."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from mam.graph.evidence import as_difference
from mam.infer import evaluate
from mam.infer.deadline import Deadline
from mam.infer.dual import DualDescent, DualState
from mam.infer.loop import run, run_in_pieces
from mam.infer.options import Options
from mam.infer.passing import HostStore, Store
from mam.infer.problem import Problem
from mam.infer.smooth import PASSES, SmoothDescent

# A look of the smoothed descent works as long as this many of the other, 20 passes each.
_LOOKS = PASSES // 20
# Temperatures start at powers of this, so that few of them differ within a batch.
_GRADE = 16.0


class DualBounds(NamedTuple):
    """Bounds of all graphs of a batch with the messages that are at them, and the best states."""

    bounds: np.ndarray  # -inf where nothing is possible
    states: HostStore
    messages: HostStore  # the last ones; the bound may be that of earlier ones


def dual_bounds(problem: Problem, states: HostStore, options: Options, end: Deadline) -> DualBounds:
    """Bound the score of each graph; the states are the given ones, or better ones of the dual.

    The descent stops at the ``end``.

    What one graph of a batch gets does not depend on the others.
    """
    compiled = problem.compiled
    evidence = tuple(as_difference(scores, np.float64) for scores in problem.scores)
    tolerance = np.float64(options.bound_tolerance)
    descent = DualDescent(compiled.wiring, compiled.potentials, evidence, problem.scores, tolerance)
    lowest = evaluate.lowest_possible(compiled, problem.scores)
    lowest -= 1e-6 * (1 + np.abs(lowest))
    with jax.enable_x64(True):
        state, steps = run_in_pieces(
            lambda state, active, steps: _descend(descent, state, steps, active),
            _start(descent, states),
            np.ones(compiled.wiring.instances, bool),
            options.bound_steps,
            end,
        )
        left = (options.bound_steps - steps) // _LOOKS
        start = _temperatures(problem, state)
        wanted = np.asarray(state.bound - state.score) > tolerance
        wanted &= (np.asarray(state.bound) >= lowest) & (left > 0) & (not end.over)
        for temperature in np.unique(start[wanted]):
            mine = wanted & (start == temperature)
            for steps in np.unique(left[mine]):
                state = _smoothed(
                    descent, state, temperature, int(steps), mine & (left == steps), end
                )
    bounds = np.asarray(state.bound)
    found, messages = (tuple(map(np.asarray, store)) for store in (state.states, state.messages))
    return DualBounds(np.where(bounds < lowest, -np.inf, bounds), found, messages)


def _temperatures(problem: Problem, state: DualState) -> np.ndarray:
    """Where to start: smoothing each variable by T then moves the bound by about the gap."""
    variables = np.zeros(problem.compiled.wiring.instances + 1)
    for kind in range(len(problem.scores)):
        np.add.at(variables, problem.instance_of(kind), problem.has_factors(kind))
    gap = np.asarray(state.bound - state.score)
    each = np.where(np.isfinite(gap), gap, variables[:-1]) / np.maximum(variables[:-1], 1)
    return _GRADE ** np.ceil(np.log(np.maximum(each, 1e-8)) / np.log(_GRADE))


@jax.jit
def _start(descent: DualDescent, states: Store) -> DualState:
    wiring, dtype = descent.wiring, descent.evidence[0].dtype
    zero = tuple(
        jnp.zeros((size,) if n == 2 else (size, n), dtype)
        for size, n in zip(wiring.store_sizes, wiring.states, strict=True)
    )
    return descent.init(zero, states)


_descend = jax.jit(run)


def _smoothed(
    descent: DualDescent,
    state: DualState,
    temperature: float,
    steps: int,
    active: np.ndarray,
    end: Deadline,
) -> DualState:
    """Go on from where block descent rests, until the clock shows ``end``."""
    smooth = SmoothDescent(descent, temperature)
    found, _ = run_in_pieces(
        lambda state, active, steps: _descend(smooth, state, steps, active),
        smooth.init(state),
        active,
        steps,
        end,
    )
    return found.dual
