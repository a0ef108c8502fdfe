"""The compiled wiring: padded index lists in both directions, nothing but gathers.

``contract.py`` says what a wiring promises to the solvers, and checks it.

Variables are sorted into classes by their number of states, and inside a class by the bucket of
their degree. The messages of a class live in one flat store, port after port; ``slots`` lists for
each variable where its messages stand, ``index`` for each edge which variable it leads to. An index
past the end is padding and reads a neutral value.

A variable with two factors (every attention variable) needs no sum: what it tells one factor is its
evidence plus what the other factor said. ``partner`` is where that stands: one gather instead of
two, and no belief to write.
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
