"""UAI files: our answer and that of toulbar2 alone, with the same limit of time, in one run.

python -m bench.uai FOLDER [SECONDS]
"""

import sys
import time
from pathlib import Path

from mam.infer.toulbar import network_of, solve_in_process
from mam.models.uai import UaiModel, read_uai, read_uai_evidence


def main(folder: Path, seconds: float = 60.0) -> None:
    print(f"{'file':24s} {'ours: score':>14s} {'bound':>14s} {'gap':>8s} {'s':>6s}", end="  ")
    print(f"{'toulbar2: score':>16s} {'bound':>14s} {'gap':>8s} {'s':>6s}  how")
    for path in sorted(folder.glob("*.uai")):
        model = read_uai(path)
        beside = path.with_name(path.name + ".evid")
        observed = read_uai_evidence(beside, model) if beside.exists() else {}
        ours, how = _ours(model, observed, seconds)
        theirs = _theirs(model, observed, seconds)
        print(f"{path.stem:24s} {_shown(*ours)}  {_shown(*theirs):>47s}  {how}", flush=True)


def _ours(model: UaiModel, observed: dict, seconds: float) -> tuple[tuple, str]:
    start = time.perf_counter()
    # Elimination and compiling take a part of the time; toulbar2 and messages work side by side.
    answer = model.solve(
        observed,
        seconds=0.9 * seconds,
        message_seconds=0.7 * seconds,
        bound=True,
        tighten=30,
        restarts=4,
        precision="double",
    )
    found = answer.solution
    return (found.score, found.bound, time.perf_counter() - start), answer.method


def _theirs(model: UaiModel, observed: dict, seconds: float) -> tuple:
    start = time.perf_counter()
    found = solve_in_process(network_of(model.graph, model.evidence(observed)), seconds)
    taken = time.perf_counter() - start
    return model.in_file(found.score), model.in_file(found.bound), taken


def _shown(score: float, bound: float, seconds: float) -> str:
    return f"{score:14.4f} {bound:14.4f} {bound - score:8.3f} {seconds:6.1f}"


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(float, sys.argv[2:]))
