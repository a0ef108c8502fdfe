"""Bags of Dask as shards: a partition each, computed by the worker that answers it."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard

from mam.scale.job import Item
from mam.scale.shards import Shard

if TYPE_CHECKING:
    from dask.bag import Bag


def is_bag(sources: Any) -> "TypeGuard[Bag]":
    """Whether this is a bag, told without Dask, which may not be there."""
    return hasattr(sources, "__dask_graph__") and hasattr(sources, "npartitions")


@dataclass(frozen=True)
class Partition:
    """A partition of a bag: what computes it, as Dask itself would send it."""

    key: tuple[str, int]
    graph: bytes

    def __len__(self) -> int:
        return 0  # known only when it is computed

    def items(self, home: str) -> Iterator[Item]:
        """Its elements; the path of a picture has that name, another its number."""
        import pickle

        from dask.local import get_sync

        for number, value in enumerate(get_sync(pickle.loads(self.graph), self.key)):
            if isinstance(value, str | Path):
                yield Item(str(value), Path(os.path.join(home, value)))
            else:
                yield Item(f"partition-{self.key[1]:05d}#{number}", value)

    def about(self, home: str) -> str:
        """Dask's name for it, which is made of what it is computed from."""
        return repr(self.key)


def plan_bag(bag: "Bag") -> list[Shard]:
    """A shard for each partition.

    Dask names a bag by what it is made of, so the same bag is known again; files that its elements
    name are not looked at.
    """
    from distributed.protocol.pickle import dumps

    graph, home, shards = bag.__dask_graph__(), os.getcwd(), []
    for number in range(bag.npartitions):
        key = (bag.name, number)
        own = dict(bag.__dask_optimize__(graph, [key]))
        shards.append(Shard(number, (Partition(key, dumps(own)),), home, counted=False))
    return shards
