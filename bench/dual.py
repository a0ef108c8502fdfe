"""How tight the dual bound is and what it takes: ``python -m bench.dual``."""

import time
from collections.abc import Callable

import numpy as np

from mam.infer import Options, Solution, solve
from mam.models.examples import line_sparsifier
from tests.oracles import random_models

Model = Callable[[], tuple]


def _random(make: Callable, *sizes: int, seed: int = 0) -> Model:
    return lambda: make(np.random.default_rng(seed), *sizes)


def _attention(seed: int) -> tuple:
    model, evidence = random_models.attention_model(np.random.default_rng(seed), 20, 60)
    return model.graph, evidence


MODELS: dict[str, Model] = {
    **{f"line of {k} parts": lambda k=k: line_sparsifier(k) for k in (10, 20, 50)},
    **{
        f"sparsifier 40 x 30, {seed}": _random(random_models.sparsifier, 40, 30, seed=seed)
        for seed in range(3)
    },
    **{f"attention 20, 60, {seed}": lambda seed=seed: _attention(seed) for seed in range(3)},
    "potts 6 x 6, 5": _random(random_models.potts, 6, 5),
    "potts 10 x 10, 5": _random(random_models.potts, 10, 5),
    "spin glass 6 x 6": _random(random_models.spin_glass, 6),
    "spin glass 10 x 10": _random(random_models.spin_glass, 10),
    "spin glass 16 x 16": _random(random_models.spin_glass, 16),
    "line process 24 x 24, 8": _random(random_models.line_process, 24, 8),
    "line process 48 x 48, 8": _random(random_models.line_process, 48, 8),
}


def measure(make: Model, options: Options) -> tuple[Solution, float, float]:
    """Return the answer, and the seconds of the first call and of one that compiles nothing."""
    graph, evidence = make()
    taken = []
    for _ in range(2):
        start = time.perf_counter()
        found = solve(graph, evidence, options)
        taken.append(time.perf_counter() - start)
    return found, taken[0], taken[1]


def main() -> None:
    print(f"\n{'':26} {'linear program alone':>34} {'with clusters':>34}")
    columns = f"{'score':>10} {'gap':>9} {'first':>6} {'s':>6}"
    print(f"{'model':26} {columns} {columns}")
    for name, make in MODELS.items():
        print(f"{name:26}", end="", flush=True)
        for tighten in (0, 5):
            options = Options(method="max-product", bound=True, tighten=tighten)
            found, first, again = measure(make, options)
            print(f" {found.score:10.4f} {found.gap:9.5f} {first:6.1f} {again:6.2f}", end="")
        print(flush=True)


if __name__ == "__main__":
    main()
