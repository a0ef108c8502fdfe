r"""One joint model of pixels, parts and attentions against the pipeline, on pathfinder images.

    python -m bench.joint hard-test.parquet --model paper.safetensors --limit 100

The model is one of `mam learn contours --preset paper`. Both answers are scored in the joint model;
the pipeline's is the sparsifier's best explanation, and the best attentions given that. `repaired`:
images that the pipeline has wrong and the joint model right, `spoiled` the other way round.

In the joint model (paper, "Connecting MAMs with images") every placement that might explain pixels
is a part variable with the prior as evidence. A pixel is observed, and an ``AnyOf`` of the parts
over it; every pair of parts that was seen as neighbours is an attention variable; and the
``Pattern`` factor of a part lets it be ON only as part of a contour.
The score of an answer is that of the sparsifier and of the contour model together,

.. math:: F(S) + \sum_{\text{links ON}} w + t \cdot \text{ends of contours},

where the pipeline maximises the first term alone, and then the others given its :math:`S`.
"""

import argparse
import time
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
from jaxtyping import Bool

from mam.core.growing import GrowingSizes
from mam.data import PathfinderRow, rows_of
from mam.graph import FactorGraph, GraphBuilder
from mam.infer import Solution, solve
from mam.vision.curves.chain_model import ContourPotentials, Links, contour_model
from mam.vision.curves.chains import group_numbers
from mam.vision.curves.strokes.co_occurrences import CoOccurrences
from mam.vision.curves.strokes.contour_answer import Grouping
from mam.vision.curves.strokes.contour_grouper import ContourGrouper
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


def pipeline(joint: JointModel) -> Solution:
    """Choose parts by the pixels alone; then solve the joint model with these parts ON or lost."""
    parts = len(joint.parts)
    alone = [group for group in joint.graph.factors if group[0] in ("pixel", "one")]
    cover = solve(_of(parts, alone), {"part": joint.evidence["part"]}, method="quick")
    chosen = np.where(cover["part"] == 1, joint.evidence["part"], -np.inf)
    return solve(joint.graph, {**joint.evidence, "part": chosen})


def _of(parts: int, factors: list) -> FactorGraph:
    builder = GraphBuilder()
    builder.variables("part", parts)
    for name, some in factors:
        builder.add(name, some)
    return builder.build()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data")
    parser.add_argument("--model", required=True)
    parser.add_argument("--limit", type=int, default=100)
    parser.add_argument("--slack", type=float, default=10.0, help="see joint_model")
    parser.add_argument("--seconds", type=float, default=10.0, help="for a hard component")
    options = parser.parse_args()
    grouper = ContourGrouper.load(options.model)
    seen, parts = grouper.continuation_, grouper.parts
    if not isinstance(seen, CoOccurrences) or not isinstance(parts, Parts):
        raise SystemExit(f"{options.model}: not a model of the preset paper")
    right, scores, spent, proved = [], [], [], []
    for row in islice(rows_of(options.data), options.limit):
        if not isinstance(row, PathfinderRow):
            raise SystemExit(f"{options.data}: not a pathfinder set of `mam make`")
        joint = joint_model(row.clean > 26, parts, seen, slack=options.slack)
        start = time.perf_counter()
        apart = pipeline(joint)
        middle = time.perf_counter()
        whole = solve(joint.graph, joint.evidence, seconds=options.seconds)
        spent.append((middle - start, time.perf_counter() - middle))
        both = apart, whole
        answers = [joint.grouping(one).same(*row.markers).same for one in both]
        right.append([answer == bool(row.label) for answer in answers])
        scores.append([one.score for one in both])
        proved.append([one.proof is not None for one in both])
    _print(np.array(right), np.array(scores), np.array(spent), np.array(proved))


def _print(right: np.ndarray, scores: np.ndarray, spent: np.ndarray, proved: np.ndarray) -> None:
    for k, name in enumerate(("pipeline", "joint")):
        print(
            f"{name:9} {100 * right[:, k].mean():6.2f} % right, score {scores[:, k].mean():9.2f}, "
            f"{100 * proved[:, k].mean():5.1f} % proved, {1e3 * np.median(spent[:, k]):7.1f} ms"
        )
    gained = scores[:, 1] - scores[:, 0]
    print(
        f"{len(right)} images: {int((right[:, 1] & ~right[:, 0]).sum())} repaired, "
        f"{int((right[:, 0] & ~right[:, 1]).sum())} spoiled; the joint score is higher in "
        f"{int((gained > 1e-4).sum())}, lower in {int((gained < -1e-4).sum())}"
    )


if __name__ == "__main__":
    main()
