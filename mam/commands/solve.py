"""`mam solve`: the best assignment of a UAI model, with its certificate. Heavy imports inside."""

import json
import math
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mam.commands.command_options import JsonOption, QuietOption
from mam.commands.progress_bars import working
from mam.commands.solve_sums import sum_uai

if TYPE_CHECKING:
    from mam.models.uai import UaiAnswer

INFEASIBLE = 3  # exit code: no possible assignment was found; 2 is a mistake in the call

# Without --bound the dual descent still runs for its decodings, which often beat those of
# max-product on attractive models, but it need not come to rest.
_STEPS_WITHOUT_BOUND = 50


class SolveTask(StrEnum):
    """What is asked of a model."""

    MAP = "MAP"
    MAR = "MAR"
    PR = "PR"
    MMAP = "MMAP"


class SolveMethod(StrEnum):
    """How ``mam solve`` may answer."""

    auto = "auto"
    exact = "exact"
    max_product = "max-product"
    toulbar2 = "toulbar2"


def register(app: typer.Typer) -> None:
    """Add this verb to the application."""
    app.command()(solve)


def solve(
    file: Annotated[Path, typer.Argument(help="A model in the UAI format.")],
    evidence: Annotated[Path | None, typer.Option(help="Observed states, in UAI format.")] = None,
    method: Annotated[
        SolveMethod, typer.Option(help="auto is exact wherever that is cheap.")
    ] = SolveMethod.auto,
    bound: Annotated[bool, typer.Option("--bound", help="Bound the optimum from above.")] = False,
    task: Annotated[
        SolveTask,
        typer.Option(
            help="MAP: best assignment; MAR: probabilities of states; PR: log10 Z; MMAP: best "
            "states of the variables of --query, the others summed out."
        ),
    ] = SolveTask.MAP,
    query: Annotated[
        Path | None, typer.Option(help="MMAP: a file with the number of variables and which.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="The result, in the format of the UAI competition.")
    ] = None,
    seconds: Annotated[
        float | None, typer.Option(help="Time that MAP may take, about.", min=0.1)
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    restarts: Annotated[int, typer.Option(min=1, help="Runs; the best answer wins.")] = 8,
    seed: Annotated[int, typer.Option(min=0, help="Of the initial messages.")] = 0,
    iterations: Annotated[int, typer.Option(min=1, help="Of max-product, at most.")] = 200,
) -> None:
    """Find the best assignment of a UAI model. Exit code 3: no possible assignment was found.

    \b
    Examples:
      mam solve model.uai --evidence model.uai.evid --bound
      mam solve model.uai --task MAR --out model.uai.MAR
      mam solve model.uai --task MMAP --query model.uai.query --out model.uai.MMAP
    """
    from mam.core.whole_files import write_whole
    from mam.data.outputs import check_outputs

    check_outputs({f".{task.value}": [out]}, [file, evidence, query])
    if (query is None) == (task is SolveTask.MMAP):
        raise ValueError("--task MMAP and --query FILE go together")
    if not quiet and (unused := unused_evidence(file, evidence)):
        typer.echo(f"mam: not used: {unused}; add --evidence {unused} to use it", err=True)
    if task in (SolveTask.MAR, SolveTask.PR):
        with working("summing", quiet):
            answer = sum_uai(file, evidence, task.value)
        if out is not None:
            write_whole(out, answer.result().encode())
        typer.echo(answer.as_json() if as_json else answer.as_text())
        return
    with working("solving", quiet):
        answer = solve_uai(
            file,
            evidence,
            query,
            method=method.value,
            bound=bound,
            restarts=restarts,
            seed=seed,
            iterations=iterations,
            seconds=seconds,
        )
    if out is not None and answer.found.solution.feasible:
        write_whole(out, answer.result().encode())
    typer.echo(answer.as_json() if as_json else answer.as_text())
    raise typer.Exit(answer.exit_code)


@dataclass(frozen=True)
class SolveReport:
    """What the command prints."""

    found: "UaiAnswer"
    query: list[int] | None = None  # the variables of the assignment; None: all

    @property
    def exit_code(self) -> int:
        """0 for an assignment that is possible, 3 where none was found."""
        return 0 if self.found.solution.feasible else INFEASIBLE

    def as_json(self) -> str:
        """Return one JSON object; what is infinite or was not asked for is null."""
        solution = self.found.solution
        return json.dumps(
            {
                "score": _finite(solution.score),
                "bound": _finite(solution.bound),
                "gap": _finite(solution.gap),
                "feasible": solution.feasible,
                "violated": list(solution.violated),
                "proof": solution.proof,
                "converged": solution.converged,
                "iterations": solution.iterations,
                "assignment": self.found.assignment.tolist(),
                "method": self.found.method,
                **({} if self.query is None else {"query": self.query}),
            },
            allow_nan=False,
        )

    def result(self) -> str:
        """Return the file of the competition."""
        from mam.models.uai.results import map_result, mmap_result

        found = self.found.assignment
        return map_result(found) if self.query is None else mmap_result(self.query, found)

    def as_text(self) -> str:
        """Return a summary to read."""
        solution = self.found.solution
        lines = [f"score       {solution.score:.6f}  (natural logarithm)"]
        if solution.bound is not None:
            lines += [f"bound       {solution.bound:.6f}"]
        if solution.gap is not None:
            lines += [f"gap         {solution.gap:.6f}"]
        assignment = self.found.assignment
        shown = " ".join(map(str, assignment[:40].tolist()))
        more = f" ... ({len(assignment)} in all, see --json)"
        lines += [f"assignment  {shown}{more if len(assignment) > 40 else ''}"]
        if self.query is not None:
            lines += [f"of          {' '.join(map(str, self.query[:40]))}"]
        lines += [f"method      {self.found.method}"]
        return "\n".join([*lines, solution.explain()])


def solve_uai(
    path: Path,
    evidence: Path | None = None,
    query: Path | None = None,
    *,
    method: str = "auto",
    bound: bool = False,
    restarts: int = 8,
    seed: int = 0,
    iterations: int = 200,
    seconds: float | int | None = None,
) -> SolveReport:
    """Read a model and its evidence and solve it, exactly where that is cheap."""
    from mam.infer import Options
    from mam.models.uai import marginal_map, read_uai, read_uai_evidence, read_uai_query

    options = Options(
        method=method,
        iterations=iterations,
        restarts=restarts,
        seed=seed,
        precision="double",
        bound=True,
    )
    if not bound:
        options = replace(options, bound_steps=_STEPS_WITHOUT_BOUND, tighten=0)
    if seconds is not None:
        # toulbar2 has a tenth for itself, and the rest at the same time as the messages.
        options = replace(options, seconds=seconds, message_seconds=0.9 * seconds)
    model = read_uai(path)
    observed = {} if evidence is None else read_uai_evidence(evidence, model)
    wanted = None if query is None else read_uai_query(query, model)
    if wanted is None:
        found = model.solve(observed, options)
    else:
        found = marginal_map(model, wanted, observed, options)
    if not bound and any("max-product" in way for way in found.solution.ways):
        found = replace(found, solution=replace(found.solution, bound=None))
    return SolveReport(found, wanted)


def unused_evidence(path: Path, evidence: Path | None) -> Path | None:
    """Return the evidence file beside a model that was solved without one."""
    beside = path.parent / f"{path.name}.evid"
    return beside if evidence is None and beside.exists() else None


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
