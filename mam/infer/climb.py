r"""Climbing: binary variables flip, alone or two at a time, while that raises the score.

With all other variables decided, what a factor tells a variable is exactly what turning it ON
changes, so one pass of messages values every flip,

.. math:: \Delta_v = \theta_v + \sum_{f \ni v} m_{f \to v}(\text{the states of the others}).

In a swap :math:`u` goes ON and a rival :math:`v` OFF. A rival is the first variable that is ON in a
factor of :math:`u`. What changes beyond :math:`\Delta_u - \Delta_v` is seen in the messages of that
factor with :math:`v` OFF. Moves that are the best at every factor they touch are made together, and
each is checked against the scores of those factors: no move lowers the score.

Infinities count as large numbers, so that climbing also leads out of what is forbidden.
"""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from mam.core.pytree import pytree
from mam.factors.base import Leaf
from mam.factors.numeric_limits import limit
from mam.graph import Wiring
from mam.graph.evidence import as_difference
from mam.infer import evaluate, passing
from mam.infer.loop import run
from mam.infer.neighbours import (
    around_factors,
    around_variables,
    at_factor_edges,
    at_slots,
)
from mam.infer.passing import HostStore, Incoming, Store
from mam.infer.problem import Problem

# A variable may take the place of one of this many others.
_RIVALS = 4
# Sums in double precision are exact to about 1e-8 here; less than this is no rise.
_LEAST = 1e-6
_MOST_STEPS = 10_000
_NOBODY = np.iinfo(np.int32).max
# The message of a variable that is decided, in limits: more than any hard factor can say.
_SURE = 16.0


class Climbing(NamedTuple):
    """The states of all variables, and which graphs make no swaps in the next step."""

    states: Store
    plain: Bool[Array, " instances"]


class _Moves(NamedTuple):
    """The best move of every binary variable: flip, or go ON in the place of another."""

    rise: Float[Array, " variables"]  # of the score; 0 where there is no good move
    instead: Int[Array, " variables"]  # whose place is taken; past the end: nobody's


@pytree
@dataclass(frozen=True)
class Climb:
    """A solver for ``loop.run``, in double precision."""

    wiring: Wiring
    potentials: Leaf
    evidence: Leaf  # differences

    @property
    def instances(self) -> int:
        """The number of graphs in the batch."""
        return self.wiring.instances

    @property
    def kind(self) -> int:
        """The class of binary variables."""
        return self.wiring.states.index(2)

    @property
    def _sure(self) -> float:
        return _SURE * limit(self.evidence[0].dtype)

    def step(self, state: Climbing, active: Array, iteration: Array) -> tuple[Climbing, Array]:
        """Make all moves that are the best around; tell which graphs may have more."""
        home = self.wiring.instance[self.kind]
        plain = state.plain.at[home].get(mode="fill", fill_value=True)
        moves = self._moves(state.states, plain)
        going = active.at[home].get(mode="fill", fill_value=False)
        moves = _Moves(jnp.where(going, moves.rise, 0.0), moves.instead)
        goes, mover = self._winning(moves)
        made = self._real(state.states, moves, goes, mover)
        states = _with(state.states, self.kind, _flipped(state.states[self.kind], made, mover))
        tried, rose = self._by_instance(goes), self._by_instance(made)
        # A swap that was misjudged may stand in the way of a flip.
        return Climbing(states, tried & ~rose), rose | (tried & ~state.plain)

    def _by_instance(self, flags: Array) -> Bool[Array, " instances"]:
        counts = flags.astype(jnp.int32)
        return passing.sum_by_instance(counts, self.wiring.instance[self.kind], self.instances) > 0

    def _certain(self, states: Store) -> Incoming:
        """Messages of variables that are decided."""
        sure = self._sure
        told = tuple(
            jnp.where(mine == 1, sure, -sure)
            if n == 2
            else jnp.where(jnp.arange(n, dtype=mine.dtype) == mine[:, None], 0.0, -sure)
            for mine, n in zip(states, self.wiring.states, strict=True)
        )
        padding = tuple(-sure if n == 2 else 0.0 for n in self.wiring.states)
        return passing.at_edges(self.wiring, told, padding)

    def _moves(self, states: Store, plain: Array) -> _Moves:
        wiring, kind = self.wiring, self.kind
        incoming = self._certain(states)
        told = passing.from_factors(wiring, self.potentials, incoming, 0)
        on = states[kind] == 1
        gain = self.evidence[kind] + around_variables(wiring, told, kind, "sum", 0.0)
        rise = jnp.where(on, -gain, gain)
        owner, more = self._rivals(states, incoming, told)
        owners = at_slots(wiring, owner, kind, _NOBODY)
        mores = at_slots(wiring, more, kind, 0.0)
        pairs = zip(owners, mores, strict=True)
        first, found = 0, []
        for some, extra in pairs:
            mine = slice(first, first := first + some.shape[1])
            found.append(_best_swap(rise, on[mine] | plain[mine], rise[mine], some, extra))
        rise, instead = (jnp.concatenate(values) for values in zip(*found, strict=True))
        good = rise > _LEAST
        return _Moves(jnp.where(good, rise, 0.0), jnp.where(good, instead, _NOBODY))

    def _rivals(self, states: Store, incoming: Incoming, told: Incoming) -> tuple[Incoming, ...]:
        """For each edge the first variable ON in its factor, and how its leaving changes things."""
        owners, more = [], []
        for b, (block, ports) in enumerate(zip(self.wiring.blocks, self.wiring.ports, strict=True)):
            owner = jnp.full(len(self.wiring.factor_instance[b]), _NOBODY, jnp.int32)
            extra = tuple(jnp.zeros(port.index.shape) for port in ports)
            one_row = all(block.home(p) is None for p in range(len(ports)))
            if one_row and any(port.kind == self.kind for port in ports):
                owner, without = self._without_first(b, states, incoming[b])
                after = block.messages(
                    self.potentials[self.wiring.parameters[b]], without, temperature=0
                )
                extra = tuple(
                    passing.normal(new, 2) - old if port.kind == self.kind else zero
                    for port, new, old, zero in zip(ports, after, told[b], extra, strict=True)
                )
            owners.append(owner)
            more.append(extra)
        return at_factor_edges(self.wiring, tuple(owners), _NOBODY), tuple(more)

    def _without_first(
        self, b: int, states: Store, incoming: tuple[Array, ...]
    ) -> tuple[Array, tuple[Array, ...]]:
        """The first variable ON in each factor of a block, and the messages with it OFF."""
        owner = jnp.full(len(self.wiring.factor_instance[b]), _NOBODY, jnp.int32)
        without = []
        for port, message in zip(self.wiring.ports[b], incoming, strict=True):
            if port.kind != self.kind:
                without.append(message)
                continue
            index = jnp.asarray(port.index).reshape(len(port.index), -1)
            on = states[self.kind].at[index].get(mode="fill", fill_value=0) == 1
            place = jnp.argmax(on, 1)[:, None]
            mine = jnp.any(on, 1) & (owner == _NOBODY)
            owner = jnp.where(mine, jnp.take_along_axis(index, place, 1)[:, 0], owner)
            leaving = mine[:, None] & (jnp.arange(index.shape[1]) == place)
            without.append(jnp.where(leaving.reshape(message.shape), -self._sure, message))
        return owner, tuple(without)

    def _winning(self, moves: _Moves) -> tuple[Bool[Array, " variables"], Array]:
        """Which moves are the best at every factor they touch, and whose move each one is in."""
        wiring, kind = self.wiring, self.kind
        number = jnp.arange(len(moves.rise), dtype=jnp.int32)
        # A variable that is ON stands for the best move that would drop it, its own or a swap.
        wanted = jnp.zeros_like(moves.rise).at[moves.instead].max(moves.rise, mode="drop")
        rise = jnp.maximum(moves.rise, wanted)
        asks = moves.rise == wanted.at[moves.instead].get(mode="fill", fill_value=-1.0)
        mover = jnp.full_like(number, _NOBODY)
        mover = mover.at[moves.instead].min(jnp.where(asks, number, _NOBODY), mode="drop")
        # Of equal moves that of the lower number is made, here as at the factors below.
        mover = jnp.where(moves.rise >= wanted, jnp.minimum(mover, number), mover)
        mover = jnp.where(moves.rise > wanted, number, mover)
        rises = self._at_edges(rise, 0.0)
        best = at_factor_edges(wiring, around_factors(wiring, rises, "max", 0.0), 0.0)
        movers = jax.tree.map(
            lambda mine, rise, best: jnp.where(rise == best, mine, _NOBODY),
            self._at_edges(mover, _NOBODY),
            rises,
            best,
        )
        winner = at_factor_edges(wiring, around_factors(wiring, movers, "min", _NOBODY), _NOBODY)
        lowest = around_variables(wiring, winner, kind, "min", _NOBODY)
        highest = around_variables(wiring, winner, kind, "max", -1)
        clear = (jnp.minimum(lowest, mover) == mover) & (jnp.maximum(highest, mover) == mover)
        agreed = (clear & (mover != number)).at[moves.instead].get(mode="fill", fill_value=False)
        agreed &= mover.at[moves.instead].get(mode="fill", fill_value=_NOBODY) == number
        own = (mover == number) & (rise > 0) & clear
        return own & ((moves.instead == _NOBODY) | agreed), mover

    def _at_edges(self, values: Array, empty: float | int) -> Incoming:
        """Values of binary variables at every edge; ``empty`` for other variables."""
        every = tuple(
            values if n == 2 else jnp.full(self.wiring.class_size(kind), empty, values.dtype)
            for kind, n in enumerate(self.wiring.states)
        )
        return passing.at_edges(self.wiring, every, (empty,) * len(every))

    def _real(self, states: Store, moves: _Moves, goes: Array, mover: Array) -> Array:
        """Those moves that do raise the score; each touches factors that no other one does."""
        wiring, kind = self.wiring, self.kind
        after = _flipped(states[kind], goes, mover)
        flips = after != states[kind]
        floor = -limit(self.evidence[0].dtype)
        before, now = (
            evaluate.scores_by_factor(wiring, self.potentials, some)
            for some in (states, _with(states, kind, after))
        )
        touched = around_factors(wiring, self._at_edges(flips.astype(float), 0.0), "sum", 0.0)
        shares = tuple(
            (jnp.maximum(b, floor) - jnp.maximum(a, floor)) / jnp.maximum(count, 1)
            for a, b, count in zip(before, now, touched, strict=True)
        )
        edges = at_factor_edges(wiring, shares, 0.0)
        worth = around_variables(wiring, edges, kind, "sum", 0.0)
        worth += jnp.where(after == 1, 1, -1) * self.evidence[kind]
        worth = jnp.where(flips, worth, 0.0)
        other = worth.at[moves.instead].get(mode="fill", fill_value=0.0)
        return goes & (worth + other > _LEAST)


def _with(states: Store, kind: int, new: Array) -> Store:
    return tuple(new if i == kind else mine for i, mine in enumerate(states))


def _flipped(states: Array, made: Array, mover: Array) -> Array:
    """The states after some moves: who moves flips, and so does whose place is taken."""
    number = jnp.arange(len(states), dtype=jnp.int32)
    leaves = made.at[mover].get(mode="fill", fill_value=False) & (mover != number)
    return jnp.where(made | leaves, 1 - states, states)


def _best_swap(
    rise: Array, settled: Array, own: Array, owners: Array, more: Array
) -> tuple[Array, Array]:
    """Value the places that variables may take, one rival after another; best with plain flips."""
    instead = jnp.full(len(own), _NOBODY, jnp.int32)
    best, rival = own, jnp.full(len(own), -1, jnp.int32)
    for _ in range(_RIVALS):
        rival = jnp.min(jnp.where(owners > rival, owners, _NOBODY), 0, initial=_NOBODY)
        shared = jnp.sum(jnp.where(owners == rival, more, 0.0), 0)
        swap = own + shared + rise.at[rival].get(mode="fill", fill_value=-jnp.inf)
        good = (swap > jnp.maximum(best, _LEAST)) & ~settled
        best, instead = jnp.where(good, swap, best), jnp.where(good, rival, instead)
    return best, instead


@jax.jit
def _climb(wiring: Wiring, potentials: Store, evidence: Store, states: Store) -> Store:
    def one(states: Store) -> Store:
        solver = Climb(wiring, potentials, evidence)
        start = Climbing(states, jnp.zeros(wiring.instances, bool))
        return run(solver, start, _MOST_STEPS)[0].states

    return jax.vmap(one)(states)


def climb(problem: Problem, states: HostStore) -> HostStore:
    """Return the states after climbing, restart by restart; those of graphs at a top stay."""
    if 2 not in problem.compiled.wiring.states:
        return states
    evidence = tuple(as_difference(scores, np.float64) for scores in problem.scores)
    with jax.enable_x64(True):
        found = _climb(problem.compiled.wiring, problem.compiled.potentials, evidence, states)
        return tuple(np.asarray(mine) for mine in found)
