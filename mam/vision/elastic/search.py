"""What every search for elastic graphs does: sizes, places, matching, refitting, certificates."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from mam.core.either import Values, either, namespace
from mam.factors import Window
from mam.graph import FactorGraph, GraphBuilder
from mam.infer import Options
from mam.infer.certificate import Certificate, certify_states
from mam.infer.wired import Flooding
from mam.vision.elastic.bank import Bank, GraphShapes
from mam.vision.elastic.match import Matched, match, window_scores
from mam.vision.elastic.placed_graphs import PlacedGraphs, place_graphs
from mam.vision.elastic.springs import wished_radii
from mam.vision.elastic.variants import VariantConfig

# Messages along the walk, then the dual; on letters it comes within a hundredth of the score.
_DUAL = Options(
    method="max-product", schedule="sweeps", decoding="in order", iterations=20, bound_steps=60
)
_STEP = 2**0.5  # between sizes of objects that are tried, at most; variants fill in between
# px: as if every vertex had this much spread that did not move. Keeps straight strokes from
# collapsing sideways.
_INERTIA = 4.0


class RefitRound(NamedTuple):
    """One more matching, of the best candidates so far, from refitted references."""

    candidates: int
    window: int  # px, in which vertices may move; odd
    sweeps: int  # of messages, there and back
    pull: float = 0.0  # score that a vertex loses by the squared px from its reference


@dataclass(frozen=True)
class SearchConfig:
    """The settings of a search that do not depend on what the evidence is."""

    window: int = 25  # px, eta of the first matching; odd
    sweeps: int | Flooding = 1  # of messages in it, there and back; or all at once
    rounds: tuple[RefitRound, ...] = ()
    variants: VariantConfig = field(default_factory=VariantConfig)


@dataclass(frozen=True, eq=False)
class Library:
    """A bank with its variants, ready to be searched."""

    bank: Bank
    source: Int[np.ndarray, " graphs"]  # the graph of the original bank that each comes from
    extent: int  # the most rows or columns of a graph, rounded up


def sizes_between(least: float | int, most: float | int) -> Iterator[float]:
    """Sizes to try, 1 being that of the objects learned from, if it is among them.

    >>> [round(size, 3) for size in sizes_between(0.5, 1.5)]
    [0.5, 0.707, 1.0, 1.225, 1.5]
    >>> list(sizes_between(2, 2))
    [2.0]
    """
    if not 0 < least <= most or not np.isfinite(most):
        raise ValueError(f"scales are two numbers above 0, the smaller first, not {least}, {most}")
    ends = sorted({float(least), min(max(1.0, least), most), float(most)})
    yield ends[0]
    for low, high in pairwise(ends):
        steps = int(np.ceil(np.log(high / low) / np.log(_STEP) - 1e-9))
        yield from np.geomspace(low, high, steps + 1)[1:].tolist()


class MatchedGraphs(NamedTuple):
    """Graphs placed on images, and the places of their vertices."""

    graph: Int[Values, " candidates"]  # in the library's bank; -1: none
    placed: PlacedGraphs
    matched: Matched
    window: int  # px, in which vertices could move
    pull: float = 0.0  # score lost by the squared px from the middle of it

    @property
    def place(self) -> Int[Values, "candidates vertices 2"]:
        """Where each vertex is."""
        return self.matched.place

    @property
    def there(self) -> Bool[Values, "candidates vertices"]:
        """Which vertices there are."""
        return self.placed.there

    def take(self, chosen: Values | slice) -> "MatchedGraphs":
        """Return some of the candidates; by number on a device."""
        graph, placed, matched = _taken(self.graph, self.placed, self.matched, chosen)
        return MatchedGraphs(graph, placed, matched, self.window, self.pull)

    def on_host(self) -> "MatchedGraphs":
        """The same, wherever they are, in numpy's arrays."""
        graph, placed, matched = jax.device_get((self.graph, self.placed, self.matched))
        return MatchedGraphs(graph, placed, matched, self.window, self.pull)

    @classmethod
    def joined(cls, some: "Sequence[MatchedGraphs]") -> "MatchedGraphs":
        """Put candidates behind each other whose vertices could move as far."""
        placed = PlacedGraphs(*map(np.concatenate, zip(*(one.placed for one in some), strict=True)))
        matched = Matched(*map(np.concatenate, zip(*(one.matched for one in some), strict=True)))
        graph = np.concatenate([one.graph for one in some])
        return some[0]._replace(graph=graph, placed=placed, matched=matched)

    def on_image(self, image: int) -> "MatchedGraphs":
        """The same candidates on an image of another number."""
        same = self.placed._replace(image=np.full_like(self.placed.image, image))
        return self._replace(placed=same)


@either()
def _taken(
    graph: Values, placed: PlacedGraphs, matched: Matched, chosen: Values | slice
) -> tuple[Values, PlacedGraphs, Matched]:
    return graph[chosen], placed.take(chosen), matched.take(chosen)


class ScoredImages(NamedTuple):
    """The score of a part at every place of some images, and beyond them."""

    scores: Float[Array | np.ndarray, "maps rows cols"]
    outside: float

    def match(
        self,
        shapes: GraphShapes,
        image: Int[Values, " candidates"],
        graph: Int[Values, " candidates"],
        corner: Int[Values, "candidates 2"],
        config: SearchConfig,
    ) -> MatchedGraphs:
        """Match graphs of a bank where the windows of their anchors begin."""
        placed = place_graphs(shapes, image, graph.clip(0), corner)
        matched = match(self.scores, placed, self.outside, config.window, config.sweeps)
        return MatchedGraphs(graph, placed, matched, config.window)

    def refit(
        self,
        found: MatchedGraphs,
        weight: Float[Values, "candidates vertices"],
        again: RefitRound,
    ) -> MatchedGraphs:
        """Match again from where the places of vertices, by their weight, suggest."""
        window = again.window
        placed = refitted(found.placed, found.matched, weight, found.window, window)
        matched = match(self.scores, placed, self.outside, window, again.sweeps, again.pull)
        return MatchedGraphs(found.graph, placed, matched, window, again.pull)

    def rescored(self, found: MatchedGraphs) -> MatchedGraphs:
        """Places that were found on other evidence, with what they score on this."""
        rows, cols = self.scores.shape[1:]
        row, col = np.moveaxis(found.place, -1, 0)
        inside = (row >= 0) & (row < rows) & (col >= 0) & (col < cols)
        which = found.placed.image[:, None] + found.placed.type
        at = which, np.clip(row, 0, rows - 1), np.clip(col, 0, cols - 1)
        own = np.where(inside, np.asarray(self.scores)[at], self.outside)
        away = found.place - found.placed.reference - found.window // 2
        own = np.where(found.there, own - found.pull * (away**2).sum(-1), 0.0)
        matched = found.matched
        score = own.sum(1).astype(matched.score.dtype)
        return found._replace(
            matched=matched._replace(score=score, exact=np.zeros_like(matched.exact))
        )

    def placement_model(
        self, found: MatchedGraphs, one: int
    ) -> tuple[FactorGraph, dict[str, Float[np.ndarray, "vertices places"]]]:
        """A candidate as a factor graph (variables "place", factors "edges"), and its evidence."""
        placed, window = found.placed.take(np.array([one])), found.window
        vertices, edges = int(placed.there.sum()), int(placed.edge_count[0])
        builder = GraphBuilder()
        builder.variables("place", vertices, window * window)
        ends, radius = placed.ends[0, :edges], placed.radius[0, :edges]
        builder.add("edges", Window.of(ends, grid=(window, window), radius=radius))
        known = jnp.asarray(self.scores)
        scores = window_scores(known, placed, window, self.outside, found.pull)
        return builder.build(), {"place": np.asarray(scores[:vertices], np.float64)}


def certify(found: MatchedGraphs, images: ScoredImages | None) -> list[Certificate]:
    r"""Certify the places of each candidate, in the model of its graph in its windows.

    With the window :math:`W_v` of each vertex and the evidence :math:`s` under its part, that is

    .. math::
        \max_{p_v \in W_v} \sum_v s_v(p_v) - \kappa |p_v - r_v|^2, \quad
        |(p_u - r_u) - (p_v - r_v)|_\infty \le \gamma_{uv} \; \forall uv \in E.

    where :math:`\kappa` is the pull to the references. Places that break an edge score -inf. A
    graph without loops is matched exactly. Of others nothing is known without the images; with them
    time is spent on the dual bound.
    """
    possible = found.matched.broken == 0
    score = np.where(possible, found.matched.score, -np.inf).tolist()
    sure = (found.matched.exact & possible).tolist()
    if images is None or all(sure):
        return [
            Certificate(own, own, "exact") if exact else Certificate(own)
            for own, exact in zip(score, sure, strict=True)
        ]
    models = [images.placement_model(found, one) for one in range(len(score))]
    states = (found.place - found.placed.reference) @ np.array([found.window, 1])
    values = [own[there] for own, there in zip(states, found.there, strict=True)]
    graphs, evidence = zip(*models, strict=True)
    return certify_states(graphs, evidence, values, _DUAL)


@either("before", "window")
def refitted(
    graphs: PlacedGraphs,
    matched: Matched,
    weight: Float[Values, "candidates vertices"],
    before: int,
    window: int,
) -> PlacedGraphs:
    """Move the references of all candidates, and centre windows of another size on them.

    A graph that is too small or turned stretches until its edges hold it back. Moving its
    references along the affine part of the stretch, with the radii of the new distances, lets the
    next round go on from there; what is not affine stays a deformation.
    """
    xp = namespace(weight)
    reference = (graphs.reference + before // 2).astype(float)
    place = matched.place.astype(float)
    centre, middle = _mean(reference, weight), _mean(place, weight)
    x, y = reference - centre, place - middle
    inertia = _INERTIA**2 * weight.sum(1)[:, None, None] * xp.eye(2)
    maps = (_moments(y, x, weight) + inertia) @ _inverses(_moments(x, x, weight) + inertia)
    moved = xp.rint(x @ maps.swapaxes(1, 2) + middle).astype(xp.int32)
    radius = xp.rint(wished_radii(moved, graphs.ends)).astype(xp.int32)
    return graphs._replace(reference=moved - window // 2, radius=radius)


def _mean(places: Values, weight: Values) -> Values:
    return (places * weight[..., None]).sum(1, keepdims=True) / weight.sum(1)[:, None, None]


def _moments(y: Values, x: Values, weight: Values) -> Values:
    return (y * weight[..., None]).swapaxes(1, 2) @ x


def _inverses(maps: Float[Values, "some 2 2"]) -> Float[Values, "some 2 2"]:
    """The inverse of each matrix: the entries change places and signs, over the determinant."""
    xp = namespace(maps)
    (a, b), (c, d) = xp.moveaxis(maps, 0, -1)
    return xp.moveaxis(xp.stack([xp.stack([d, -b]), xp.stack([-c, a])]) / (a * d - b * c), -1, 0)
