"""One joint model of pixels, parts and attentions against the pipeline, on pathfinder images.

    python -m bench.joint hard-test.parquet --model paper.safetensors --limit 100

The model is one of `mam learn contours --preset paper`. Both answers are scored in the joint model;
the pipeline's is the sparsifier's best explanation, and the best attentions given that. `repaired`:
images that the pipeline has wrong and the joint model right, `spoiled` the other way round.
"""

import argparse
import time
from itertools import islice

import numpy as np

from mam.data import PathfinderRow, rows_of
from mam.graph import FactorGraph, GraphBuilder
from mam.infer import Solution, solve
from mam.vision.curves.strokes.co_occurrences import CoOccurrences
from mam.vision.curves.strokes.contour_grouper import ContourGrouper
from mam.vision.curves.strokes.joint_model import JointModel, joint_model
from mam.vision.parts.masks import Parts


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
