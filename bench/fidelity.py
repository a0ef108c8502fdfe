"""Generated images against published ones: two-sample tests of every statistic, per level.

    python -m bench.fidelity --data DIR --count 300

DIR holds pathfinder/LEVEL-train.parquet (or -test) and cabc/LEVEL-train.parquet.
"""

import argparse
import itertools
import warnings
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from scipy import stats as tests

from bench.stats import cabc_stats, pathfinder_stats
from mam.data import LEVELS, Recipe, make_row, rows_of

LIMIT = 0.10  # of the published mean


def collect(rows: Iterable, measure) -> dict[str, np.ndarray]:
    found: dict[str, list[float]] = {}
    for row in rows:
        for name, values in measure(row).items():
            found.setdefault(name, []).extend(values)
    return {name: np.array(values) for name, values in found.items()}


def compare(theirs: dict[str, np.ndarray], ours: dict[str, np.ndarray]) -> list[tuple]:
    """(statistic, their mean, our mean, relative difference, KS distance, KS p, t-test p)."""
    table = []
    for name, published in theirs.items():
        made = ours[name]
        off = (made.mean() - published.mean()) / published.mean()
        shape = tests.ks_2samp(published, made, method="asymp")
        same = np.ptp(published) == 0 and np.ptp(made) == 0
        with warnings.catch_warnings():
            # Counts that hardly ever vary make the variance's rounding visible.
            warnings.simplefilter("ignore", RuntimeWarning)
            means = 1.0 if same else tests.ttest_ind(published, made, equal_var=False).pvalue
        table.append(
            (name, published.mean(), made.mean(), off, shape.statistic, shape.pvalue, means)
        )
    return table


def published_file(data: Path, kind: str, level: str) -> Path | None:
    for part in ("train", "test"):
        path = data / kind / f"{level}-{part}.parquet"
        if path.exists():
            return path
    return None


def report(title: str, table: list[tuple]) -> list[str]:
    print(f"\n{title}")
    print(f"{'statistic':30}{'published':>11}{'mam':>11}{'off':>8}{'KS':>7}{'KS p':>9}{'t p':>9}")
    worst = []
    for name, theirs, ours, off, distance, p_shape, p_mean in table:
        # A coin's mean is off by more than 10 % by chance; its test is the one that counts.
        late = p_mean < 0.001 if name == "label" else abs(off) > LIMIT
        note = " <-- OFF" if late else ""
        print(
            f"{name:30}{theirs:11.3f}{ours:11.3f}{off:+8.1%}{distance:7.3f}"
            f"{p_shape:9.2g}{p_mean:9.2g}{note}"
        )
        if late:
            worst.append(f"{title}: {name} {off:+.1%}")
    return worst


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", choices=["pathfinder", "cabc"])
    options = parser.parse_args()
    worst = []
    for kind, measure in (("pathfinder", pathfinder_stats), ("cabc", cabc_stats)):
        if options.kind not in (None, kind):
            continue
        for level, config in LEVELS[kind].items():
            path = published_file(options.data, kind, level)
            if path is None:
                print(f"\n{kind} {level}: no published file under {options.data}, skipped")
                continue
            theirs = collect(itertools.islice(rows_of(str(path)), options.count), measure)
            recipe = Recipe(kind, config, options.seed)
            ours = collect((make_row(recipe, k) for k in range(options.count)), measure)
            worst += report(f"{kind} {level} (against {path.name})", compare(theirs, ours))
    if worst:
        raise SystemExit("\n" + "\n".join(worst))
    print("\nwithin 10 % everywhere")


if __name__ == "__main__":
    main()
