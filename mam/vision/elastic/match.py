r"""Where the vertices of each candidate go: max-product on elastic graphs, all candidates at once.

Every vertex has a place in a window of eta x eta px, every edge allows offsets that differ from the
reference by at most its radius (the ``Window`` factor, with places counted from the vertex's
reference). Messages go along the edges one after another, first from earlier to later vertices of
the walk, then back, so that news crosses a letter in one sweep; sending all at once would take as
many iterations as the letter has vertices. At each step all candidates send one message.

The last sweep decides: a vertex takes its best place before it sends, so what later vertices
choose fits to what earlier ones chose. On a tree the answer is the best one.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from mam.core.devices import spread
from mam.factors.reduce import sliding
from mam.vision.elastic.bank import Bank

# Far below any sum of scores; sums of some hundreds of them are still told apart.
_NEVER = np.float32(-1e6)
# Candidates that run together: a core works best in its cache, an accelerator wants many.
_BLOCK_ON_CPU = 32
_BLOCK_ON_ACCELERATOR = 1024
_FEWEST = 8  # candidates of a block; small blocks have powers of two
_EDGE_GRAIN = 64  # edges of a block are a multiple of this, vertices one of half the edges


class Graphs(NamedTuple):
    """Candidates: graphs placed on images."""

    image: Int[
        np.ndarray, " candidates"
    ]  # number of its score map; of the first, if it has several
    reference: Int[np.ndarray, "candidates vertices 2"]  # first place of each vertex's window
    there: Bool[np.ndarray, "candidates vertices"]
    ends: Int[np.ndarray, "candidates edges 2"]
    radius: Int[np.ndarray, "candidates edges"]
    edge_count: Int[np.ndarray, " candidates"]
    type: Int[np.ndarray, "candidates vertices"]  # which of the image's score maps counts

    def take(self, chosen: np.ndarray) -> "Graphs":
        """Return some of the candidates."""
        return Graphs(*(values[chosen] for values in self))


class Matched(NamedTuple):
    """Places of the vertices."""

    place: Int[np.ndarray, "candidates vertices 2"]
    score: Float[np.ndarray, " candidates"]  # the evidence under the parts, summed over vertices
    broken: Int[np.ndarray, " candidates"]  # edges whose constraint the places break

    def take(self, chosen: np.ndarray) -> "Matched":
        """Return some of the candidates."""
        return Matched(*(values[chosen] for values in self))


def place_graphs(
    bank: Bank,
    image: Int[np.ndarray, " candidates"],
    graph: Int[np.ndarray, " candidates"],
    corner: Int[np.ndarray, "candidates 2"],
) -> Graphs:
    """Place graphs of the bank; ``corner`` is where the window of their anchor begins."""
    there = np.arange(bank.vertices.shape[1]) < bank.vertex_count[graph][:, None]
    kind = np.zeros(there.shape) if bank.type is None else bank.type[graph]
    return Graphs(
        image.astype(np.int32),
        bank.vertices[graph].astype(np.int32) + corner[:, None].astype(np.int32),
        there,
        bank.ends[graph].astype(np.int32),
        bank.radius[graph].astype(np.int32),
        bank.edge_count[graph].astype(np.int32),
        kind.astype(np.int32),
    )


def match(
    scores: Float[Array | np.ndarray, "images rows cols"],
    graphs: Graphs,
    outside: float,
    window: int,
    sweeps: int,
) -> Matched:
    """Find the places of all vertices; ``outside`` is the score of a part beyond the image."""
    count, vertices = graphs.there.shape
    place = np.array(graphs.reference)
    score, broken = np.zeros(count, np.float32), np.zeros(count, np.int64)

    def work(block: tuple[np.ndarray, Graphs, np.ndarray]) -> None:
        members, padded, back = block
        padded, back = spread((padded, back))
        found = jax.device_get(_match(scores, padded, back, outside, window, sweeps))
        own, width = len(members), min(vertices, found[0].shape[1])
        place[members, :width] = found[0][:own, :width]
        score[members], broken[members] = found[1][:own], found[2][:own]

    # Two blocks keep two cores busy; an accelerator has one at a time, and less memory in use.
    with ThreadPoolExecutor(2 if jax.default_backend() == "cpu" else 1) as pool:
        list(pool.map(work, _blocks(graphs)))
    return Matched(place, score, broken)


def _blocks(graphs: Graphs) -> Iterator[tuple[np.ndarray, Graphs, np.ndarray]]:
    """Candidates of similar size, padded to one of few shapes; edges in the order back."""
    size = _BLOCK_ON_CPU if jax.default_backend() == "cpu" else _BLOCK_ON_ACCELERATOR
    order = np.argsort(graphs.edge_count, kind="stable")
    size = min(size, max(_FEWEST, 1 << max(len(order) - 1, 0).bit_length()))
    for start in range(0, len(order), size):
        members = order[start : start + size]
        part = graphs.take(members)
        edges = _rounded(int(part.edge_count.max(initial=1)), _EDGE_GRAIN)
        vertices = _rounded(int(part.there.sum(1).max(initial=1)), edges // 2)
        rooms = ((), (vertices, 2), (vertices,), (edges, 2), (edges,), (), (vertices,))
        padded = Graphs(
            *(_fitted(one, (size, *room)) for one, room in zip(part, rooms, strict=True))
        )
        real = np.arange(edges) < padded.edge_count[:, None]
        late = np.where(real, padded.ends[..., 1], -1)
        yield members, padded, np.argsort(-late, axis=1, kind="stable").astype(np.int32)


def _rounded(count: int, grain: int) -> int:
    return -(-max(count, 1) // grain) * grain


def _fitted(values: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Cut or pad with zeros."""
    fitted = np.zeros(shape, values.dtype)
    part = tuple(slice(min(a, b)) for a, b in zip(values.shape, shape, strict=True))
    fitted[part] = values[part]
    return fitted


@partial(jax.jit, static_argnames=("window", "sweeps"))
def _match(
    scores: Float[Array, "images rows cols"],
    graphs: Graphs,
    back: Int[Array, "candidates edges"],
    outside: Array | float,
    window: int,
    sweeps: int,
) -> tuple[Array, Array, Array]:
    """Places, scores and broken edges of one block."""
    unary = _unary(scores, graphs, window, outside)
    candidates, edges = graphs.radius.shape
    number = jnp.arange(candidates, dtype=jnp.int32)
    longest = jnp.max(graphs.edge_count)
    messages = jnp.zeros((2, candidates, edges, window * window))

    def sweep(state: tuple[Array, Array], forth: bool, decide: bool) -> tuple[Array, Array]:
        """Send along every edge once; way 0 leads to the later vertex."""
        way = 0 if forth else 1

        def step(at: Array, state: tuple[Array, Array]) -> tuple[Array, Array]:
            belief, messages = state
            active = at < graphs.edge_count
            edge = jnp.where(active, at if forth else back[:, at], 0)
            source, target = (graphs.ends[number, edge, side] for side in (way, 1 - way))
            old = messages[way, number, edge]
            told = belief[number, source]
            told = _decided(told) if decide else told - messages[1 - way, number, edge]
            new = _reach(told.reshape(-1, window, window), graphs.radius[number, edge])
            new = new.reshape(candidates, -1)
            new = jnp.where(active[:, None], new - jnp.max(new, 1, keepdims=True), old)
            belief = belief.at[number, target].add(new - old)
            return belief, messages.at[way, number, edge].set(new)

        return jax.lax.fori_loop(0, longest, step, state)

    state = unary, messages
    for _ in range(sweeps):
        state = sweep(state, forth=True, decide=False)
        state = sweep(state, forth=False, decide=False)
    belief, _ = sweep(state, forth=True, decide=True)
    chosen = jnp.argmax(belief, -1).astype(jnp.int32)
    own = jnp.take_along_axis(unary, chosen[..., None], -1)[..., 0]
    score = jnp.sum(jnp.where(graphs.there, own, 0.0), 1)
    offset = jnp.stack([chosen // window, chosen % window], -1)
    first, second = (offset[number[:, None], graphs.ends[..., side]] for side in (0, 1))
    far = jnp.max(jnp.abs(first - second), -1) > graphs.radius
    real = jnp.arange(edges) < graphs.edge_count[:, None]
    return jnp.asarray(graphs.reference) + offset, score, jnp.sum(far & real, 1)


def _unary(scores: Array, graphs: Graphs, window: int, outside: Array | float) -> Array:
    """The part score of every vertex at every place of its window."""
    rows, cols = scores.shape[1:]
    grid = jnp.arange(window, dtype=jnp.int32)
    row = graphs.reference[..., 0, None, None] + grid[:, None]
    col = graphs.reference[..., 1, None, None] + grid
    inside = (row >= 0) & (row < rows) & (col >= 0) & (col < cols)
    scored = (graphs.image[:, None] + graphs.type)[..., None, None]
    flat = (scored * rows + row) * cols + col
    found = jnp.where(inside, scores.ravel().at[flat].get(mode="clip"), outside)
    return found.reshape(*graphs.there.shape, window * window)


def _decided(belief: Float[Array, "candidates states"]) -> Array:
    """0 at the best place, impossible elsewhere."""
    best = jnp.argmax(belief, 1)[:, None]
    return jnp.where(jnp.arange(belief.shape[1]) == best, 0.0, _NEVER)


def _reach(values: Float[Array, "candidates n n"], radius: Int[Array, " candidates"]) -> Array:
    """The maximum within each one's radius."""
    return (_reach_by_steps if jax.default_backend() == "cpu" else _reach_at_once)(values, radius)


def _reach_at_once(values: Array, radius: Array) -> Array:
    """One kernel an axis, which looks at all places within the radius."""
    near = radius[:, None, None]
    for axis in (1, 2):
        size = values.shape[axis]
        pad = [(0, 0)] * 3
        pad[axis] = (size, size)
        padded, best = jnp.pad(values, pad, constant_values=-jnp.inf), values
        for away in range(1, size):
            sides = (
                jax.lax.slice_in_dim(padded, start, start + size, axis=axis)
                for start in (size - away, size + away)
            )
            best = jnp.where(away <= near, jnp.maximum(best, jnp.maximum(*sides)), best)
        values = best
    return values


def _reach_by_steps(values: Array, radius: Array) -> Array:
    """Widened by 1, 2, 4 ... where the radius has those bits."""
    step = 1
    while step < values.shape[1]:
        wanted = (radius & step) > 0

        def widen(values: Array, step: int = step, wanted: Array = wanted) -> Array:
            wide = _slide(_slide(values, step, 1), step, 2)
            return jnp.where(wanted[:, None, None], wide, values)

        # Most steps have small radii only.
        values = jax.lax.cond(jnp.any(wanted), widen, lambda values: values, values)
        step *= 2
    everything = jnp.max(values, (1, 2), keepdims=True)
    return jnp.where((radius >= step)[:, None, None], everything, values)


def _slide(values: Array, reach: int, axis: int) -> Array:
    pad = [(0, 0)] * 3
    pad[axis] = (reach, reach)
    padded = jnp.pad(values, pad, constant_values=-jnp.inf)
    return sliding(padded, axis, 2 * reach + 1, jnp.maximum)
