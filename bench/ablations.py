"""What inference of attentions is worth: the same strokes and pairs, decided in four ways.

    python -m bench.ablations hard-test.parquet --model contours --model paper.safetensors

`components`: every allowed pair is ON (of a smooth model, those likelier than not); `greedy`: pairs
are joined, the best first, where both ends are free and the score rises; `flooding`: max-product
with the paper's settings; `exact`: the proved optimum. Accuracy in per cent, and milliseconds an
image for deciding alone, after one run to compile.
"""

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np

from mam.data import PathfinderRow, rows_of
from mam.infer import Options
from mam.vision.curves.chain_model import ChainSolver, ContourPotentials, Decided
from mam.vision.curves.chains import group_numbers
from mam.vision.curves.strokes.contour_answer import Grouping
from mam.vision.curves.strokes.contour_grouper import ContourGrouper
from mam.vision.curves.strokes.presets import PRESETS

Decide = Callable[[Sequence[Grouping], ContourPotentials], list[Decided]]


def components(found: Sequence[Grouping], potentials: ContourPotentials) -> list[Decided]:
    """All allowed pairs."""
    return [_sure(one.links.score >= 0) for one in found]


def greedy(found: Sequence[Grouping], potentials: ContourPotentials) -> list[Decided]:
    """The best pair first, of equal ones the nearest, as long as the score rises."""
    return [_sure(_linked(one, potentials)) for one in found]


def by_solver(messages: Options | None) -> Decide:
    """Return what decides by ``ChainSolver``: by the messages given, or exactly."""
    solver = ChainSolver()

    def decide(found: Sequence[Grouping], potentials: ContourPotentials) -> list[Decided]:
        presence = [np.full(len(one.strokes), potentials.presence) for one in found]
        links = [one.links for one in found]
        return solver.decide_each(links, presence, potentials, messages)

    return decide


NAMES = ("components", "greedy", "flooding", "exact")


def ways() -> dict[str, Decide]:
    """All of them; solvers remember sizes of arrays."""
    messages = PRESETS["paper"].messages
    found = components, greedy, by_solver(messages), by_solver(None)
    return dict(zip(NAMES, found, strict=True))


def _sure(on: np.ndarray) -> Decided:
    return Decided(on, np.where(on, 1.0, -1.0), np.zeros(len(on), bool))


def _linked(found: Grouping, potentials: ContourPotentials) -> np.ndarray:
    links, middle = found.links, found.strokes.middle
    far = np.linalg.norm(np.diff(middle[links.stroke], axis=1)[:, 0], axis=1)
    used = np.zeros((len(middle), 2), bool)
    # What a stroke adds when its first end is joined, and when its second one is.
    gain = potentials.presence + potentials.termination, -potentials.termination
    on = np.zeros(len(links), bool)
    for link in np.lexsort((far, -links.score)):
        stroke, side = links.stroke[link], links.side[link]
        raised = links.score[link] + sum(gain[int(used[one].any())] for one in stroke)
        if not used[stroke, side].any() and raised > 0:
            used[stroke, side] = on[link] = True
    return on


def decided(found: Grouping, answer: Decided) -> Grouping:
    """The grouping with other links ON."""
    group = group_numbers(found.links.stroke, answer.on, len(found.strokes))
    return replace(found, on=answer.on, belief=answer.belief, group=group)


def measure(
    rows: Sequence[PathfinderRow], found: Sequence[Grouping], potentials: ContourPotentials
) -> dict[str, tuple[float, float]]:
    """Accuracy and milliseconds an image of every way."""
    figures = {}
    for name, decide in ways().items():
        decide(found, potentials)
        start = time.perf_counter()
        answers = decide(found, potentials)
        spent = 1e3 * (time.perf_counter() - start) / max(len(rows), 1)
        right = [
            decided(one, answer).same(*row.markers).same == bool(row.label)
            for row, one, answer in zip(rows, found, answers, strict=True)
        ]
        figures[name] = 100 * float(np.mean(right)), spent
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="+")
    parser.add_argument("--model", action="append", help="contours if none is given")
    parser.add_argument("--limit", type=int, default=None)
    options = parser.parse_args()
    print(f"{'data':26}{'model':22}" + "".join(f"{name:>22}" for name in NAMES))
    for source in options.data:
        coming = islice(rows_of(source), options.limit)
        rows = [row for row in coming if isinstance(row, PathfinderRow)]
        for model in options.model or ["contours"]:
            grouper = ContourGrouper.load(model)
            found = grouper.predict([row.clean for row in rows])
            figures = measure(rows, found, grouper.potentials or ContourPotentials())
            cells = "".join(f"{right:10.2f} %{spent:7.2f} ms" for right, spent in figures.values())
            print(f"{Path(source).stem:26}{Path(model).stem:22}{cells}", flush=True)


if __name__ == "__main__":
    main()
