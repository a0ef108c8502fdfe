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
from mam.core.either import Values
from mam.core.padded import fitted
from mam.infer.wired import Flooding, Swept, flood_wired, sweep_wired
from mam.vision.elastic.placed_graphs import PlacedGraphs, degree_of, stages_along, wired

# Candidates that run together on a CPU, which works best in its cache, and on an accelerator.
_BLOCK = 32, 2048
_FEWEST = 8, 256  # candidates of a block; small blocks have powers of two
_EDGE_GRAIN = 64  # edges of a block are a multiple of this, vertices one of half the edges


class Matched(NamedTuple):
    """Places of the vertices."""

    place: Int[Values, "candidates vertices 2"]
    score: Float[Values, " candidates"]  # the evidence under the parts, summed over vertices
    broken: Int[Values, " candidates"]  # edges whose constraint the places break
    exact: Bool[Values, " candidates"]  # no places are better: the edges form no loop

    def take(self, chosen: Values | slice) -> "Matched":
        """Return some of the candidates."""
        return Matched(*(values[chosen] for values in self))


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
    middle of its window, see ``window_scores``. Candidates on a device are answered there.
    """
    if isinstance(graphs.reference, jax.Array):
        blocks = _on_device(graphs, _block_size(len(graphs.there)))
        settings = outside, pull, window, sweeps, None
        found = [_match(scores, block, *settings) for block in blocks]
        return _joined(found, len(graphs.there))
    return _match_from_host(scores, graphs, outside, window, sweeps, pull)


@partial(jax.jit, static_argnames=("size",))
def _on_device(graphs: PlacedGraphs, size: int) -> list[PlacedGraphs]:
    """Blocks of candidates, the last one filled up with some that have neither vertex nor edge."""
    starts = range(0, max(len(graphs.there), 1), size)

    def cut(values: Array, start: int) -> Array:
        own = values[start : start + size]
        return jnp.pad(own, [(0, size - len(own)), *[(0, 0)] * (own.ndim - 1)])

    return [PlacedGraphs(*(cut(values, start) for values in graphs)) for start in starts]


@partial(jax.jit, static_argnames=("count",))
def _joined(found: list[tuple[Array, Swept]], count: int) -> Matched:
    """What was found block by block of so many candidates."""
    places = [place for place, _ in found]
    rest = [[getattr(one, name) for _, one in found] for name in ("score", "violated", "exact")]
    return Matched(*(jnp.concatenate(own)[:count] for own in (places, *rest)))


def _match_from_host(
    scores: Float[Array | np.ndarray, "images rows cols"],
    graphs: PlacedGraphs,
    outside: float,
    window: int,
    sweeps: int | Flooding,
    pull: float | int,
) -> Matched:
    """Block by block, of candidates of similar size."""
    count, vertices = graphs.there.shape
    place = np.array(graphs.reference)
    score, broken = np.zeros(count, np.float32), np.zeros(count, np.int64)
    exact = np.zeros(count, bool)

    def work(block: tuple[np.ndarray, PlacedGraphs]) -> None:
        members, padded = block
        degree = degree_of(padded) if isinstance(sweeps, Flooding) else None
        found = _match(scores, spread(padded), outside, pull, window, sweeps, degree)
        places, found = jax.device_get(found)
        own, width = len(members), min(vertices, places.shape[1])
        place[members, :width] = places[:own, :width]
        score[members], broken[members] = found.score[:own], found.violated[:own]
        exact[members] = found.exact[:own]

    # Two blocks keep two cores busy; an accelerator has one at a time, and less memory in use.
    with ThreadPoolExecutor(by_device(2, 1)) as pool:
        list(pool.map(work, _blocks(graphs)))
    return Matched(place, score, broken, exact)


def _blocks(graphs: PlacedGraphs) -> Iterator[tuple[np.ndarray, PlacedGraphs]]:
    """Candidates of similar size, padded to one of few shapes."""
    order = np.argsort(graphs.edge_count, kind="stable")
    size = _block_size(len(order))
    for start in range(0, len(order), size):
        members = order[start : start + size]
        part = graphs.take(members)
        edges = _rounded(int(part.edge_count.max(initial=1)), _EDGE_GRAIN)
        vertices = _rounded(int(part.there.sum(1).max(initial=1)), edges // 2)
        shapes = ((), (vertices, 2), (vertices,), (edges, 2), (edges,), (), (vertices,))
        padded = PlacedGraphs(
            *(fitted(one, (size, *shape)) for one, shape in zip(part, shapes, strict=True))
        )
        yield members, padded


def _block_size(count: int) -> int:
    """How many of so many candidates run together."""
    least = 1 << max(count - 1, 0).bit_length()
    return min(by_device(*_BLOCK), max(by_device(*_FEWEST), least))


def _rounded(count: int, grain: int) -> int:
    return -(-max(count, 1) // grain) * grain


@partial(jax.jit, static_argnames=("window", "sweeps", "degree"))
def _match(
    scores: Float[Array, "images rows cols"],
    graphs: PlacedGraphs,
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
        stages = stages_along(graphs)
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
