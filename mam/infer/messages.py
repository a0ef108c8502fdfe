"""Damped belief propagation: max-product at temperature 0, sum-product at 1."""

from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int

from mam.core.pytree import pytree
from mam.factors.base import Leaf, Temperature
from mam.graph import PortWiring, Wiring
from mam.infer import passing
from mam.infer.passing import Incoming, Store

# From this many messages on, a copy of them costs more than compiling an iteration again.
_LARGE = 1 << 20


@pytree
@dataclass(frozen=True)
class BeliefPropagation:
    """A solver for ``loop.run``; its state is the store of messages from factors to variables.

    ``blocks`` = 1 updates all factors at once; otherwise each iteration deals the factors at
    random into that many blocks and updates them one block after another, since flooding can
    oscillate where one-after-another settles. Looking whether anything moves costs as much as a
    good part of an iteration, so a step of the loop makes ``stride`` of them between looks.
    """

    wiring: Wiring
    potentials: Leaf
    evidence: Leaf
    known: Leaf  # the evidence at every edge
    key: Leaf
    damping: Leaf
    tolerance: Leaf
    temperature: Temperature = field(metadata={"static": True}, default=0)
    blocks: int = field(metadata={"static": True}, default=1)
    stride: int = field(metadata={"static": True}, default=1)

    @classmethod
    def of(
        cls,
        wiring: Wiring,
        potentials: Store,
        evidence: Store,
        key: Array,
        damping: Array,
        tolerance: Array,
        **static: Any,
    ) -> "BeliefPropagation":
        """Prepare what does not change during a run."""
        floor = passing.neutral(wiring, evidence[0].dtype)
        known = passing.at_edges(wiring, evidence, floor)
        return cls(wiring, potentials, evidence, known, key, damping, tolerance, **static)

    @property
    def instances(self) -> int:
        """The number of graphs in the batch."""
        return self.wiring.instances

    def init(self, noise: Array) -> Store:
        """Return small random messages, logistic with the given scale."""
        return passing.first_messages(self.wiring, self.key, noise, self.evidence[0].dtype)

    def beliefs(self, messages: Store) -> Store:
        """Return evidence plus messages for every variable."""
        return passing.beliefs(self.wiring, self.evidence, messages)

    def step(
        self, state: Store, active: Bool[Array, " instances"], iteration: Int[Array, ""]
    ) -> tuple[Store, Bool[Array, " instances"]]:
        """Make ``stride`` iterations; the last one tells whether an instance still moves."""

        def before(i: Array, store: Store) -> Store:
            return self._iterate(store, active, iteration * self.stride + i)

        messages, last = state, self.stride - 1
        # Unrolled, the loop need not copy its messages from one iteration to the next.
        large = sum(self.wiring.store_sizes) > _LARGE
        if last:
            messages = jax.lax.fori_loop(0, last, before, messages, unroll=last if large else 1)
        updated = self._iterate(messages, active, iteration * self.stride + last)
        return updated, passing.moving(self.wiring, messages, updated, self.tolerance)

    def _iterate(self, messages: Store, active: Array, iteration: Array) -> Store:
        """Update every factor of the active instances once."""
        if self.blocks == 1:
            return self._update(messages, active, None)
        block_of = self._deal(iteration)

        def one_block(block: Array, store: Store) -> Store:
            mine = tuple(tuple(b == block for b in blocks) for blocks in block_of)
            return self._update(store, active, mine)

        return jax.lax.fori_loop(0, self.blocks, one_block, messages)

    def _update(self, messages: Store, active: Array, mine: Incoming | None) -> Store:
        incoming = passing.from_variables(self.wiring, self.evidence, self.known, messages)
        new = passing.from_factors(self.wiring, self.potentials, incoming, self.temperature)
        old = passing.at_ports(self.wiring, messages)
        chosen = mine if mine is not None else old

        def mix(port: PortWiring, old: Array, new: Array, mine_or_old: Array) -> Array:
            mixed = self.damping * old + (1 - self.damping) * new
            change = None if mine is None else mine_or_old
            if self.instances > 1:
                going = active.at[port.instance].get(mode="fill", fill_value=False)
                change = going if change is None else change & going
            return mixed if change is None else jnp.where(passing.per_row(change, old), mixed, old)

        mixed = passing.map_ports(self.wiring, mix, old, new, chosen)
        return passing.to_store(self.wiring, mixed, self.evidence[0].dtype)

    def _deal(self, iteration: Array) -> Incoming:
        """Deal the rows of every port into blocks, by a draw that padding cannot change."""
        key = jax.random.fold_in(jax.random.fold_in(self.key, 1), iteration)
        rows = [port.edge for ports in self.wiring.ports for port in ports]
        bits = jax.vmap(lambda edge: jax.random.bits(jax.random.fold_in(key, edge)))(
            jnp.concatenate(rows)
        )
        block = (bits % self.blocks).astype(jnp.int32)
        ends = np.cumsum([len(edge) for edge in rows])
        pieces = iter(jnp.split(block, ends[:-1]))
        return passing.map_ports(self.wiring, lambda port: next(pieces))
