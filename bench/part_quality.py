"""How well parts explain unseen images: ``python -m bench.part_quality --parts P --data D``.

Pathfinder rows also say where the strokes are: a stroke is found when a placed part's pixels have
their middle within 1 px of the stroke's and their long axis within 15 degrees of its angle.
"""

import argparse
import itertools
import json
import time
from collections.abc import Sequence

import numpy as np

from mam.data import AnyRow, PathfinderRow, rows_of
from mam.vision.parts.masks import Parts
from mam.vision.parts.placements import Placements, draw_placements
from mam.vision.parts.sparsifier import Sparsifier
from mam.vision.parts.training import binary_images

NEAR = 1.0  # px
ALIGNED = np.deg2rad(15)
STROKE = 5.0  # px, length of a pathfinder stroke


def axes(parts: Parts) -> tuple[np.ndarray, np.ndarray]:
    """Middle of each part's pixels from its middle pixel, and the angle of their long axis."""
    middles, angles = [], []
    for mask in parts.masks:
        pixels = np.argwhere(mask) - parts.radius
        middles.append(pixels.mean(0))
        along = np.linalg.eigh(np.cov(pixels.T))[1][:, 1] if len(pixels) > 1 else np.zeros(2)
        angles.append(np.arctan2(along[0], along[1]))
    return np.array(middles), np.array(angles)


def strokes_found(parts: Parts, found: Placements, row: PathfinderRow) -> tuple[int, int, int]:
    """Strokes with a part near, those of them with the right angle too, and all strokes."""
    strokes = np.array([s for contour in row.segments for s in contour])
    angle = strokes[:, 2]
    middle = strokes[:, :2] + STROKE / 2 * np.stack([np.sin(angle), np.cos(angle)], 1)
    middles, angles = axes(parts)
    placed = np.stack([found.row, found.column], 1) + middles[found.type]
    near = np.linalg.norm(middle[:, None] - placed[None], axis=2) <= NEAR
    turn = (angle[:, None] - angles[found.type][None] + np.pi / 2) % np.pi - np.pi / 2
    aligned = near & (np.abs(turn) <= ALIGNED)
    return int(near.any(1).sum()), int(aligned.any(1).sum()), len(strokes)


def measure(parts: Parts, rows: Sequence[AnyRow]) -> dict[str, object]:
    """Everything that is measured, over all rows."""
    masks = [(row, mask) for row in rows for mask in binary_images(row, "data")]
    start = time.perf_counter()
    placements = Sparsifier(parts, seed=0).transform([mask for _, mask in masks])
    seconds = time.perf_counter() - start
    on = explained = covered = near = aligned = strokes = 0
    usage = np.zeros(len(parts), int)
    for (row, mask), found in zip(masks, placements, strict=True):
        under = draw_placements(found, parts)
        on, covered = on + int(mask.sum()), covered + int(under.sum())
        explained += int((mask & under).sum())
        usage += np.bincount(found.type, minlength=len(parts))
        if isinstance(row, PathfinderRow):
            counts = strokes_found(parts, found, row)
            near, aligned, strokes = near + counts[0], aligned + counts[1], strokes + counts[2]
    result = {
        "images": len(masks),
        "explained": explained / on,
        "off_share": 1 - explained / covered,
        "placements_per_image": float(usage.sum() / len(masks)),
        "usage": usage.tolist(),
        "angles": sorted(np.rad2deg(axes(parts)[1] % np.pi).round(1).tolist()),
        "seconds_per_image": seconds / len(masks),
    }
    if strokes:
        result["placements_per_stroke"] = float(usage.sum() / strokes)
        result["strokes_near"] = near / strokes
        result["strokes_found"] = aligned / strokes
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parts", required=True, help="a model file or a bundled name")
    parser.add_argument("--data", required=True)
    parser.add_argument("--count", type=int, default=100, help="rows")
    parser.add_argument("--skip", type=int, default=0, help="rows before the first")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    rows = list(itertools.islice(rows_of(given.data), given.skip, given.skip + given.count))
    found = measure(Parts.load(given.parts), rows)
    if given.json:
        print(json.dumps(found))
        return
    for name, value in found.items():
        print(f"{name:22}{value:.4f}" if isinstance(value, float) else f"{name:22}{value}")


if __name__ == "__main__":
    main()
