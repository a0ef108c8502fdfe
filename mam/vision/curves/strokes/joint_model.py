r"""Pixels, parts and attentions of an image in one graph (paper, "Connecting MAMs with images").

Every placement that might explain pixels is a part variable with the prior as evidence. A pixel is
observed, and an ``AnyOf`` of the parts over it; every pair of parts that was seen as neighbours is
an attention variable; and the ``Pattern`` factor of a part lets it be ON only as part of a contour.
The score of an answer is that of the sparsifier and of the contour model together,

.. math:: F(S) + \sum_{\text{links ON}} w + t \cdot \text{ends of contours},

where the pipeline maximises the first term alone, and then the others given its :math:`S`.
"""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool

from mam.core.growing import GrowingSizes
from mam.graph import FactorGraph, GraphBuilder
from mam.infer import Solution, solve
from mam.vision.curves.chain_model import ContourPotentials, Links, contour_model
from mam.vision.curves.chains import group_numbers
from mam.vision.curves.strokes.co_occurrences import CoOccurrences
from mam.vision.curves.strokes.contour_answer import Grouping
from mam.vision.curves.strokes.poses import Poses, poses_of_parts
from mam.vision.images.binary import as_states
from mam.vision.parts.cover import cover_graph, cover_of
from mam.vision.parts.masks import Parts
from mam.vision.parts.tiles import list_candidates

_POTENTIALS = ContourPotentials(presence=0.0)


@dataclass(frozen=True, eq=False)
class JointModel:
    """The graph of an image with its variables "part" and "attention", and what they stand for."""

    graph: FactorGraph
    evidence: dict[str, np.ndarray]
    parts: Poses
    links: Links
    image: Bool[np.ndarray, "rows cols"]
    masks: Bool[np.ndarray, "types side side"]

    def grouping(self, found: Solution) -> Grouping:
        """What a solution says: contours of the parts that are ON."""
        chosen = np.flatnonzero(found["part"] == 1)
        number = np.full(len(self.parts), -1)
        number[chosen] = np.arange(len(chosen))
        both = np.flatnonzero((number[self.links.stroke] >= 0).all(1))
        links = self.links.take(both)
        links = replace(links, stroke=number[links.stroke])
        on = found["attention"][both] == 1
        margin = np.nan_to_num(found.margin("attention")[both], nan=0.0, posinf=np.inf)
        group = group_numbers(links.stroke, on, len(chosen))
        known = np.where(on, margin, -margin), self.image, found.score, found.bound, found.proof
        return Grouping(self.parts.take(chosen), group, links, on, *known, part_masks=self.masks)


def joint_model(
    image: Bool[np.ndarray, "rows cols"],
    parts: Parts,
    seen: CoOccurrences,
    potentials: ContourPotentials = _POTENTIALS,
    pruning: str = "strong",
    slack: float = np.inf,
) -> JointModel:
    """Write down the joint model of an image.

    ``potentials.presence`` is what a part scores beside its prior. Placements with which the best
    explanation of the pixels alone loses more than ``slack`` are left out.
    """
    states = as_states(image)
    candidates = list_candidates([states], parts, pruning, GrowingSizes())
    cover = cover_of(candidates, [states], parts)
    graph, evidence = cover_graph(cover, parts.noise, exclusive=True)
    if np.isfinite(slack):
        alone = solve(graph, evidence)
        left_out = (alone["part"] == 0) & (alone.margin("part") > slack)
        cover = cover.take(np.flatnonzero(~left_out))
        graph, evidence = cover_graph(cover, parts.noise, exclusive=True)
    row, column, kind = (
        getattr(cover.candidates, name).astype(np.int64) for name in ("row", "column", "type")
    )
    poses = poses_of_parts(np.zeros(len(kind), np.int64), kind, np.stack([row, column], 1), parts)
    links = seen.links(poses)
    presence = evidence["part"] + potentials.presence
    contours, evidence = contour_model(links, presence, potentials)
    # Both graphs count the parts from 0, and attention variables come behind them.
    builder = GraphBuilder()
    builder.variables("part", len(kind))
    builder.variables("attention", len(links))
    for name, factors in (*graph.factors, *contours.graph.factors):
        builder.add(name, factors)
    return JointModel(builder.build(), evidence, poses, links, image, parts.masks)
