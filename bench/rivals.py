"""Images a second and parameters of the neural rivals: ``python -m bench.rivals [--smoke]``."""

import argparse
import time
from functools import partial

import jax
import numpy as np

from mam.core.workers import cores
from mam.rivals import networks
from mam.rivals.data import Batch, coming
from mam.rivals.hcnn import Hcnn
from mam.rivals.networks import NETWORKS, RivalNetwork, parameter_count
from mam.rivals.settings import Settings
from mam.rivals.tdhcnn import TdHcnn
from mam.rivals.train import answer, learn_batch, start


class _Small:
    """A network with small kernels and few steps, for a quick look on any machine."""

    def __init__(self, network: type) -> None:
        self.of = partial(network.of, kernel=3, steps=2)


def kernel_weights(network: RivalNetwork) -> int:
    """The weights of convolutions: without biases, norms and numbers of single channels."""
    arrays = jax.tree.leaves(network)
    return sum(array.size for array in arrays if getattr(array, "ndim", 0) == 4)


def random_batch(batch: int, side: int) -> Batch:
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (batch, side, side)).astype(np.uint8)
    return Batch(images, (np.arange(batch) % 2).astype(np.float32))


def rates(name: str, batch: int, side: int, steps: int) -> tuple[float, float, float]:
    """Seconds to compile and take the first step; images a second of learning and answering."""
    data = random_batch(batch, side)
    state = start(Settings(name, "pathfinder", batch, "", side, batch))
    begin = time.perf_counter()
    state, loss = learn_batch(data, state, 1e-3)
    jax.block_until_ready(loss)
    compiling = time.perf_counter() - begin
    begin = time.perf_counter()
    for _ in range(steps):
        state, loss = learn_batch(data, state, 1e-3)
    jax.block_until_ready(loss)
    learning = steps * batch / (time.perf_counter() - begin)
    moments = state.network.moments()
    jax.block_until_ready(answer(state.network, moments, data.images))
    begin = time.perf_counter()
    for _ in range(steps):
        logits = answer(state.network, moments, data.images)
    jax.block_until_ready(logits)
    return compiling, learning, steps * batch / (time.perf_counter() - begin)


def decoding(count: int, side: int) -> float:
    """Pictures decoded and reduced a second, by all threads."""
    from mam.data import encode_png, make_row, recipe
    from mam.data.read.labelled import LabelledPictures

    rows = [make_row(recipe("pathfinder", "hard", 0), number) for number in range(32)]
    pngs = [encode_png(row.image) for row in rows] * (count // 32)
    pictures = LabelledPictures("made", "pathfinder", pngs, np.zeros(len(pngs), np.uint8))
    begin = time.perf_counter()
    for _ in coming(pictures, side, 32, 0, range(len(pngs) // 32), cores()):
        pass
    return len(pngs) / (time.perf_counter() - begin)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--smoke", action="store_true", help="small networks and images")
    parser.add_argument("--kinds", default=",".join(NETWORKS), help="which")
    parser.add_argument("--batches", default="32,256", help="images in a step")
    parser.add_argument("--steps", type=int, default=20, help="steps that are timed")
    options = parser.parse_args()
    for name, network in NETWORKS.items():
        whole = network.of(jax.random.key(0))
        print(
            f"{name}: {parameter_count(whole):,} parameters, {kernel_weights(whole):,} in kernels"
        )
    side = 32 if options.smoke else 160
    if options.smoke:
        networks.NETWORKS = {**NETWORKS, "h-cnn": _Small(Hcnn), "td-h-cnn": _Small(TdHcnn)}  # type: ignore[assignment]
    batches, steps = ([8], 2) if options.smoke else (options.batches.split(","), options.steps)
    print(f"decoding: {decoding(64 if options.smoke else 4096, side):,.0f} images/s")
    print(f"{jax.devices()[0].device_kind}, images of {side} px; images/s")
    print(f"{'kind':10}{'batch':>7}{'compiling':>11}{'learning':>10}{'answering':>11}")
    for name in options.kinds.split(","):
        for batch in map(int, batches):
            compiling, learning, answering = rates(name, batch, side, steps)
            print(f"{name:10}{batch:7}{compiling:9.1f} s{learning:10,.0f}{answering:11,.0f}")


if __name__ == "__main__":
    main()
