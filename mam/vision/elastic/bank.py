"""A bank of elastic graphs: many small graphs in a few padded arrays, and its file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Int, Integer

from mam.core.either import Values
from mam.core.model_files import load_model, save_model
from mam.core.padded import fitted
from mam.core.schema import ModelFile
from mam.vision.elastic.bank_schema import ARRAYS, SCHEMA
from mam.vision.elastic.springs import Edges

NO_CATEGORY = -1


class GraphShapes(NamedTuple):
    """What of a bank is placed on images, on the host or where the scores are."""

    vertices: Integer[Values, "graphs most_vertices 2"]
    vertex_count: Integer[Values, " graphs"]
    ends: Integer[Values, "graphs most_edges 2"]
    radius: Integer[Values, "graphs most_edges"]
    edge_count: Integer[Values, " graphs"]
    type: Integer[Values, "graphs most_vertices"] | None


@dataclass(frozen=True, eq=False)
class Bank:
    """Elastic graphs, of one part type or with a type for each vertex; unused places hold zeros.

    The vertices of a graph stand in the order of a walk along its edges, their smallest row and
    column is 0, and edges lead from an earlier to a later vertex, sorted.
    """

    vertices: Integer[np.ndarray, "graphs most_vertices 2"]  # (row, column) at rest
    vertex_count: Integer[np.ndarray, " graphs"]
    ends: Integer[np.ndarray, "graphs most_edges 2"]
    radius: Integer[np.ndarray, "graphs most_edges"]  # 0 where there is no edge
    edge_count: Integer[np.ndarray, " graphs"]
    category: Integer[np.ndarray, " graphs"]  # of the object, or NO_CATEGORY
    mask: Bool[np.ndarray, "side side"]  # the part that every vertex stands for
    type: Integer[np.ndarray, "graphs most_vertices"] | None = None  # of each vertex's part
    config: Mapping[str, Any] = field(default_factory=dict)
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.vertices)

    @property
    def shapes(self) -> GraphShapes:
        """What is placed on images."""
        sizes = self.vertices, self.vertex_count, self.ends, self.radius, self.edge_count
        return GraphShapes(*sizes, self.type)

    @property
    def preset(self) -> str:
        """By which settings it was learned, and is to be searched for."""
        return self.config.get("preset", "best")

    def __repr__(self) -> str:
        vertices, categories = int(self.vertex_count.sum()), len(np.unique(self.category))
        return f"<Bank: {len(self)} graphs of {categories} categories, {vertices} vertices>"

    @classmethod
    def of(
        cls,
        vertices: Sequence[Int[np.ndarray, "_ 2"]],
        edges: Sequence[Edges],
        mask: Bool[np.ndarray, "side side"],
        categories: Sequence[int] | None = None,
        types: Sequence[Int[np.ndarray, " _"]] | None = None,
    ) -> "Bank":
        """Pad graphs to common sizes.

        >>> ends = np.array([[0, 2], [2, 1]])
        >>> line = Edges(ends, np.array([1, 2]))
        >>> bank = Bank.of([np.array([[5, 3], [5, 9], [5, 6]])], [line], np.ones((3, 3), bool))
        >>> bank.vertices.tolist(), bank.ends.tolist()
        ([[[0, 0], [0, 3], [0, 6]]], [[[0, 1], [1, 2]]])
        """
        if not len(vertices):
            raise ValueError("a bank holds at least one graph")
        ordered = [_in_walking_order(*graph) for graph in zip(vertices, edges, strict=True)]
        counts = np.array([len(places) for places, _, _ in ordered], np.int32)
        edge_counts = np.array([len(one.ends) for _, one, _ in ordered], np.int32)
        graphs = len(ordered)
        places = np.zeros((graphs, counts.max(), 2), np.int16)
        ends = np.zeros((graphs, max(edge_counts.max(), 1), 2), np.int16)
        radius = np.zeros(ends.shape[:2], np.uint8)
        typed = None if types is None else np.zeros(places.shape[:2], np.uint8)
        for graph, (own, links, order) in enumerate(ordered):
            places[graph, : len(own)] = own
            if typed is not None and types is not None:
                typed[graph, : len(own)] = types[graph][order]
            ends[graph, : len(links.ends)] = links.ends
            radius[graph, : len(links.ends)] = np.minimum(links.radius, 255)
        known = np.full(graphs, NO_CATEGORY) if categories is None else np.asarray(categories)
        return cls(places, counts, ends, radius, edge_counts, known.astype(np.int16), mask, typed)

    @classmethod
    def joined(cls, banks: "Sequence[Bank]") -> "Bank":
        """Put banks with the same part types behind each other."""
        names = ARRAYS if banks[0].type is None else (*ARRAYS, "type")

        def column(name: str) -> np.ndarray:
            each = [getattr(bank, name) for bank in banks]
            most = tuple(map(max, zip(*(values.shape[1:] for values in each), strict=True)))
            return np.concatenate([fitted(values, (len(values), *most)) for values in each])

        return replace(banks[0], **{name: column(name) for name in names})

    def take(self, graphs: Int[np.ndarray, " some"]) -> "Bank":
        """Return some of the graphs."""
        chosen = {name: getattr(self, name)[graphs] for name in ARRAYS}
        most = int(chosen["vertex_count"].max(initial=1)), int(chosen["edge_count"].max(initial=1))
        chosen["vertices"] = chosen["vertices"][:, : most[0]]
        if self.type is not None:
            chosen["type"] = self.type[graphs][:, : most[0]]
        for name in ("ends", "radius"):
            chosen[name] = chosen[name][:, : max(most[1], 1)]
        return replace(self, **chosen)

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """What a file holds."""
        typed = {} if self.type is None else {"type": self.type}
        kept = {name: getattr(self, name) for name in ARRAYS}
        return {**kept, **typed, "mask": self.mask.astype(np.uint8)}

    @classmethod
    def of_arrays(
        cls,
        arrays: Mapping[str, np.ndarray],
        config: Mapping[str, Any],
        provenance: Mapping[str, Any] | None = None,
    ) -> "Bank":
        """Read what a file holds."""
        kept: dict[str, Any] = {name: arrays[name] for name in ARRAYS}
        kept |= {"mask": arrays["mask"].astype(bool), "type": arrays.get("type")}
        return cls(**kept, config=config, provenance=provenance or {})

    def save(self, path: str | Path) -> None:
        """Write the bank to a file."""
        arrays = self.arrays
        for name in ("vertices", "ends"):
            if arrays[name].max() <= 255:
                arrays[name] = arrays[name].astype(np.uint8)  # half the file
        save_model(path, ModelFile(arrays, self.config, self.provenance), SCHEMA)

    @classmethod
    def load(cls, source: str | Path) -> "Bank":
        """Open a bank from a file, or by its bundled name; the arrays stay there until used."""
        found = load_model(source, SCHEMA, mapped=True)
        return cls.of_arrays(found.arrays, found.config, found.provenance)


def _in_walking_order(
    vertices: np.ndarray, edges: Edges
) -> tuple[np.ndarray, Edges, Int[np.ndarray, " vertices"]]:
    """Number the vertices as a walk along the edges first meets them; and their old numbers."""
    met = dict.fromkeys([*edges.ends.ravel().tolist(), *range(len(vertices))])
    order = np.fromiter(met, np.int64, len(met))
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    ends = np.sort(place[edges.ends], axis=1)
    sorted_by_ends = np.lexsort((ends[:, 1], ends[:, 0]))
    placed = vertices[order] - vertices.min(axis=0, initial=0 if not len(vertices) else 1 << 30)
    return placed, Edges(ends[sorted_by_ends], edges.radius[sorted_by_ends]), order
