"""How many hard images (300 x 300) a second the sparsifier explains, and where the time goes."""

import time

import jax
import numpy as np

from bench.timing import seconds
from mam.core.growing import GrowingSizes
from mam.data import make_row, recipe
from mam.vision.images.binary import as_states, padded_batches
from mam.vision.parts.candidates import PartCandidates, prune
from mam.vision.parts.cover import cover_of, sparsifier_model
from mam.vision.parts.host_pruning import prune_on_host
from mam.vision.parts.islands import islands_of
from mam.vision.parts.masks import Parts
from mam.vision.parts.sparsifier import Sparsifier


def main(count: int = 128) -> None:
    made = recipe("pathfinder", "hard", 5)
    images = [make_row(made, row).clean > 26 for row in range(count)]
    parts = Parts.load("pathfinder-parts")
    print(f"sparsifier, {count} hard images on {jax.devices()[0].device_kind}:")
    sparsifier = Sparsifier(parts)
    sparsifier.transform(images)  # compiles
    start = time.perf_counter()
    found = sparsifier.transform(images)
    spent = time.perf_counter() - start
    score = np.mean([one.score for one in found])
    proved = np.mean([one.proof is not None for one in found])
    print(f"  {count / spent:.1f} images/s, mean score {score:.1f}, {100 * proved:.0f} % proved")
    states = [as_states(image) for image in images]
    size = 1 if jax.default_backend() == "cpu" else 64
    numbers, canvas = next(padded_batches(states, [size], np.int8(0)))
    sizes = np.array([states[number].shape for number in numbers])
    room = GrowingSizes()
    kept = np.asarray(prune(canvas, sizes, parts, "strong", room)[1]).sum() / size
    pruning = seconds(lambda: prune(canvas, sizes, parts, "strong", room))
    on_host = seconds(lambda: prune_on_host(states[:size], parts, "strong"))
    each = (
        f"{1e3 * on_host / size:.2f} ms an image in numpy, {1e3 * pruning / size:.2f} in programs"
    )
    print(f"  pruning to {kept:.0f} candidates: {each}")
    _islands(states[:32], parts)


def _islands(states: list[np.ndarray], parts: Parts) -> None:
    """What cutting images into islands takes, and what is left to solve."""
    models = [sparsifier_model(state > 0, parts, "strong") for state in states]
    image = np.repeat(np.arange(len(states)), [len(m.candidates.row) for m in models])
    row, column, kind = (
        np.concatenate([getattr(m.candidates, name) for m in models])
        for name in ("row", "column", "type")
    )
    listed = PartCandidates(image, row, column, kind)
    spent = seconds(lambda: islands_of(cover_of(listed, states, parts), True))
    islands = islands_of(cover_of(listed, states, parts), True)
    small = np.diff(islands.start)[islands.first] <= 16
    print(
        f"  {len(islands.like)} islands of {len(states)} images, {len(small)} distinct, "
        f"{small.sum()} of these solved by listing: {1e3 * spent / len(states):.2f} ms an image"
    )


if __name__ == "__main__":
    main()
