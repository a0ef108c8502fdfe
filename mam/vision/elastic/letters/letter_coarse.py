"""Matching on a coarse grid: a place stands for a square of px, so that there are fewer of them.

The score of a part in a square is its best one there. References and radii are rounded, so an edge
gives way by up to a square more; refitting to the px follows. Squares of two px leave a quarter of
the places, and the first matching takes a quarter of the time.
"""

from functools import partial

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from mam.core.either import Values, either
from mam.vision.elastic.bank import GraphShapes
from mam.vision.elastic.match import match
from mam.vision.elastic.placed_graphs import PlacedGraphs, place_graphs
from mam.vision.elastic.search import MatchedGraphs, ScoredImages, SearchConfig


def match_coarsely(
    images: ScoredImages,
    shapes: GraphShapes,
    image: Int[Values, " candidates"],
    graph: Int[Values, " candidates"],
    corner: Int[Values, "candidates 2"],
    config: SearchConfig,
    step: int,
    pull: float = 0.0,
) -> MatchedGraphs:
    """Match graphs of a bank where the windows of their anchors begin, in steps of some px.

    Places are the first px of their squares; windows are at least as wide as the search's.
    """
    placed = place_graphs(shapes, image, graph.clip(0), corner)
    squares = _in_squares(placed, step)
    window = -(-config.window // step)
    best = best_in_squares(images.scores, step, images.outside)
    matched = match(best, squares, images.outside, window, config.sweeps, pull * step * step)
    return MatchedGraphs(graph, placed, matched._replace(place=matched.place * step), config.window)


@either("step")
def _in_squares(placed: PlacedGraphs, step: int) -> PlacedGraphs:
    return placed._replace(reference=placed.reference // step, radius=-(-placed.radius // step))


@partial(jax.jit, static_argnames="step")
def best_in_squares(
    scores: Float[Array, "maps rows cols"], step: int, outside: Array | float
) -> Float[Array, "maps rows cols"]:
    """The best score in every square of ``step`` px; squares may reach beyond the last px.

    The maps keep their shape, so that programs of the finer matching serve this one too.

    >>> best_in_squares(jnp.arange(9.0).reshape(1, 3, 3), 2, -1.0).tolist()
    [[[4.0, 5.0, -1.0], [7.0, 8.0, -1.0], [-1.0, -1.0, -1.0]]]
    """
    maps, rows, cols = scores.shape
    tall, wide = -(-rows // step), -(-cols // step)
    more = ((0, 0), (0, tall * step - rows), (0, wide * step - cols))
    full = jnp.pad(scores, more, constant_values=outside)
    best = full.reshape(maps, tall, step, wide, step).max((2, 4))
    rest = ((0, 0), (0, rows - tall), (0, cols - wide))
    return jnp.pad(best, rest, constant_values=outside)
