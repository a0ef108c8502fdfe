"""The compiled wiring: padded index lists in both directions, nothing but gathers.

Variables are sorted into classes by their number of states, and inside a class by the bucket of
their degree. The messages of a class live in one flat store, port after port; ``slots`` lists for
each variable where its messages stand, ``index`` for each edge which variable it leads to. An index
past the end is padding and reads a neutral value.

A variable with two factors (every attention variable) needs no sum: what it tells one factor is its
evidence plus what the other factor said. ``partner`` is where that stands: one gather instead of
two, and no belief to write.

Code that has its candidates on a device already can wire them there, without a ``FactorGraph``, and
call the solvers (an example is ``mam.vision.elastic.placed_graphs``). What it builds must keep what
a wiring promises:

1. There is one tuple of ports for each block, and one entry of ``factor_instance``.
2. The ports of a class lie one after another in its store, without gaps, from ``start`` on.
3. ``index`` names a variable of the class; the number of its variables is padding.
4. ``slots`` lists every message that is not padding exactly once, with the variable that ``index``
   names; the size of the store is padding.
5. ``partner``, where it is given, is the only other message of the variable, or the size of the
   store if there is none.
6. Rows are sorted by ``instance``, padding (past the last one) at the end, and ``bounds`` says
   where each instance begins.

A row whose variables are all padding may belong to any instance: it says nothing.

Such a wiring is solved by ``mam.infer.wired.sweep_wired``, a function to be compiled in, together
with ``Stages`` that say which row of each instance sends when (``mam.infer.stages``).
"""

from dataclasses import dataclass, field

from mam.core.pytree import pytree
from mam.factors import Block
from mam.factors.base import Leaf


@pytree
@dataclass(frozen=True)
class PortWiring:
    """The edges of one port of one block."""

    index: Leaf  # (rows,) or (rows, width): the variable, counted inside its class
    edge: Leaf  # (rows,): number of the row's first edge inside its own graph, for noise
    arity: Leaf  # (rows,): number of edges of the row's factor
    instance: Leaf  # (rows,): which graph of the batch the row belongs to
    partner: Leaf  # like index: where the variable's only other message stands; None if it has more
    bounds: Leaf  # (instances_plus_one,): rows are sorted by instance: where each begins
    kind: int = field(metadata={"static": True})  # position of the class in Wiring.states
    start: int = field(metadata={"static": True})  # where the port's messages stand in the store

    @property
    def size(self) -> int:
        """The number of messages, padding included."""
        return self.index.size


@pytree
@dataclass(frozen=True)
class Wiring:
    """Everything about a batch of graphs but potentials and evidence."""

    blocks: tuple[Block, ...]
    ports: tuple[tuple[PortWiring, ...], ...]  # for each block
    slots: tuple[tuple[Leaf, ...], ...]  # for each class and bucket of degrees: (width, variables)
    variable: tuple[Leaf, ...]  # for each class: number of the variable inside its own graph
    instance: tuple[Leaf, ...]  # for each class: which graph each variable belongs to
    factor_instance: tuple[Leaf, ...]  # for each block: which graph each factor belongs to
    parameters: tuple[int, ...] = field(metadata={"static": True})  # each block's potentials
    states: tuple[int, ...] = field(metadata={"static": True})  # of each class
    store_sizes: tuple[int, ...] = field(metadata={"static": True})
    instances: int = field(metadata={"static": True})

    def class_size(self, kind: int) -> int:
        """The number of variables of a class, padding included."""
        return sum(bucket.shape[1] for bucket in self.slots[kind])
