"""Candidates as a wiring: elastic graphs placed on images, for the solvers, without a graph each.

Every vertex is a variable with window x window places, every edge a ``Window`` factor between an
earlier and a later vertex of the walk. The wiring can be traced, so it is made on the device where
the scores are.
"""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int

from mam.core.either import Values, either, namespace
from mam.factors.window import WindowBlock
from mam.graph import PortWiring, Wiring
from mam.infer.stages import Pass, Stages
from mam.vision.elastic.bank import GraphShapes


class PlacedGraphs(NamedTuple):
    """Candidates: graphs placed on images."""

    image: Int[Values, " candidates"]  # number of its score map, or of the first of several
    reference: Int[Values, "candidates vertices 2"]  # first place of each vertex's window
    there: Bool[Values, "candidates vertices"]
    ends: Int[Values, "candidates edges 2"]
    radius: Int[Values, "candidates edges"]
    edge_count: Int[Values, " candidates"]
    type: Int[Values, "candidates vertices"]  # which of the image's score maps counts

    def take(self, chosen: Values | slice) -> "PlacedGraphs":
        """Return some of the candidates."""
        return PlacedGraphs(*(values[chosen] for values in self))


@either()
def place_graphs(
    shapes: GraphShapes,
    image: Int[Values, " candidates"],
    graph: Int[Values, " candidates"],
    corner: Int[Values, "candidates 2"],
) -> PlacedGraphs:
    """Place graphs of a bank; ``corner`` is where the window of their anchor begins."""
    xp = namespace(image)
    there = xp.arange(shapes.vertices.shape[1]) < shapes.vertex_count[graph][:, None]
    type_ = xp.zeros(there.shape, xp.int32) if shapes.type is None else shapes.type[graph]
    return PlacedGraphs(
        image.astype(xp.int32),
        shapes.vertices[graph].astype(xp.int32) + corner[:, None].astype(xp.int32),
        there,
        shapes.ends[graph].astype(xp.int32),
        shapes.radius[graph].astype(xp.int32),
        shapes.edge_count[graph].astype(xp.int32),
        type_.astype(xp.int32),
    )


def degree_of(graphs: PlacedGraphs) -> int:
    """The most edges of a vertex, rounded up to a power of two: few sizes, few compilations.

    >>> line = np.array([[[0, 1], [1, 2], [0, 0]]])
    >>> none = np.zeros(1, int)
    >>> there, radius = np.ones((1, 3), bool), line[..., 0]
    >>> degree_of(PlacedGraphs(none, none, there, line, radius, none + 2, none))
    2
    """
    candidates, vertices = graphs.there.shape
    real = np.arange(graphs.radius.shape[1]) < graphs.edge_count[:, None]
    owner = (np.arange(candidates)[:, None, None] * vertices + graphs.ends)[real]
    most = np.bincount(owner.ravel(), minlength=1).max()
    return 1 << max(int(most) - 1, 0).bit_length()


def wired(graphs: PlacedGraphs, window: int, degree: int | None = None) -> Wiring:
    """Wire all candidates; edges beyond a candidate's count lead nowhere.

    ``degree`` is at least that of every vertex; what floods is slow without it.
    """
    candidates, vertices = graphs.there.shape
    edges = graphs.radius.shape[1]
    rows, size = candidates * edges, candidates * vertices
    number = jnp.arange(candidates, dtype=jnp.int32)
    instance = jnp.repeat(number, edges)
    real = jnp.arange(edges) < graphs.edge_count[:, None]
    index = jnp.where(real[..., None], number[:, None, None] * vertices + graphs.ends, size)
    common = {
        "edge": jnp.tile(2 * jnp.arange(edges, dtype=jnp.int32), candidates),
        "arity": jnp.full(rows, 2, jnp.int32),
        "instance": instance,
        "partner": None,
        "bounds": jnp.arange(candidates + 1, dtype=jnp.int32) * edges,
        "kind": 0,
    }
    ports = tuple(
        PortWiring(index=index[..., side].ravel(), start=side * rows, **common) for side in (0, 1)
    )
    owner = jnp.where(graphs.there, number[:, None], candidates).ravel()
    return Wiring(
        (WindowBlock.around(jnp.asarray(graphs.radius).ravel(), (window, window)),),
        (ports,),
        ((_slots(index, vertices, degree or vertices),),),
        (jnp.tile(jnp.arange(vertices, dtype=jnp.int32), candidates),),
        (owner,),
        (instance,),
        (0,),
        (window * window,),
        (2 * rows,),
        candidates,
    )


def _slots(index: Int[Array, "candidates edges 2"], vertices: int, degree: int) -> Array:
    """The messages of each vertex, at most one from every other; sweeps do not read them."""
    candidates = len(index)
    owner = jnp.moveaxis(index, -1, 0).ravel()
    order = jnp.argsort(owner, stable=True).astype(jnp.int32)
    mine = owner[order]
    place = jnp.arange(len(mine), dtype=jnp.int32) - jnp.searchsorted(mine, mine).astype(jnp.int32)
    empty = jnp.full((degree, candidates * vertices), len(mine), jnp.int32)
    return empty.at[place, mine].set(order, mode="drop")


def stages_along(graphs: PlacedGraphs) -> Stages:
    """Sweep along the walk: over the edges as they are listed, and back from the last vertex on."""
    candidates, edges = graphs.radius.shape
    number = jnp.arange(candidates, dtype=jnp.int32)
    stage = jnp.arange(edges, dtype=jnp.int32)[:, None]
    real = stage < graphs.edge_count
    count = jnp.max(jnp.asarray(graphs.edge_count))

    def way(edge: Array, sends: tuple[bool, bool]) -> Pass:
        row = jnp.where(real, number * edges + edge, candidates * edges)
        return Pass((row,), (None,), (None,), count, (sends,))

    late = jnp.where(real.T, graphs.ends[..., 1], -1)
    back = jnp.argsort(-late, axis=1, stable=True).astype(jnp.int32)
    forth, later = way(stage, (False, True)), way(back.T, (True, False))
    owner = jnp.where(real.T, graphs.ends[..., 1], graphs.there.shape[1])
    ways_to = (
        jnp.zeros(graphs.there.shape, jnp.int32).at[number[:, None], owner].add(1, mode="drop")
    )
    rank = jnp.tile(jnp.arange(graphs.there.shape[1], dtype=jnp.int32), candidates)
    return Stages((rank,), (forth, later), forth, forth, jnp.all(ways_to <= 1, 1))
