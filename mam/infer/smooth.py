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
from jaxtyping import Array, Bool, Float, Int

from mam.core.pytree import pytree
from mam.factors.base import Leaf
from mam.infer.dual import DualDescent, DualState
from mam.infer.passing import Store

# Temperatures below make no difference to a bound that is asked for to 1e-7.
COLDEST = 1e-8
# Of one level to the next.
_FALL = 4.0
# Bounds that could fall by less than this share of the gap are as good as they get.
_WORTH_IT = 5e-5
# That is known only where smoothing lifts the bound by less than this share of the gap.
_FAR = 0.01


# Passes between two looks, and looks at one temperature at most.
PASSES = 100
_MOST_LOOKS = 16
# A level is done when a look lowers the smoothed bound by less than this share of the smoothing.
_SETTLED = 0.05


class SmoothState(NamedTuple):
    """The last messages with their bounds, and the best bound and assignment so far."""

    dual: DualState
    before: Store  # the messages one pass earlier
    age: Float[Array, " instances"]  # of the momentum, in passes
    smooth: Float[Array, " instances"]  # smoothed bound at the messages
    last: Float[Array, " instances"]  # bound where the level before ended
    settled: Bool[Array, " instances"]  # who waits for the next level
    looks: Int[Array, " instances"]  # in this level
    temperature: Float[Array, ""]


@pytree
@dataclass(frozen=True)
class SmoothDescent:
    """A solver for ``loop.run``; one step is some passes at one temperature.

    All graphs of a batch have the same temperature: those that are done with it wait for the
    others, so none depends on what it is batched with.
    """

    descent: DualDescent
    temperature: Leaf  # of the first level
    passes: int = field(metadata={"static": True}, default=PASSES)

    @property
    def instances(self) -> int:
        """The number of graphs in the batch."""
        return self.descent.instances

    def init(self, dual: DualState) -> SmoothState:
        """Go on from where block descent rests."""
        high = jnp.full(self.instances, jnp.inf, dual.bound.dtype)
        none = jnp.zeros(self.instances, bool)
        looks = jnp.zeros(self.instances, jnp.int32)
        age = jnp.zeros_like(high)
        temperature = jnp.asarray(self.temperature)
        return SmoothState(dual, dual.messages, age, high, high, none, looks, temperature)

    def step(
        self, state: SmoothState, active: Bool[Array, " instances"], iteration: Array
    ) -> tuple[SmoothState, Bool[Array, " instances"]]:
        """Descend; an instance rests when lower temperatures promise little."""
        moving = active & ~state.settled
        temperature, descent = state.temperature, self.descent
        now, before = self._accelerated(state, temperature)
        messages = descent.only(moving, state.dual.messages, now)
        here, smooth = descent.bound(messages), descent.bound(messages, temperature)
        dual = descent.improved(state.dual, messages, here)
        looks = state.looks + 1
        fall = state.smooth - smooth
        settled = state.settled | (fall < _SETTLED * (smooth - here)) | (looks >= _MOST_LOOKS)
        rests = moving & settled & ~self._promising(dual, here, state.last)
        still = ~rests & (dual.bound - dual.score > descent.tolerance)
        done = jnp.all(settled | ~(active & still))
        state = SmoothState(
            dual,
            descent.only(moving, state.before, before),
            jnp.where(done | (fall < 0), 0.0, state.age + self.passes),
            jnp.where(done, jnp.inf, jnp.where(moving, smooth, state.smooth)),
            jnp.where(moving & settled, here, state.last),
            settled & ~done,
            jnp.where(done, 0, looks),
            jnp.where(done, temperature / _FALL, temperature),
        )
        return state, still & ~(done & (temperature < COLDEST))

    def _promising(self, dual: DualState, here: Array, last: Array) -> Array:
        """Whether the next level may lower the bound by enough."""
        gap = jnp.where(jnp.isfinite(dual.score), dual.bound - dual.score, 0.0)
        # The error falls as the temperature does: what is left of it is a third of the last fall.
        limit = here - (last - here) / (_FALL - 1)
        enough = jnp.maximum(_WORTH_IT * gap, self.descent.tolerance)
        return (here - dual.bound > _FAR * gap) | (dual.bound - limit > enough)

    def _accelerated(self, state: SmoothState, temperature: Array) -> tuple[Store, Store]:
        """Return the messages after some passes, and one pass earlier."""

        def one(i: Array, both: tuple[Store, Store]) -> tuple[Store, Store]:
            now, before = both
            age = state.age + i.astype(temperature.dtype)
            ahead = self.descent.extrapolated(now, before, age / (age + 3.0))
            return self.descent.variable_pass(ahead, temperature), now

        return jax.lax.fori_loop(0, self.passes, one, (state.dual.messages, state.before))
