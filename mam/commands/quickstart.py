"""``mam quickstart``: a first model, solved with its certificate, and its picture."""

import json
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from mam.infer import Solution, enumerate_exactly, solve
from mam.models import MarkovAttentionModel
from mam.models.examples import gene_network

_STORY = """\
Gene A induces gene B, unless compound C is there: then A induces gene D instead.
B and D repress each other. The attention variables AB and AD say which gene A acts on.
"""
_CONTEXTS: tuple[dict[str, int], ...] = ({}, {"A": 1, "C": 0}, {"A": 1, "C": 1})
_QUESTIONS = (
    ("A", "B", {"C": 0}),
    ("A", "B", {"C": 1}),
    ("A", "D", {"C": 0}),
    ("A", "D", {"C": 1}),
    ("A", "B", {}),
    ("A", "D", {}),
)
_FORMATS = "png", "pdf", "svg"


@dataclass(frozen=True)
class Answer:
    """The best assignment in one context, and how many assignments are as good."""

    given: dict[str, int]
    solution: Solution
    ties: int

    def assignment(self) -> dict[str, int]:
        """Return the state of each variable by its name."""
        return {name: int(state) for name, state in self.solution.assignment.items()}

    def as_dict(self) -> dict[str, object]:
        """Return what ``--json`` prints of it."""
        solution = self.solution
        return {
            "given": self.given,
            "assignment": self.assignment(),
            "score": solution.score,
            "bound": solution.bound,
            "gap": solution.gap,
            "optimal": solution.optimal,
            "ties": self.ties,
            "converged": solution.converged,
            "iterations": solution.iterations,
        }

    def as_text(self) -> str:
        """Return one line of the table."""
        states = self.assignment()
        shown = " ".join(str(states[name]) for name in "ABCD")
        attention = " ".join(("OFF", "ON ")[states[name]].ljust(3) for name in ("AB", "AD"))
        solution = self.solution
        numbers = f"{solution.score:6.3f} {solution.bound:6.3f} {solution.gap:6.3f}"
        verdict = "proved optimal" if solution.optimal else "not proved"
        shared = f", with {self.ties - 1} other" if self.ties > 1 else ""
        return f"  {_given(self.given):13} {shown}  {attention}  {numbers}  {verdict}{shared}"


@dataclass(frozen=True)
class Quickstart:
    """All that the command found out."""

    answers: tuple[Answer, ...]
    independences: tuple[tuple[str, str, dict[str, int], bool], ...]
    picture: Path

    def as_json(self) -> str:
        """Return one JSON object."""
        return json.dumps(
            {
                "answers": [answer.as_dict() for answer in self.answers],
                "independences": [
                    {"x": x, "y": y, "given": given, "independent": independent}
                    for x, y, given, independent in self.independences
                ],
                "picture": str(self.picture),
            },
            allow_nan=False,
        )

    def as_text(self) -> str:
        """Return a page to read."""
        lines = [_STORY, "The best states of the genes, by max-product:", ""]
        lines += ["  given         A B C D  AB  AD    score  bound    gap"]
        lines += [answer.as_text() for answer in self.answers]
        lines += ["", "No assignment scores above the bound; a gap of 0 proves the answer optimal."]
        lines += ["", "Independent, once the other genes are known?", ""]
        lines += [
            f"  {x} and {y} {_context(given):12} {'yes' if independent else 'no'}"
            for x, y, given, independent in self.independences
        ]
        lines += ["", "A plain MRF over A, B, C, D has no such cut: it must join every pair."]
        return "\n".join([*lines, f"The factor graph is drawn in {self.picture}"])


def quickstart(out: Path) -> Quickstart:
    """Solve the gene network in three contexts and draw it."""
    _check(out)
    genes = gene_network()
    answers = tuple(_answer(genes, given) for given in _CONTEXTS)
    independences = tuple((x, y, g, genes.independent(x, y, g)) for x, y, g in _QUESTIONS)
    _draw(genes, answers[1:], out)
    return Quickstart(answers, independences, out)


def _answer(genes: MarkovAttentionModel, given: dict[str, int]) -> Answer:
    evidence = {name: np.inf if state else -np.inf for name, state in given.items()}
    solution = solve(genes.graph, evidence, bound=True)
    return Answer(given, solution, len(enumerate_exactly(genes.graph, evidence).best))


def _given(given: dict[str, int]) -> str:
    return ", ".join(f"{name} = {state}" for name, state in given.items()) or "nothing"


def _context(given: dict[str, int]) -> str:
    return f"given {_given(given)}" if given else "whatever C"


def _check(out: Path) -> None:
    if out.suffix.removeprefix(".").lower() not in _FORMATS:
        raise ValueError(f"the picture {out} should end in .{', .'.join(_FORMATS)}")
    if not out.parent.is_dir():
        raise ValueError(f"there is no folder {out.parent} for the picture {out.name}")


def _draw(genes: MarkovAttentionModel, answers: tuple[Answer, ...], out: Path) -> None:
    figure = Figure(figsize=(10.5, 4.4), layout="constrained")
    for axes, answer in zip(figure.subplots(1, len(answers)), answers, strict=True):
        genes.draw(axes, values=answer.solution.values)
        states = answer.assignment()
        attends = ", ".join(name for name in ("AB", "AD") if states[name])
        axes.set_title(f"given {_given(answer.given)}: {attends} is ON", fontsize=11)
    figure.supxlabel(
        "pale: OFF; dotted: an attention variable that is OFF joins nothing", fontsize=8
    )
    partial = out.with_name(f".{out.name}.{os.getpid()}.partial")
    try:
        figure.savefig(partial, format=out.suffix[1:].lower(), dpi=100)
        partial.replace(out)
    finally:
        partial.unlink(missing_ok=True)
