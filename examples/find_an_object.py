"""Learn an object from a few photographs with masks, and find it in a new one.

The photographs are generated, so the true mask of the new one is known:

    python examples/find_an_object.py
"""

import numpy as np

from mam import ObjectDetector
from mam.data import ObjectsConfig, make_objects

CONFIG = ObjectsConfig(rows=160, cols=200, objects=2, frames=2, clutter=(4, 8), turn=6.0)
KNOWN = [0, 1, 4, 5, 8, 9]  # scenes 0, 2 and 4 show object 0


def main() -> None:
    rows = [make_objects(CONFIG, 1, row) for row in KNOWN]
    detector = ObjectDetector(graphs=40).fit(
        [row.image for row in rows], [row.mask for row in rows], names=[row.name for row in rows]
    )
    new = make_objects(CONFIG, 1, 12)
    [found] = detector.find(new.image)
    overlap = (found.mask & new.mask).sum() / (found.mask | new.mask).sum()
    print(f"{found.name} is there: {found.there}")
    print(f"{len(found.vertices)} edges of it were placed, graph {found.graph} fits best")
    print("IoU with the true mask above 0.75:", bool(overlap > 0.75))

    [nothing] = detector.find(np.full_like(new.image, 128))
    print(f"in a picture without edges it is there: {nothing.there}")


if __name__ == "__main__":
    main()
