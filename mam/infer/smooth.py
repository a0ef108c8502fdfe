r"""Where block descent stands still: descent on a smoothed bound, with a falling temperature.

The bound is a sum of maxima; coordinate by coordinate, descent on it can stop above its minimum,
or creep. At temperature T every maximum becomes :math:`T \log \sum \exp(\cdot / T)`. That function
is smooth, so the variable pass of ``DualDescent`` with soft max-marginals goes to its minimum; and
each pass minimises a majorant, so that Nesterov's momentum

.. math::
    y = x_k + \frac{k}{k + 3} (x_k - x_{k - 1}), \qquad x_{k + 1} = \mathrm{pass}_T(y)

makes the way shorter, from n to about the square root of n. The smoothed minimum lies above the
unsmoothed one by at most T times a constant: T falls by 4 from level to level. What is reported is
always the bound itself, at temperature 0, and the lowest one seen.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from mam.factors.base import Leaf
from mam.infer.dual import DualDescent, DualState
from mam.infer.passing import Store

# Temperatures below make no difference to a bound that is asked for to 1e-7.
COLDEST = 1e-8
# Of one level to the next.
_FALL = 4.0
# Bounds that could fall by less than this share of the gap are as good as they get.
_WORTH_IT = 1e-4
# That is known only where smoothing lifts the bound by less than this share of the gap.
_FAR = 0.01


class SmoothState(NamedTuple):
    """The last messages, what they bound, and the best bound and assignment so far."""

    dual: DualState
    last: Float[Array, " instances"]  # bound at the messages of the level before


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class SmoothDescent:
    """A solver for ``loop.run``; one step is one temperature."""

    descent: DualDescent
    temperature: Leaf  # of the first level
    levels: Leaf  # for each instance, at most
    looks: int = field(metadata={"static": True}, default=8)  # for an assignment, a level
    passes: int = field(metadata={"static": True}, default=50)  # from look to look

    @property
    def instances(self) -> int:
        """The number of graphs in the batch."""
        return self.descent.instances

    def init(self, dual: DualState) -> SmoothState:
        """Go on from where block descent rests."""
        return SmoothState(dual, jnp.full(self.instances, jnp.inf, dual.bound.dtype))

    def step(
        self, state: SmoothState, active: Bool[Array, " instances"], iteration: Array
    ) -> tuple[SmoothState, Bool[Array, " instances"]]:
        """Descend at one temperature; an instance rests when lower ones promise little."""
        before = state.dual
        temperature = self.temperature / _FALL ** iteration.astype(before.bound.dtype)
        dual, here = self._level(before, active, temperature)
        gap = dual.bound - dual.score
        # The error falls as the temperature does: what is left of it is a third of the last fall.
        limit = here - (state.last - here) / (_FALL - 1)
        finite = jnp.where(jnp.isfinite(gap), gap, 0.0)
        enough = jnp.maximum(_WORTH_IT * finite, self.descent.tolerance)
        promising = (here - dual.bound > _FAR * finite) | (dual.bound - limit > enough)
        still = promising & (gap > self.descent.tolerance) & (iteration + 1 < self.levels)
        return SmoothState(dual, here), still & (temperature > COLDEST)

    def _level(
        self, state: DualState, active: Bool[Array, " instances"], temperature: Array
    ) -> tuple[DualState, Array]:
        """Return the state after all looks at one temperature, and its bound there and then."""

        def look(number: Array, carry: tuple) -> tuple:
            state, before, _ = carry
            first = number * self.passes
            moved, last = self._accelerated(state.messages, before, first, temperature)
            messages = self.descent.only(active, state.messages, moved)
            here = self.descent.bound(messages)
            score, states = self.descent.better(state, messages)
            bound = jnp.minimum(state.bound, here)
            return DualState(messages, bound, score, states, state.stalled), last, here

        start = (state, state.messages, state.bound)
        state, _, here = jax.lax.fori_loop(0, self.looks, look, start)
        return state, here

    def _accelerated(
        self, now: Store, before: Store, first: Array, temperature: Array
    ) -> tuple[Store, Store]:
        def one(i: Array, both: tuple[Store, Store]) -> tuple[Store, Store]:
            now, before = both
            k = (first + i).astype(temperature.dtype)
            share = k / (k + 3.0)
            ahead = jax.tree.map(lambda x, old: x + share * (x - old), now, before)
            return self.descent.variable_pass(ahead, temperature), now

        return jax.lax.fori_loop(0, self.passes, one, (now, before))
