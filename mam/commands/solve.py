"""``mam solve``: the best assignment of a UAI model, with its certificate."""

import json
import math
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from mam.infer import Options, Solution, solve
from mam.models.uai import UaiModel, read_uai, read_uai_evidence
from mam.models.uai.model import Observed

# Without --bound the dual descent still runs for its decodings, which often beat those of
# max-product on attractive models, but it need not come to rest.
_STEPS_WITHOUT_BOUND = 50


@dataclass(frozen=True)
class Answer:
    """A solution in the numbering of the file, its score with all constants of the file."""

    solution: Solution
    assignment: list[int]

    def as_json(self) -> str:
        """Return one JSON object; what is infinite or was not asked for is null."""
        solution = self.solution
        return json.dumps(
            {
                "score": _finite(solution.score),
                "bound": _finite(solution.bound),
                "gap": _finite(solution.gap),
                "converged": solution.converged,
                "iterations": solution.iterations,
                "assignment": self.assignment,
            },
            allow_nan=False,
        )

    def as_text(self) -> str:
        """Return a summary to read."""
        solution = self.solution
        lines = [f"score       {solution.score:.6f}  (natural logarithm)"]
        if solution.bound is not None:
            lines += [f"bound       {solution.bound:.6f}", f"gap         {solution.gap:.6f}"]
        shown = " ".join(map(str, self.assignment[:40]))
        more = f" ... ({len(self.assignment)} in all, see --json)"
        lines += [f"assignment  {shown}{more if len(self.assignment) > 40 else ''}"]
        return "\n".join([*lines, solution.explain()])


def solve_uai(
    path: Path,
    evidence: Path | None = None,
    *,
    bound: bool = False,
    restarts: int = 8,
    seed: int = 0,
    iterations: int = 200,
) -> Answer:
    """Read a model and its evidence and solve it in double precision."""
    options = Options(
        iterations=iterations, restarts=restarts, seed=seed, precision="double", bound=True
    )
    if not bound:
        options = replace(options, bound_steps=_STEPS_WITHOUT_BOUND)
    model = read_uai(path)
    observed = {} if evidence is None else read_uai_evidence(evidence, model)
    solution = _solved(model, observed, options)
    if not bound:
        solution = replace(solution, bound=None)
    assignment = model.in_file_order(solution.values)
    assignment[list(observed)] = list(observed.values())
    return Answer(solution, assignment.tolist())


def unused_evidence(path: Path, evidence: Path | None) -> Path | None:
    """Return the evidence file beside a model that was solved without one."""
    beside = path.with_name(path.name + ".evid")
    return beside if evidence is None and beside.exists() else None


def _solved(model: UaiModel, observed: Observed, options: Options) -> Solution:
    if not model.graph.variables:
        nothing = np.zeros(0)
        only = model.constant
        return Solution(model.graph, nothing.astype(int), nothing, only, only, True, 0, ())
    solution = solve(model.graph, model.evidence(observed), options)
    score = solution.score + model.constant
    # The two are rounded apart; a bound just below the score would be no bound.
    bound = max(solution.bound + model.constant, score)
    return replace(solution, score=score, bound=bound)


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
