"""Matching of elastic graphs, beside the kernel that an earlier version had, in one run.

``python -m bench.matching COMMIT`` takes ``match.py`` of that commit from the history; the two are
timed in turn, and their places compared.
"""

import importlib.util
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import ModuleType

import jax
import jax.numpy as jnp
import numpy as np

from mam.vision.elastic import match as new
from mam.vision.elastic.bank import Bank
from mam.vision.elastic.placed_graphs import place_graphs

_LAST_KERNEL = "5f96f38"  # the last version with a message loop of its own


def main(commit: str = _LAST_KERNEL, repeats: int = 8) -> None:
    old = earlier(commit)
    bank = Bank.load("letters")
    bank = bank.take(np.arange(min(2000, len(bank))))
    device = jax.devices()[0].device_kind
    print(f"matching beside that of {commit}, on {device}:")
    for what, window, sweeps, count in (
        ("letters", 25, 1, 64),
        ("letters, paper", 25, 8, 32),
        ("refitted", 13, 1, 64),
        ("objects", 15, 1, 16),
        ("objects, many", 15, 1, 1024),
    ):
        if count <= 64 or jax.default_backend() != "cpu":
            compare(old, bank, what, window, sweeps, count, repeats)


def earlier(commit: str) -> ModuleType:
    """Load the matching of an earlier version."""
    path = f"{commit}:mam/vision/elastic/match.py"
    text = subprocess.run(["git", "show", path], check=True, capture_output=True, text=True).stdout
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "earlier_match.py"
        file.write_text(text)
        spec = importlib.util.spec_from_file_location(file.stem, file)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return module


def compare(
    old: ModuleType, bank: Bank, what: str, window: int, sweeps: int, count: int, repeats: int
) -> None:
    rng = np.random.default_rng(0)
    scores = jnp.asarray(rng.normal(0, 3, (1, 300, 300)).astype(np.float32))
    number, corner = rng.integers(0, len(bank), count), rng.integers(0, 200, (count, 2))

    def run(module: ModuleType):
        # Earlier versions placed graphs in the module that matched them.
        place, known = (place_graphs, bank.shapes) if module is new else (old.place_graphs, bank)
        graphs = place(known, np.zeros(count, np.int32), number, corner)
        return module.match(scores, graphs, -20.0, window, sweeps)

    found = [run(module) for module in (old, new)]
    times: list[list[float]] = [[], []]
    for _ in range(repeats):
        for module, own in zip((old, new), times, strict=True):
            start = time.perf_counter()
            run(module)
            own.append(time.perf_counter() - start)
    before, now = (1e3 * min(own) for own in times)
    differ = int((found[0].place != found[1].place).any((1, 2)).sum())
    print(
        f"  {what:15} {window} x {window}, {sweeps} sweeps, {count} candidates: {before:.0f} ms, "
        f"now {now:.0f} ms, {before / now:.2f} times; {differ} of {count} differ",
        flush=True,
    )


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else _LAST_KERNEL)
