"""Sweeps of messages along an order: one factor of every graph at a time, forth and back."""

from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool

from mam.core.pytree import pytree
from mam.factors.base import Leaf, Temperature
from mam.factors.numeric_limits import limit
from mam.factors.reduce import first_best
from mam.graph import Wiring
from mam.infer import passing
from mam.infer.passing import Store
from mam.infer.stages import Pass, Stages

SweepState = tuple[Store, Store]  # messages, and the beliefs that they give


class _Sent(NamedTuple):
    """The edges of one port over which something is sent at a stage."""

    variable: Array  # counted inside its class; past the last: padding
    place: Array  # of the message in the store, likewise
    instance: Array  # of each row


@pytree
@dataclass(frozen=True)
class Sweeps:
    """A solver for ``loop.run``; its state is the messages with the beliefs that they give.

    A stage evaluates one factor of each graph, reads what its variables tell it off their beliefs,
    and adds what it tells them. ``fresh`` sums the beliefs anew before each iteration: next to the
    stand-in for infinity such additions lose digits. Finite messages need it not.
    """

    wiring: Wiring
    potentials: Leaf
    evidence: Leaf
    stages: Stages
    damping: Leaf  # the Python number 0 is compiled in
    tolerance: Leaf
    temperature: Temperature = field(metadata={"static": True}, default=0)
    fresh: bool = field(metadata={"static": True}, default=True)

    @property
    def instances(self) -> int:
        """The number of graphs in the batch."""
        return self.wiring.instances

    def init(self, messages: Store) -> SweepState:
        """Return the state that given messages make."""
        return messages, passing.beliefs(self.wiring, self.evidence, messages)

    def quiet(self) -> SweepState:
        """Return messages that say nothing, and the evidence."""
        sizes = zip(self.wiring.store_sizes, self.evidence, strict=True)
        return tuple(jnp.zeros((n, *e.shape[1:]), e.dtype) for n, e in sizes), self.evidence

    def step(
        self, state: SweepState, active: Bool[Array, " instances"], iteration: Array
    ) -> tuple[SweepState, Bool[Array, " instances"]]:
        """Sweep forth and back; tell which instances still move."""
        after = self.there_and_back(state, active)
        return after, passing.moving(self.wiring, state[0], after[0], self.tolerance)

    def there_and_back(self, state: SweepState, active: Bool[Array, " instances"]) -> SweepState:
        """Sweep forth and back."""
        state = self._renewed(state)
        for way in self.stages.iteration:
            state = self._swept(state, way, active)
        return state

    def finish(self, state: SweepState, decide: bool) -> SweepState:
        """Sweep forth a last time; ``decide``: a variable takes its best state before it sends."""
        everyone = jnp.ones(self.instances, bool)
        way = self.stages.deciding if decide else self.stages.last
        return self._swept(self._renewed(state), way, everyone, decide)

    def _renewed(self, state: SweepState) -> SweepState:
        return self.init(state[0]) if self.fresh else state

    def _swept(
        self, state: SweepState, way: Pass, active: Array, decide: bool = False
    ) -> SweepState:
        def stage(at: Array, state: SweepState) -> SweepState:
            for block in range(len(self.wiring.blocks)):
                state = self._sent(state, block, way, at, active, decide)
            return state

        return jax.lax.fori_loop(0, way.count, stage, state)

    def _sent(
        self, state: SweepState, b: int, way: Pass, at: Array, active: Array, decide: bool
    ) -> SweepState:
        """Let one factor of each instance send, if it has one in this block now."""
        wiring = self.wiring
        rows = jnp.asarray(way.row[b])[at]
        nobody = len(wiring.factor_instance[b])
        some = jnp.any(rows < nobody)
        if self.instances > 1:
            rows = jnp.where(active, rows, nobody)
        block, own = wiring.blocks[b].take(rows)
        edges = [self._edges(b, p, which) for p, which in enumerate(own)]
        targets = [self._targets(b, p, sent, way, at) for p, sent in enumerate(edges)]
        told = tuple(
            self._from_variables(
                state, b, p, sent, self._decided(b, p, sent, way, at) if decide else False
            )
            for p, sent in enumerate(edges)
        )
        potentials = self.potentials[wiring.parameters[b]]
        send = partial(block.messages, potentials, temperature=self.temperature)
        if len(wiring.blocks) == 1:
            new = send(told)
        else:  # most blocks have nothing to send at most stages
            new = jax.lax.cond(some, send, lambda told: told, told)
        messages, beliefs = (list(part) for part in state)
        for p, port in enumerate(wiring.ports[b]):
            if way.sends[b][p] is not False:
                sent, kind = self._only(b, p, edges[p], targets[p]), port.kind
                fresh = _clipped(new[p], wiring.states[kind])
                old = _read(messages[kind], sent.place)
                if not (isinstance(self.damping, int) and self.damping == 0):
                    fresh = self.damping * old + (1 - self.damping) * fresh
                # What is written depends on what is read: otherwise XLA copies the whole store.
                there = sent.place < wiring.store_sizes[kind]
                fresh = jnp.where(there.reshape(*there.shape, *_ones(old, there)), fresh, old)
                beliefs[kind] = beliefs[kind].at[sent.variable].add(fresh - old, mode="drop")
                messages[kind] = messages[kind].at[sent.place].set(fresh, mode="drop")
        return tuple(messages), tuple(beliefs)

    def _edges(self, b: int, p: int, rows: Array) -> _Sent:
        port = self.wiring.ports[b][p]
        index = jnp.asarray(port.index)
        size, store = self.wiring.class_size(port.kind), self.wiring.store_sizes[port.kind]
        variable = index.at[rows].get(mode="fill", fill_value=size)
        width = index.shape[1] if index.ndim == 2 else 1
        place = port.start + rows * width
        if index.ndim == 2:
            place = place[:, None] + jnp.arange(width, dtype=rows.dtype)
        place = jnp.where(variable < size, place, store)
        each = len(rows) // self.instances
        return _Sent(variable, place, jnp.repeat(jnp.arange(self.instances), each))

    def _targets(self, b: int, p: int, sent: _Sent, way: Pass, at: Array) -> Array | None:
        """Which edges something is sent over; None: over all."""
        if way.sends[b][p] is not None:
            return None
        rank = self._rank(b, p, sent)
        return (rank > self._limit(way.after[b], at, sent)) & (
            rank <= self._limit(way.upto[b], at, sent)
        )

    def _decided(self, b: int, p: int, sent: _Sent, way: Pass, at: Array) -> Array | bool:
        """Which variables have taken their state."""
        if way.sends[b][p] is not None:  # pairs that are oriented alike
            return not way.sends[b][p]
        return self._rank(b, p, sent) <= self._limit(way.after[b], at, sent)

    def _rank(self, b: int, p: int, sent: _Sent) -> Array:
        return _read(jnp.asarray(self.stages.rank[self.wiring.ports[b][p].kind]), sent.variable)

    def _limit(self, table: Array, at: Array, sent: _Sent) -> Array:
        own = jnp.asarray(table)[at][sent.instance]
        return own[:, None] if sent.variable.ndim == 2 else own

    def _only(self, b: int, p: int, sent: _Sent, targets: Array | None) -> _Sent:
        if targets is None:
            return sent
        kind = self.wiring.ports[b][p].kind
        size, store = self.wiring.class_size(kind), self.wiring.store_sizes[kind]
        variable = jnp.where(targets, sent.variable, size)
        return sent._replace(variable=variable, place=jnp.where(targets, sent.place, store))

    def _from_variables(
        self, state: SweepState, b: int, p: int, sent: _Sent, decided: Array | bool
    ) -> Array:
        """What the variables of a port tell: their belief without what they were told here."""
        kind = self.wiring.ports[b][p].kind
        messages, beliefs = state[0][kind], state[1][kind]
        belief = _read(beliefs, sent.variable)
        if decided is True:
            return self._absent(kind, sent, _demanded(belief, self.wiring.states[kind]))
        told = belief - _read(messages, sent.place)
        if decided is not False:
            chosen = _demanded(belief, self.wiring.states[kind])
            told = jnp.where(decided.reshape(*decided.shape, *_ones(told, decided)), chosen, told)
        if self.wiring.states[kind] == 2:
            told = _clipped(told, 2)
        return self._absent(kind, sent, told)

    def _absent(self, kind: int, sent: _Sent, told: Array) -> Array:
        """Padded binary variables are OFF for sure; of others nothing is read."""
        if self.wiring.states[kind] != 2:
            return told
        floor = passing.neutral(self.wiring, told.dtype)[kind]
        return jnp.where(sent.variable < self.wiring.class_size(kind), told, floor)


def _read(values: Array, index: Array) -> Array:
    """Gather rows; what stands past the end is not used."""
    return values.at[index].get(mode="clip")


def _ones(values: Array, like: Array) -> list[int]:
    return [1] * (values.ndim - like.ndim)


def _clipped(message: Array, states: int) -> Array:
    """Keep a message, with maximum 0 if it is a vector, inside the limits."""
    big = limit(message.dtype)
    return jnp.clip(message, -big, big) if states == 2 else jnp.maximum(message, -big)


def _demanded(belief: Array, states: int) -> Array:
    """The message of a variable that has taken its best state."""
    big = jnp.asarray(limit(belief.dtype), belief.dtype)
    if states == 2:
        return jnp.where(belief > 0, big, -big)
    return jnp.where(first_best(belief), 0 * big, -big)
