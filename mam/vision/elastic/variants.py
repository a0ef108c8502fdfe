"""More graphs from the same ones: each also turned, scaled and sheared a little.

An elastic graph follows its object through about a seventh of every distance. Two thousand letters
do not fill the space of poses that densely; their variants do, and need no place in the file. The
fewer graphs there are, the more variants each of them gets.
"""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int

from mam.vision.elastic.bank import Bank
from mam.vision.elastic.springs import balanced_radii, wished_radii

_SPARSE = 12_000  # graphs, variants counted in, below which each has more of them
_FULL = 80_000  # graphs beyond which there are no more variants: they are dense without


@dataclass(frozen=True)
class VariantConfig:
    """How variants are drawn: normal, cut at two sigma."""

    count: int = 17  # variants of each graph, beside itself
    most: int = 120  # of each graph of a small bank
    scale: float = 0.25  # sigma of the power of 2 by which height and width grow
    rotation: float = 12.0  # sigma, degrees
    shear: float = 0.1  # sigma
    largest: int = 235  # px, extent above which a variant is left out
    seed: int = 0

    def for_bank(self, graphs: int) -> "VariantConfig":
        """The same with more variants of few graphs, and fewer of many.

        >>> [VariantConfig().for_bank(graphs).count for graphs in (20, 200, 2000, 20_000, 90_000)]
        [120, 59, 17, 3, 0]
        """
        if self.count == 0:
            return self
        wanted = max(self.count, min(_SPARSE // graphs - 1, self.most))
        return replace(self, count=max(min(wanted, _FULL // graphs - 1), 0))


def with_variants(bank: Bank, config: VariantConfig) -> tuple[Bank, Int[np.ndarray, " graphs"]]:
    """Return the graphs of a bank, then their variants; and which graph each of them comes from.

    >>> from mam.vision.elastic.springs import Edges
    >>> line = Edges(np.array([[0, 1]]), np.array([1]))
    >>> bank = Bank.of([np.array([[0, 0], [0, 9]])], [line], np.ones((3, 3), bool), [7])
    >>> more, source = with_variants(bank, VariantConfig(count=3))
    >>> more.category.tolist(), source.tolist()
    ([7, 7, 7, 7], [0, 0, 0, 0])
    """
    if config.count == 0:
        return bank, np.arange(len(bank))
    moved = [_moved(bank, copy, config) for copy in range(config.count)]
    vertices = np.concatenate([bank.vertices, *(places for places, _ in moved)])
    radius = np.concatenate([bank.radius, *(radii for _, radii in moved)])
    kept = np.flatnonzero(vertices.max((1, 2)) <= config.largest)
    kept = np.union1d(np.arange(len(bank)), kept)
    source = kept % len(bank)
    more = replace(
        bank,
        vertices=vertices[kept],
        radius=radius[kept],
        vertex_count=bank.vertex_count[source],
        ends=bank.ends[source],
        edge_count=bank.edge_count[source],
        category=bank.category[source],
        type=None if bank.type is None else bank.type[source],
    )
    return more, source


def _moved(bank: Bank, copy: int, config: VariantConfig) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and radii of one variant of every graph."""
    there = np.arange(bank.vertices.shape[1]) < bank.vertex_count[:, None]
    maps = _affine(len(bank), np.random.default_rng([config.seed, copy]), config)
    places = bank.vertices.astype(np.float64) @ maps.transpose(0, 2, 1)
    corner = np.where(there[..., None], places, np.inf).min(1, keepdims=True)
    places = np.where(there[..., None], np.rint(places - corner), 0)
    real = np.arange(bank.ends.shape[1]) < bank.edge_count[:, None]
    radius = balanced_radii(wished_radii(places, bank.ends), real)
    return places.astype(np.int16), radius.astype(np.uint8)


def _affine(
    count: int, rng: np.random.Generator, config: VariantConfig
) -> Float[np.ndarray, "count 2 2"]:
    def draw(sigma: float, *shape: int) -> np.ndarray:
        return np.clip(rng.normal(size=(count, *shape)), -2, 2) * sigma

    scale = 2.0 ** draw(config.scale, 2)
    angle = np.radians(draw(config.rotation))
    shear = np.broadcast_to(np.eye(2), (count, 2, 2)).copy()
    shear[:, 0, 1] = draw(config.shear)
    cos, sin = np.cos(angle), np.sin(angle)
    turn = np.stack([np.stack([cos, -sin], -1), np.stack([sin, cos], -1)], -2)
    return turn @ shear * scale[:, None, :]
