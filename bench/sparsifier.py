"""How many hard images (300 x 300) a second the sparsifier explains, and where the time goes."""

import time

import jax
import numpy as np

from bench.timing import seconds
from mam.core.growing import GrowingSizes
from mam.data import make_row, recipe
from mam.vision.images.binary import as_states, padded_batches
from mam.vision.parts.candidates import prune
from mam.vision.parts.cover import build_cover
from mam.vision.parts.masks import Parts
from mam.vision.parts.sparsifier import Sparsifier


def main(count: int = 128) -> None:
    made = recipe("pathfinder", "hard", 5)
    images = [make_row(made, row).clean > 26 for row in range(count)]
    parts = Parts.load("pathfinder-parts")
    print(f"sparsifier, {count} hard images on {jax.devices()[0].device_kind}:")
    for restarts in (4, 8):
        sparsifier = Sparsifier(parts, restarts=restarts)
        sparsifier.transform(images)  # compiles
        start = time.perf_counter()
        found = sparsifier.transform(images)
        spent = time.perf_counter() - start
        score = np.mean([one.score for one in found])
        print(f"  {restarts} restarts: {count / spent:.1f} images/s, mean score {score:.1f}")
    size = 1 if jax.default_backend() == "cpu" else 64
    _, canvas, sizes = next(
        padded_batches([as_states(image) for image in images], size, np.int8(0))
    )
    room = GrowingSizes()
    pruned = prune(canvas, sizes, parts, "strong", room)
    pruning = seconds(lambda: prune(canvas, sizes, parts, "strong", room))
    wiring = seconds(lambda: build_cover(canvas, sizes, pruned, parts, room))
    kept = pruned.count / size
    print(f"  pruning to {kept:.0f} candidates: {1e3 * pruning / size:.2f} ms an image")
    print(f"  wiring: {1e3 * wiring / size:.2f} ms an image")


if __name__ == "__main__":
    main()
