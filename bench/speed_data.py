"""Rows per second of every generator, encoding included, on one core."""

import itertools
import time

from mam.data.generate.make import LEVELS, Recipe, make_records

SECONDS = 2.0  # per level
TARGETS = {("pathfinder", "hard"): 20, ("pathfinder", "ultimate"): 5, ("cabc", "hard"): 20}


def rate(recipe: Recipe, seconds: float = SECONDS) -> float:
    """Rows per second, PNG encoding included."""
    make_records(recipe, 0, 1)  # faces and sprites are drawn once
    start = time.perf_counter()
    for row in itertools.count(1):
        make_records(recipe, row, row + 1)
        spent = time.perf_counter() - start
        if spent > seconds:
            return row / spent
    raise AssertionError("unreachable")


def main() -> None:
    print(f"{'generator':12}{'level':10}{'rows/s':>8}{'target':>8}")
    for kind, levels in LEVELS.items():
        for level, config in levels.items():
            target = TARGETS.get((kind, level), "")
            print(f"{kind:12}{level:10}{rate(Recipe(kind, config, 0)):8.1f}{target!s:>8}")


if __name__ == "__main__":
    main()
