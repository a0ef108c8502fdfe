r"""A dash or a bar: the object-specific Markov Attention Model, written down as the paper has it.

A copy of the model says which one of some graphs is in the image, and where its vertices are. It
has a part variable for every vertex at every place of its window, a lateral attention variable for
every pair of places that an edge allows, the letter :math:`x`, and a top-down attention variable
from the letter to every part. Groups and patterns of the factors:

.. math::
    \text{part of } v: \quad & \text{the letter, one group an edge of } v,
        & B &= \{0, (1, \ldots, 1)\} \\
    \text{letter}: \quad & \text{one group a vertex of any graph},
        & B &= \{0, b^{(1)}, \ldots, b^{(N)}\}

with :math:`b^{(n)}` ON in the groups of graph n. So a letter that is there is one of the graphs,
with each of its vertices at one place, and no edge stretched beyond its radius. Its absence scores
:math:`U(0) = -1000`. With evidence :math:`s` on the parts the best assignment scores

.. math::
    \max_n \max_p \sum_{v \in V_n} s(p_v), \quad
    |(p_u - r_u) - (p_v - r_v)|_\infty \le \gamma_{uv} \; \forall uv \in E_n,

what ``match`` computes for each graph. Copies that look at the image through the sparsifier share
its pixels: pixel i is the OR of all parts that cover it, and with evidence m on the pixels two
copies score

.. math::
    \max \sum_{i \in I_1 \cup I_2} m_i,

the pair score of ``pair_scores`` without penalties, at the best places for both together. As in
``mam.vision.parts.cover``, pixels are observed, so the OR is hard and its noise is the evidence.

The paper also gives every part U(0) = -1000. That is a constant for one graph, but once graphs are
merged it pays 1000 for each further vertex; here ``absent_part`` is 0 unless asked for.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from mam.factors import Or, PatternSet, Ragged
from mam.graph import FactorGraph, GraphBuilder
from mam.infer import solve
from mam.models import MarkovAttentionModel, PartKind, part_attention_model
from mam.vision.elastic.bank import Bank
from mam.vision.elastic.match import match
from mam.vision.elastic.placed_graphs import PlacedGraphs, place_graphs
from mam.vision.elastic.springs import Edges
from mam.vision.parts.candidates import PartCandidates
from mam.vision.parts.cover import cover_of, covered_pixels, in_image
from mam.vision.parts.masks import Parts

ABSENT = -1000.0  # U(0, ..., 0) of the letter (paper)


class PlacedLetter(NamedTuple):
    """One of the graphs, and where its vertices are."""

    graph: int
    place: Int[np.ndarray, "vertices 2"]


class Places(NamedTuple):
    """What the part variables of one copy stand for."""

    graph: Int[np.ndarray, " parts"]
    vertex: Int[np.ndarray, " parts"]
    place: Int[np.ndarray, "parts 2"]


@dataclass(frozen=True, eq=False)
class LetterModel:
    """A model with the variables "part", "attention" and, seen through the sparsifier, "pixel".

    The parts of the first copy come first, those of the others follow in the same order, and the
    letters of all copies stand at the end of "part".
    """

    model: MarkovAttentionModel
    places: Places
    shape: tuple[int, int]  # of the image
    copies: int
    pixels: Int[np.ndarray, " pixels"] | None = None  # numbers of those that some part may cover
    parents: Ragged | None = None  # the parts over each of them

    @property
    def graph(self) -> FactorGraph:
        """The factor graph, for the solvers."""
        return self.model.graph

    def part_evidence(self, scores: Float[np.ndarray, "rows cols"]) -> dict[str, np.ndarray]:
        """Evidence that judges every part by itself: a score for each place of the image."""
        own = scores[tuple(self.places.place.T)]
        return {"part": np.append(np.tile(own, self.copies), np.zeros(self.copies))}

    def pixel_evidence(self, values: Float[np.ndarray, "rows cols"]) -> dict[str, np.ndarray]:
        """Evidence of the pixels: what each scores when it is covered."""
        if self.pixels is None:
            raise ValueError("the model has no pixels: connect it with through_sparsifier")
        return {"pixel": values.ravel()[self.pixels]}

    def through_sparsifier(self, mask: Bool[np.ndarray, "side side"]) -> "LetterModel":
        """Connect all copies to the pixels; ``mask`` is what a part covers around its place."""
        row, column = np.tile(self.places.place, (self.copies, 1)).T
        none = np.zeros(len(row), np.int64)
        parts, all_on = Parts(mask[None]), np.ones(self.shape, np.int8)
        cover = cover_of(PartCandidates(none, row, column, none), [all_on], parts)
        numbers, _, parents = covered_pixels(cover)
        pixels = in_image(numbers, parts, self.shape)
        builder = GraphBuilder()
        for group in self.graph.variables:
            builder.variables(group.name, group.shape, group.states)
        for name, factors in self.graph.factors:
            builder.add(name, factors)
        builder.add("explained", Or.of(parents, builder.variables("pixel", len(pixels))))
        model = MarkovAttentionModel(builder.build(), self.model.attention)
        return replace(self, model=model, pixels=pixels, parents=parents)

    def letters(self, values: Int[np.ndarray, " variables"]) -> list[PlacedLetter | None]:
        """Read an assignment: the graph of each copy and its places, None where no letter is."""
        part = values[self.graph.ids("part")]
        count = len(self.places.graph)
        found: list[PlacedLetter | None] = []
        for copy in range(self.copies):
            on = np.flatnonzero(part[copy * count : (copy + 1) * count])
            there = part[self.copies * count + copy] and len(on)
            graph = int(self.places.graph[on[0]]) if there else -1
            found.append(PlacedLetter(graph, self.places.place[on]) if there else None)
        return found

    def assignment(self, letters: Sequence[PlacedLetter | None]) -> Int[np.ndarray, " variables"]:
        """Write graphs with their places as an assignment; a broken edge makes it impossible."""
        if len(letters) != self.copies:
            raise ValueError(f"{len(letters)} letters for {self.copies} copies")
        values = np.zeros(len(self.graph.states), np.int64)
        count = len(self.places.graph)
        for copy, placed in enumerate(letters):
            if placed is not None:
                values[copy * count + self._numbers(placed)] = 1
                values[self.copies * count + copy] = 1
        attention = self.model.attention
        values[attention.variables] = values[attention.ends].all(1)
        if self.parents is not None:
            covered = self.parents.row_of_value[values[self.parents.values] > 0]
            values[self.graph.ids("pixel")[covered]] = 1
        return values

    def _numbers(self, placed: PlacedLetter) -> np.ndarray:
        """The part variables of a placed graph, in the first copy."""
        wanted = np.column_stack([np.arange(len(placed.place)), placed.place])
        known = np.column_stack([self.places.vertex, self.places.place])
        same = (known == wanted[:, None]).all(-1) & (self.places.graph == placed.graph)
        missing = np.flatnonzero(~same.any(1))
        if missing.size:
            vertex, row, col = wanted[missing[0]].tolist()
            raise ValueError(f"graph {placed.graph}: vertex {vertex} cannot be at ({row}, {col})")
        return same.argmax(1)


def letter_model(
    graphs: PlacedGraphs,
    window: int,
    shape: tuple[int, int],
    copies: int = 1,
    absent: float | int = ABSENT,
    absent_part: float | int = 0.0,
) -> LetterModel:
    """Merge placed graphs into one model, and put as many copies of it side by side.

    A vertex may go to the places of its window that lie in the image. With every graph at the
    corner (0, 0) and a window as large as the image this is the paper's model of all letters
    everywhere; candidates of the forward pass give the small one that can be solved.
    """
    if copies < 1 or window < 1:
        raise ValueError(f"copies and window must be at least 1, not {copies} and {window}")
    grid = np.indices((window, window)).reshape(2, -1).T
    places, number = _places(graphs, grid, shape)
    count = len(places.graph)
    lateral, lateral_groups, degree = _lateral(graphs, grid, number)
    # The letter has the groups of all vertices, one graph after another.
    group = np.cumsum(graphs.there).reshape(graphs.there.shape) - 1
    own = group[places.graph, places.vertex]
    down = np.column_stack([np.full(count, copies * count), np.arange(count)])
    down_groups = np.column_stack([own, np.zeros(count, np.int64)])
    edges = [
        np.concatenate([lateral + copy * count, down + np.array([copy, copy * count])])
        for copy in range(copies)
    ]
    sizes, size = np.unique(degree[places.graph, places.vertex], return_inverse=True)
    kinds = [PartKind(PatternSet.of([[0] * n, [1] * n]), [absent_part, 0.0]) for n in sizes]
    kinds.append(_letter_kind(graphs.there, float(absent)))
    model = part_attention_model(
        np.concatenate(edges),
        np.tile(np.concatenate([lateral_groups, down_groups]), (copies, 1)),
        kinds,
        vertices=copies * (count + 1),
        kind=np.append(np.tile(size, copies), np.full(copies, len(sizes))),
    )
    return LetterModel(model, places, shape, copies)


def _places(
    graphs: PlacedGraphs, grid: Int[np.ndarray, "steps 2"], shape: tuple[int, int]
) -> tuple[Places, Int[np.ndarray, "graphs vertices steps"]]:
    """The parts: vertices at places of their windows in the image; the number of each, or -1."""
    place = graphs.reference[:, :, None] + grid
    inside = graphs.there[..., None] & ((place >= 0) & (place < np.array(shape))).all(-1)
    graph, vertex, _ = np.nonzero(inside)
    number = np.where(inside, np.cumsum(inside).reshape(inside.shape) - 1, -1)
    return Places(graph, vertex, place[inside].astype(np.int64)), number


def _lateral(
    graphs: PlacedGraphs, grid: np.ndarray, number: np.ndarray
) -> tuple[
    Int[np.ndarray, "pairs 2"], Int[np.ndarray, "pairs 2"], Int[np.ndarray, "graphs vertices"]
]:
    """Pairs of parts that some edge allows, the group of the pair at either part, and the number of
    groups of every vertex; group 0 is the letter.
    """
    degree = np.ones(graphs.there.shape, np.int64)
    stretch = np.abs(grid[:, None] - grid).max(-1)
    pairs, groups = [np.zeros((0, 2), np.int64)], [np.zeros((0, 2), np.int64)]
    for graph, edges in enumerate(graphs.edge_count):
        for edge in range(edges):
            u, v = graphs.ends[graph, edge]
            there = (number[graph, u] >= 0)[:, None] & (number[graph, v] >= 0)
            one, two = np.nonzero((stretch <= graphs.radius[graph, edge]) & there)
            pairs.append(np.column_stack([number[graph, u][one], number[graph, v][two]]))
            groups.append(np.tile(degree[graph, [u, v]], (len(one), 1)))
            degree[graph, [u, v]] += 1
    return np.concatenate(pairs), np.concatenate(groups), degree


def _letter_kind(there: Bool[np.ndarray, "graphs vertices"], absent: float) -> PartKind:
    """No letter, or all vertices of one graph."""
    owner = np.nonzero(there)[0]
    rows = owner == np.arange(-1, len(there))[:, None]
    return PartKind(PatternSet.of(rows.astype(np.int64)), [absent] + [0.0] * len(there))


def main() -> None:
    shapes = [np.array([[0, 0], [0, 2]]), np.array([[0, 0], [2, 0]])]  # a dash and a bar
    bank = Bank.of(shapes, [Edges(np.array([[0, 1]]), np.array([1]))] * 2, np.ones((1, 1), bool))
    placed = place_graphs(bank.shapes, np.zeros(2, int), np.arange(2), np.zeros((2, 2), int))
    scores = np.array([[0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 5, 0, 0]], np.float32)

    one = letter_model(placed, window=2, shape=(4, 4))
    best = solve(one.graph, one.part_evidence(scores.astype(float)))
    [letter] = one.letters(best.values)
    assert letter is not None
    print(f"graph {letter.graph} at {letter.place.tolist()}, score {best.score:g}")
    fast = match(scores[None], placed, -9.0, window=2, sweeps=1).score
    print(f"matched one by one the graphs score {fast.tolist()}")

    two = letter_model(placed, window=2, shape=(4, 4), copies=2).through_sparsifier(bank.mask)
    again = two.assignment([letter, letter])
    print(f"two copies of it cover {int(again[two.graph.ids('pixel')].sum())} pixels")


if __name__ == "__main__":
    main()
