"""Which rivals learn at all: ``python -m bench.rival_small --kinds resnet,convnext``.

Pathfinder images of 80 px with contours of 5 strokes and 4 distractors of 2, on which a network
needs minutes to leave chance on a CPU, and seconds on an accelerator. Prints the loss as it goes
(guessing: .693) and the share of 1,000 other images that are right; before that, by how much the
logits of images differ in the network that has learned nothing. ``--minutes 0`` tells that alone.
"""

import argparse
import os
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context

import numpy as np

from mam.core.resize import resized
from mam.data.generate.dashes import DashConfig
from mam.data.generate.pathfinder import PathfinderConfig, make_pathfinder

SIDE, TESTS, SEED, BATCH = 80, 1000, 5, 32
CONFIG = PathfinderConfig(
    dashes=replace(DashConfig(), size=140, border=12),
    seed_distance=20,
    long=(5, 5),
    distractors=((4, 2, 2),),
    stream=9,
)


def one(row: int) -> tuple[np.ndarray, int]:
    made = make_pathfinder(CONFIG, SEED, row)
    return resized(made.image, (SIDE, SIDE)), made.label


def images(count: int, workers: int) -> tuple[np.ndarray, np.ndarray]:
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        found = list(pool.map(one, range(count), chunksize=64))
    return np.stack([image for image, _ in found]), np.array([y for _, y in found], np.float32)


def learned(kind: str, x: np.ndarray, y: np.ndarray, options: argparse.Namespace) -> float:
    """Learn for some time; the share of the first images, which it has not seen, that are right."""
    import jax

    from mam.rivals.data import Batch, numbers_of
    from mam.rivals.norm import Moments, pooled
    from mam.rivals.settings import Settings
    from mam.rivals.train import answer, batch_moments, learn_batch, start

    count = len(x) - TESTS
    state = start(Settings(kind, "pathfinder", count, "", SIDE, BATCH, options.rate))
    print(
        f"{kind}: {spread_of(state.network, x[TESTS:]):.4f} between logits at the start", flush=True
    )
    if not options.minutes:
        return 0.0
    begin, losses, step = time.perf_counter(), [], 0
    while time.perf_counter() - begin < 60 * options.minutes:
        own = TESTS + numbers_of(step, count, BATCH, 0)
        state, loss = learn_batch(Batch(x[own], y[own]), state, options.rate)
        losses.append(float(loss))
        step += 1
        if step % 100 == 0:
            rate = step * BATCH / (time.perf_counter() - begin)
            print(f"{kind}: {step * BATCH:,} images, loss {np.mean(losses[-100:]):.4f}, ", end="")
            print(f"{rate:.0f} images/s", flush=True)
    batches = [x[at : at + BATCH] for at in range(TESTS, TESTS + 16 * BATCH, BATCH)]
    found = [batch_moments(state.network, batch) for batch in batches]
    moments = jax.tree.map(
        lambda *parts: pooled(parts), *found, is_leaf=lambda part: isinstance(part, Moments)
    )
    parts = [answer(state.network, moments, x[at : at + 100]) for at in range(0, TESTS, 100)]
    return float(((np.concatenate(parts) > 0) == (y[:TESTS] > 0)).mean())


def spread_of(network, x: np.ndarray) -> float:
    """The standard deviation of the logits of a batch."""
    import equinox as eqx
    import jax.numpy as jnp

    from mam.rivals.train import scaled

    answer = eqx.filter_jit(lambda network, x: network(scaled(x), network.moments(), True)[0])
    return float(answer(network, jnp.asarray(x[:BATCH])).std())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kinds", default="resnet,convnext,h-cnn")
    parser.add_argument("--images", type=int, default=23_000, help="learned from")
    parser.add_argument("--minutes", type=float, default=3.0, help="of learning, for each kind")
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    x, y = images(TESTS + options.images, options.workers)
    for kind in options.kinds.split(","):
        right = learned(kind, x, y, options)
        if options.minutes:
            print(f"{kind}: {100 * right:.1f} % right", flush=True)


if __name__ == "__main__":
    main()
