"""Which part a disc marks: the paper's rule for the markers of pathfinder images."""

import numpy as np
from jaxtyping import Bool, Float, Int

from mam.vision.curves.strokes.poses import Poses

RADIUS = 5.0  # px, of a marker (facts, "Pathfinder model")


def part_in_disc(
    parts: Poses,
    masks: Bool[np.ndarray, "types side side"],
    links: Int[np.ndarray, " parts"],
    at: Float[np.ndarray, "2"],
) -> int:
    """Return the part that a disc marks; ``links`` counts the links of each part that are ON.

    Of the parts that cover pixels of the disc, by the number of pixels, the first that has exactly
    one link: an end of a contour. Without one, the nearest part.
    """
    radius = masks.shape[1] // 2
    from_middle = np.linalg.norm(parts.place - at, axis=1)
    near = np.flatnonzero(from_middle <= RADIUS + np.sqrt(2) * radius)
    steps = np.arange(-radius, radius + 1)
    rows = parts.place[near, :1] + steps - at[0]
    cols = parts.place[near, 1:] + steps - at[1]
    inside = rows[:, :, None] ** 2 + cols[:, None] ** 2 <= RADIUS**2
    covered = (inside & masks[parts.type[near]]).sum((1, 2))
    ends = (covered > 0) & (links[near] == 1)
    if ends.any():
        return int(near[np.where(ends, covered, 0).argmax()])
    return int(from_middle.argmin())
