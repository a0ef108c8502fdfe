"""Elastic graphs: letters learned a second, and the time of each stage of answering an image."""

import time

import jax
import jax.numpy as jnp
import numpy as np

from bench.timing import seconds
from mam.data import CabcRow, make_row, recipe
from mam.data.raster import disc
from mam.factors import Padding, Window
from mam.tasks import cabc
from mam.vision.elastic.bank import Bank
from mam.vision.elastic.letters.finder import ObjectFinder
from mam.vision.elastic.letters.letter_forward import forward, part_scores
from mam.vision.elastic.letters.letter_pairs import pair_scores
from mam.vision.elastic.letters.letter_search import LetterLibrary, LetterSearchConfig
from mam.vision.elastic.match import match
from mam.vision.elastic.placed_graphs import place_graphs
from mam.vision.elastic.springs import elastic_edges
from mam.vision.parts.greedy import greedy_cover
from mam.vision.parts.masks import CABC
from mam.vision.parts.training import letter_masks


def main(rows: int = 60, graphs: int = 2000) -> None:
    device = jax.devices()[0].device_kind
    made = recipe("cabc", "hard", 11)
    data = [row for n in range(rows) if isinstance(row := make_row(made, n), CabcRow)]
    learning(data, device)
    bank = Bank.load("letters")
    stages(bank.take(np.arange(min(graphs, len(bank)))), data[:4], device)
    if jax.default_backend() != "cpu":
        many(bank.take(np.arange(90_000) % len(bank)), [row.image for row in data])


def learning(data: list[CabcRow], device: str) -> None:
    letters = [mask for row in data for mask in letter_masks(row)]
    greedy_cover(letters, disc(4), CABC)  # compiles
    vertices, cover = _timed(lambda: greedy_cover(letters, disc(4), CABC))
    elastic_edges(vertices)
    edges, joining = _timed(lambda: elastic_edges(vertices))
    counts = np.mean([len(v) for v in vertices]), np.mean([len(e.ends) for e in edges])
    print(f"elastic graphs on {device}: {len(letters) / (cover + joining):.0f} letters/s")
    print(f"  vertices {len(letters) / cover:.0f}/s, edges {len(letters) / joining:.0f}/s")
    print(f"  {counts[0]:.0f} vertices and {counts[1]:.0f} edges a letter")


def stages(bank: Bank, data: list[CabcRow], device: str) -> None:
    config = LetterSearchConfig()
    library, prepared = _timed(lambda: LetterLibrary.of(bank, config))
    read, reading = _timed(lambda: [cabc.read_image(row.image, "row") for row in data])
    state = read[0][0]
    evidence = np.where(state > 0, 1.0, state * config.off).astype(np.float32)[None]
    outside = -config.off * float(bank.mask.sum())
    scores = part_scores(jnp.asarray(evidence), bank.mask, -config.off)

    def first():
        return forward(
            scores, library.chunks, library.groups, config.forward, library.extent, outside
        )

    ranked = first() if library.on_device else jax.device_get(first())
    count = ranked.graph.shape[1]
    graphs = place_graphs(
        library.shapes,
        np.zeros(count, np.int32),
        ranked.graph[0].clip(0),
        ranked.anchor[0] - 5,
    )
    matched = match(scores, graphs, outside, config.window, config.sweeps)
    matching = seconds(lambda: match(scores, graphs, outside, config.window, config.sweeps), 3)
    shape = (1, count, -1)
    place, there = matched.place.reshape(*shape, 2), graphs.there.reshape(shape)
    pairs = seconds(
        lambda: pair_scores(place, there, state[None], bank.mask, config.pairs, stride=2), 3
    )
    finder = ObjectFinder.of(bank)
    images = [row.image for row in data]
    cabc.predict(images[:1], finder)  # compiles
    _, answering = _timed(lambda: cabc.predict(images[:1], finder))
    print(f"cABC with {len(bank)} graphs, {len(library.bank)} with variants, on {device}:")
    print(f"  library {prepared:.2f} s, once; reading an image {1e3 * reading / len(data):.0f} ms")
    print(f"  forward pass {1e3 * seconds(first, 3):.0f} ms")
    print(f"  matching {count} candidates {1e3 * matching:.0f} ms")
    print(f"  pairs of {count} candidates, every other row and column {1e3 * pairs:.0f} ms")
    print(f"  an image, all in: {1e3 * answering:.0f} ms")
    print(f"  window messages against all pairs of places: {_window_ratio():.0f} times")


def many(bank: Bank, images: list[np.ndarray]) -> None:
    """Batches of images against as many graphs as the paper learns."""
    finder = ObjectFinder.of(bank)
    for batch in (images[:1], images):
        _, compiling = _timed(lambda batch=batch: cabc.predict(batch, finder))
        _, answering = _timed(lambda batch=batch: cabc.predict(batch, finder))
        each = 1e3 * answering / len(batch)
        print(f"cABC, {len(batch)} images against {len(bank)} graphs: {each:.1f} ms an image")
        print(f"  the first time {compiling:.1f} s")
    most = (jax.devices()[0].memory_stats() or {}).get("peak_bytes_in_use", 0)
    print(f"  memory of the device: {most / 2**30:.2f} GiB at most")


def _window_ratio(count: int = 64, window: int = 25, radius: int = 2) -> float:
    """How much longer a listing of all pairs of places takes than a sliding maximum."""
    values = jax.random.normal(jax.random.key(0), (count, window * window))
    row, col = jnp.divmod(jnp.arange(window * window), window)
    far = jnp.maximum(abs(row[:, None] - row), abs(col[:, None] - col)) > radius
    factors = Window.of(np.zeros((count, 2), int), grid=(window, window), radius=radius)
    block = factors.plans(np.zeros(0), Padding(count), "windows")[0].block
    ours = jax.jit(lambda values: block.messages(jnp.zeros(0), (values, values), 0)[1])
    listed = jax.jit(lambda v: jnp.max(v[:, None] + jnp.where(far, -jnp.inf, 0.0), -1))
    both = jax.jit(lambda v: (listed(v), listed(v)))  # a factor has two messages
    return seconds(lambda: both(values), 3) / seconds(lambda: ours(values), 3)


def _timed(work):
    start = time.perf_counter()
    found = work()
    return found, time.perf_counter() - start


if __name__ == "__main__":
    main()
