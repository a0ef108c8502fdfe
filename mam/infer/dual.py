r"""The convergent dual solver: block-coordinate descent on an upper bound.

Messages :math:`\lambda_{f v}` move score from factors to variables. For any of them

.. math::
    \sum_v \max_x \Big(e_v + \sum_f \lambda_{f v}\Big)
    + \sum_f \max_c \Big(\theta_f(c) - \sum_v \lambda_{f v}(c_v)\Big)

bounds the score of every assignment from above. Each iteration makes two passes, both over all
factors at once, and neither can raise the bound:

- *factor pass* (MPLP for all factors at once): by convexity a variable of degree d can be split
  into d copies, each with the share b / d of its belief. Each factor is then solved exactly with
  its copies, and hands each of its k variables 1 / k of its max-marginals;
- *variable pass* (stars for all variables at once): a factor of arity k is split into k copies in
  the same way, and each variable spreads its belief plus the max-marginals it sees evenly.

The first is fast where variables have few factors (attention variables have two), the second where
factors have few variables (pairwise models). There is no damping and nothing to tune.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from mam.core.pytree import pytree
from mam.factors.base import Leaf, Temperature
from mam.graph import PortWiring, Wiring
from mam.infer import passing
from mam.infer.evaluate import dual_bound, negated, total_score
from mam.infer.passing import Incoming, Store

# A bound may stand still for some passes while the messages under it go on moving.
_PATIENCE = 20
# A look that closes less of the gap than this is one of those: ``smooth`` goes on better from here.
_SLOW = 0.01


class DualState(NamedTuple):
    """Messages with their bound, and the best assignment that their beliefs gave so far."""

    messages: Store
    bound: Float[Array, " instances"]
    score: Float[Array, " instances"]
    states: Store
    stalled: Int[Array, " instances"]  # looks since the bound last fell


@pytree
@dataclass(frozen=True)
class DualDescent:
    """A solver for ``loop.run``; one step is several passes and one look at bound and score."""

    wiring: Wiring
    potentials: Leaf
    evidence: Leaf  # differences, for the passes
    scores: Leaf  # scores per state, for bound and score
    tolerance: Leaf
    passes: int = field(metadata={"static": True}, default=10)

    @property
    def instances(self) -> int:
        """The number of graphs in the batch."""
        return self.wiring.instances

    def init(self, messages: Store, states: Store) -> DualState:
        """Start from given messages and an assignment."""
        stalled = jnp.zeros(self.instances, jnp.int32)
        return DualState(messages, self.bound(messages), self._score(states), states, stalled)

    def step(
        self, state: DualState, active: Bool[Array, " instances"], iteration: Array
    ) -> tuple[DualState, Bool[Array, " instances"]]:
        """Make the passes; an instance rests when its bound stands still or meets its score."""

        def both(_: Array, store: Store) -> Store:
            return self.variable_pass(self._factor_pass(store), 0)

        moved = jax.lax.fori_loop(0, self.passes, both, state.messages)
        messages = self.only(active, state.messages, moved)
        new = self.improved(state, messages, self.bound(messages))
        still = (new.stalled < _PATIENCE) & (new.bound - new.score > self.tolerance)
        return new, still

    def improved(self, state: DualState, messages: Store, bound: Array) -> DualState:
        """Return the state at new messages; bound and assignment are the better of both."""
        states = passing.best_states(passing.beliefs(self.wiring, self.evidence, messages))
        score = self._score(states)
        better = score > state.score
        kept = tuple(
            jnp.where(better.at[instance].get(mode="fill", fill_value=False), new, old)
            for instance, new, old in zip(self.wiring.instance, states, state.states, strict=True)
        )
        best, lowest = jnp.maximum(score, state.score), jnp.minimum(bound, state.bound)
        gap = jnp.where(jnp.isfinite(best), lowest - best, 0.0)
        fast = state.bound - lowest > jnp.maximum(self.tolerance, _SLOW * gap)
        return DualState(messages, lowest, best, kept, jnp.where(fast, 0, state.stalled + 1))

    def _factor_pass(self, messages: Store) -> Store:
        wiring = self.wiring
        beliefs = passing.beliefs(wiring, self.evidence, messages)
        share = tuple(
            belief / passing.per_row(jnp.maximum(degree, 1).astype(belief.dtype), belief)
            for belief, degree in zip(beliefs, passing.degrees(wiring), strict=True)
        )
        incoming = passing.to_factors(wiring, share, messages)
        outgoing = passing.from_factors(wiring, self.potentials, incoming, 0)

        def split(port: PortWiring, there: Array, back: Array) -> Array:
            part = passing.per_row(1 / port.arity.astype(there.dtype), there)
            return passing.normal(back * part - there * (1 - part), wiring.states[port.kind])

        return self._store(passing.map_ports(wiring, split, incoming, outgoing))

    def variable_pass(self, messages: Store, temperature: Temperature) -> Store:
        """Minimise over the messages of all variables; at a temperature, the smoothed bound."""
        wiring = self.wiring
        incoming = negated(wiring, messages)
        outgoing = passing.from_factors(wiring, self.potentials, incoming, temperature)

        def offer(port: PortWiring, there: Array, back: Array) -> Array:
            part = passing.per_row(1 / port.arity.astype(there.dtype), there)
            return -there + (there + back) * part

        offered = passing.map_ports(wiring, offer, incoming, outgoing)
        total = passing.beliefs(wiring, self.evidence, self._store(offered))
        weight = self._weights()
        spread = passing.at_edges(
            wiring,
            tuple(t / passing.per_row(1 + w, t) for t, w in zip(total, weight, strict=True)),
            (0.0,) * len(wiring.states),
        )

        def take(port: PortWiring, offered: Array, spread: Array) -> Array:
            part = passing.per_row(1 / port.arity.astype(offered.dtype), offered)
            return passing.normal(offered - part * spread, wiring.states[port.kind])

        return self._store(passing.map_ports(wiring, take, offered, spread))

    def _weights(self) -> tuple[Array, ...]:
        """Return for each variable the sum of 1 / arity over its factors."""
        dtype = self.evidence[0].dtype
        flat: list[list[Array]] = [[jnp.zeros(0, dtype)] for _ in self.wiring.states]
        for ports in self.wiring.ports:
            for port in ports:
                part = passing.per_row(1 / port.arity.astype(dtype), port.index)
                flat[port.kind].append(jnp.broadcast_to(part, port.index.shape).ravel())
        return passing.beliefs(
            self.wiring,
            tuple(jnp.zeros(len(e), dtype) for e in self.evidence),
            tuple(jnp.concatenate(some) for some in flat),
        )

    def extrapolated(self, now: Store, before: Store, share: Float[Array, " instances"]) -> Store:
        """Return messages that go on as they went, by a share of the last way for each graph."""

        def ahead(port: PortWiring, now: Array, before: Array) -> Array:
            own = share.at[port.instance].get(mode="fill", fill_value=0.0)
            return now + passing.per_row(own, now) * (now - before)

        ports = passing.at_ports
        found = passing.map_ports(
            self.wiring, ahead, ports(self.wiring, now), ports(self.wiring, before)
        )
        return self._store(found)

    def only(self, active: Array, old: Store, new: Store) -> Store:
        """Keep the messages of instances at rest."""

        def choose(port: PortWiring, old: Array, new: Array) -> Array:
            going = active.at[port.instance].get(mode="fill", fill_value=False)
            return jnp.where(passing.per_row(going, old), new, old)

        ports = passing.at_ports
        chosen = passing.map_ports(
            self.wiring, choose, ports(self.wiring, old), ports(self.wiring, new)
        )
        return self._store(chosen)

    def _store(self, ports: Incoming) -> Store:
        return passing.to_store(self.wiring, ports, self.evidence[0].dtype)

    def bound(self, messages: Store, temperature: Temperature = 0) -> Array:
        """Return the (smoothed) bound of each graph at given messages."""
        return dual_bound(self.wiring, self.potentials, self.scores, messages, temperature)

    def _score(self, states: Store) -> Array:
        return total_score(self.wiring, self.potentials, self.scores, states)[0]
