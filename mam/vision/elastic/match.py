r"""Where the vertices of each candidate go: max-product on elastic graphs, all candidates at once.

Every vertex has a place in a window of eta x eta px, every edge allows offsets that differ from the
reference by at most its radius (the ``Window`` factor, with places counted from the vertex's
reference). The candidates are wired where their scores are, and solved by sweeps along the walk by
which their vertices are numbered: news crosses a letter in one sweep, and at each stage all
candidates send one message. Vertices are decided in the order of the walk, so what later ones
choose fits to what earlier ones chose; where the edges form no loop the answer is the best one.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from mam.core.devices import by_device, spread
from mam.core.padded import fitted
from mam.infer.wired import Flooding, Swept, flood_wired, sweep_wired
from mam.vision.elastic.bank import Bank
from mam.vision.elastic.placed_graphs import PlacedGraphs, degree_of, stages_along, wired

# Candidates that run together on a CPU, which works best in its cache, and on an accelerator.
_BLOCK = 32, 1024
_FEWEST = 8  # candidates of a block; small blocks have powers of two
_EDGE_GRAIN = 64  # edges of a block are a multiple of this, vertices one of half the edges


class Matched(NamedTuple):
    """Places of the vertices."""

    place: Int[np.ndarray, "candidates vertices 2"]
    score: Float[np.ndarray, " candidates"]  # the evidence under the parts, summed over vertices
    broken: Int[np.ndarray, " candidates"]  # edges whose constraint the places break
    exact: Bool[np.ndarray, " candidates"]  # no places are better: the edges form no loop

    def take(self, chosen: np.ndarray) -> "Matched":
        """Return some of the candidates."""
        return Matched(*(values[chosen] for values in self))


def place_graphs(
    bank: Bank,
    image: Int[np.ndarray, " candidates"],
    graph: Int[np.ndarray, " candidates"],
    corner: Int[np.ndarray, "candidates 2"],
) -> PlacedGraphs:
    """Place graphs of the bank; ``corner`` is where the window of their anchor begins."""
    there = np.arange(bank.vertices.shape[1]) < bank.vertex_count[graph][:, None]
    type_ = np.zeros(there.shape) if bank.type is None else bank.type[graph]
    return PlacedGraphs(
        image.astype(np.int32),
        bank.vertices[graph].astype(np.int32) + corner[:, None].astype(np.int32),
        there,
        bank.ends[graph].astype(np.int32),
        bank.radius[graph].astype(np.int32),
        bank.edge_count[graph].astype(np.int32),
        type_.astype(np.int32),
    )


def match(
    scores: Float[Array | np.ndarray, "images rows cols"],
    graphs: PlacedGraphs,
    outside: float,
    window: int,
    sweeps: int | Flooding,
    pull: float | int = 0,
) -> Matched:
    """Find the places of all vertices; ``outside`` is the score of a part beyond the image.

    Messages go in ``sweeps``, or all at once as the paper's do. ``pull`` draws every vertex to the
    middle of its window, see ``window_scores``.
    """
    count, vertices = graphs.there.shape
    place = np.array(graphs.reference)
    score, broken = np.zeros(count, np.float32), np.zeros(count, np.int64)
    exact = np.zeros(count, bool)

    def work(block: tuple[np.ndarray, PlacedGraphs, np.ndarray]) -> None:
        members, padded, back = block
        degree = degree_of(padded) if isinstance(sweeps, Flooding) else None
        padded, back = spread((padded, back))
        found = _match(scores, padded, back, outside, pull, window, sweeps, degree)
        places, found = jax.device_get(found)
        own, width = len(members), min(vertices, places.shape[1])
        place[members, :width] = places[:own, :width]
        score[members], broken[members] = found.score[:own], found.violated[:own]
        exact[members] = found.exact[:own]

    # Two blocks keep two cores busy; an accelerator has one at a time, and less memory in use.
    with ThreadPoolExecutor(by_device(2, 1)) as pool:
        list(pool.map(work, _blocks(graphs)))
    return Matched(place, score, broken, exact)


def _blocks(graphs: PlacedGraphs) -> Iterator[tuple[np.ndarray, PlacedGraphs, np.ndarray]]:
    """Candidates of similar size, padded to one of few shapes; edges in the order back."""
    size = by_device(*_BLOCK)
    order = np.argsort(graphs.edge_count, kind="stable")
    size = min(size, max(_FEWEST, 1 << max(len(order) - 1, 0).bit_length()))
    for start in range(0, len(order), size):
        members = order[start : start + size]
        part = graphs.take(members)
        edges = _rounded(int(part.edge_count.max(initial=1)), _EDGE_GRAIN)
        vertices = _rounded(int(part.there.sum(1).max(initial=1)), edges // 2)
        shapes = ((), (vertices, 2), (vertices,), (edges, 2), (edges,), (), (vertices,))
        padded = PlacedGraphs(
            *(fitted(one, (size, *shape)) for one, shape in zip(part, shapes, strict=True))
        )
        real = np.arange(edges) < padded.edge_count[:, None]
        late = np.where(real, padded.ends[..., 1], -1)
        yield members, padded, np.argsort(-late, axis=1, kind="stable").astype(np.int32)


def _rounded(count: int, grain: int) -> int:
    return -(-max(count, 1) // grain) * grain


@partial(jax.jit, static_argnames=("window", "sweeps", "degree"))
def _match(
    scores: Float[Array, "images rows cols"],
    graphs: PlacedGraphs,
    back: Int[Array, "candidates edges"],
    outside: Array | float,
    pull: Array | float,
    window: int,
    sweeps: int | Flooding,
    degree: int | None,
) -> tuple[Array, Swept]:
    """Places and what is known of them, for one block."""
    unary = window_scores(scores, graphs, window, outside, pull)
    nothing = jnp.zeros((1, 0), unary.dtype)
    wiring = wired(graphs, window, degree)
    if isinstance(sweeps, Flooding):
        found = flood_wired(wiring, (nothing,), (unary,), sweeps)
    else:
        stages = stages_along(graphs, back)
        found = sweep_wired(wiring, (nothing,), (unary,), stages, sweeps)
    chosen = found.states[0].reshape(graphs.there.shape)
    offset = jnp.stack([chosen // window, chosen % window], -1)
    return jnp.asarray(graphs.reference) + offset, found


def window_scores(
    scores: Float[Array, "images rows cols"],
    graphs: PlacedGraphs,
    window: int,
    outside: Array | float,
    pull: Array | float = 0,
) -> Float[Array, "vertices places"]:
    """The part score of every vertex at every place of its window.

    It is less by ``pull`` times the squared distance to the window's middle, where the reference
    is: of places with equal evidence the nearest is taken, and strokes do not shrink.
    """
    rows, cols = scores.shape[1:]
    grid = jnp.arange(window, dtype=jnp.int32)
    row = graphs.reference[..., 0, None, None] + grid[:, None]
    col = graphs.reference[..., 1, None, None] + grid
    inside = (row >= 0) & (row < rows) & (col >= 0) & (col < cols)
    scored = (graphs.image[:, None] + graphs.type)[..., None, None]
    flat = (scored * rows + row) * cols + col
    found = jnp.where(inside, scores.ravel().at[flat].get(mode="clip"), outside)
    away = (grid - window // 2) ** 2
    found = found - pull * (away[:, None] + away).astype(found.dtype)
    return found.reshape(-1, window * window)
