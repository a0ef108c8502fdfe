"""Sparsify a line: explain pixels by as few parts as possible.

A part covers three pixels in a row and may stand anywhere. A pixel is the noisy OR of the parts
over it. A line of 3 K - 1 pixels needs K parts; the best explanation has no more.
"""

import numpy as np

from mam.factors import Or
from mam.graph import FactorGraph, GraphBuilder
from mam.infer import solve


def sparsifier(length: int) -> FactorGraph:
    builder = GraphBuilder()
    part = builder.variables("part", length)
    pixel = builder.variables("pixel", length)
    over = [part[max(0, i - 1) : i + 2] for i in range(length)]
    # pi01: a covered pixel is OFF (never); pi10: a pixel is ON although nothing covers it.
    builder.add("explains", Or.of(over, pixel, pi01=0.0, pi10=0.01))
    return builder.build()


def main(parts: int = 4, prior: float = 0.1) -> None:
    length = 3 * parts - 1
    evidence = {"part": np.full(length, np.log(prior)), "pixel": np.full(length, np.inf)}
    solution = solve(sparsifier(length), evidence, bound=True)
    print("pixels  " + "#" * length)
    for centre in np.flatnonzero(solution["part"]):
        first, last = max(0, centre - 1), min(length - 1, centre + 1)
        print("part    " + " " * first + "=" * (last - first + 1))
    print(f"{int(solution['part'].sum())} parts explain {length} pixels")
    print(f"{solution.explain()}; {parts} log {prior} = {parts * np.log(prior):.6g}")


if __name__ == "__main__":
    main()
