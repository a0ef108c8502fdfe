"""The models by which the paper explains itself, drawn and solved."""

import io
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from mam.core.progress import Advance
from mam.infer import enumerate_exactly, solve
from mam.reproduce import toy_figures, toy_models
from mam.reproduce.experiment import Experiment, Prepared
from mam.reproduce.page_settings import SETTINGS, settings_table, time_told
from mam.reproduce.steps import Step, StepFolder
from mam.show.factor_graph import draw_dependences, draw_factor_graph
from mam.show.page import figure, page, paragraph, picture

_DPI = 110
_K, _PRIOR = 2, 0.1  # parts of the line, and the prior of one
_TITLE = "The models of the paper"
_ABOUT = "Small models, drawn, and solved by listing all their states."

Draw = Callable[[Any, np.ndarray], None]  # into a matplotlib figure's axes


@dataclass(frozen=True)
class ModelScale:
    """The models have one size; every scale draws them all."""


def _drawn(panels: int, draw: Draw, size: tuple[float, float], rows: int = 1) -> str:
    """A matplotlib figure of some panels, in rows, as a picture of the page."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ValueError(
            "matplotlib is not installed: pip install markov-attention[draw]"
        ) from None
    shown = Figure(figsize=size, layout="constrained", dpi=_DPI)
    draw(shown, np.ravel(shown.subplots(rows, panels // rows)))
    file = io.BytesIO()
    shown.savefig(file, format="png")
    return picture(np.asarray(Image.open(file).convert("RGB")), "factor graphs")


def gene_network() -> str:
    """Three panels: one factor for all, which variables depend on each other, and the MAM."""
    plain, model = toy_models.gene_mrf(), toy_models.gene_attention()

    def draw(_: Any, axes: np.ndarray) -> None:
        plain.draw(axes[0])
        names = [group.name for group in model.graph.variables]
        pairs = np.array(toy_models.dependent_pairs(model.graph))
        switches = model.attention.flags(len(names))
        draw_dependences(names, switches, pairs, axes[1])
        model.draw(axes[2])

    told = []
    for state in (0, 1):
        for other in "BD":
            free = model.independent("A", other, {"C": state})
            told.append(f"Where C is {state}, A and {other} are {'in' if free else ''}dependent.")
    caption = (
        "Left: an MRF of the genes, whose single factor joins all. Middle: the attention model's "
        "dependences; variables without a line are independent given the rest. Right: its factors."
    )
    return figure(_drawn(3, draw, (13.5, 4.2)), caption) + paragraph(" ".join(told))


def setting_of_two_lines() -> str:
    """The toy example: what is seen, the interaction graph, a factor of a line and of a segment."""

    def draw(_: Any, axes: np.ndarray) -> None:
        toy_figures.draw_setting(axes[0])
        toy_figures.draw_factor(toy_models.SEGMENTS, axes[1])
        toy_figures.draw_interactions(axes[2])
        toy_figures.draw_factor(3, axes[3])

    caption = (
        "Segments v, in rows and columns, form at most two lines P. An attention variable joins a "
        "line and a segment of it (grey), or two segments that continue each other (black). Those "
        "of a part form two groups, in dashed boxes: a part that is ON has exactly one of each ON, "
        "one that is OFF none."
    )
    return figure(_drawn(4, draw, (11.0, 8.6), rows=2), caption)


def two_lines() -> str:
    """The factor graph of the toy example, and the answer where segments alone are ambiguous."""
    model = toy_models.two_lines()
    seen = np.zeros((toy_models.ROWS, 2), bool)
    seen[[0, 1, 2, 3], [0, 1, 0, 1]] = True
    free = np.zeros(toy_models.LINES)
    part = np.concatenate([np.where(seen, np.inf, -np.inf).ravel(), free])
    answer = solve(model.graph, {"part": part}, bound=True, restarts=4)
    states = len(enumerate_exactly(model.graph).scores)
    whole = _drawn(1, lambda _, axes: model.draw(axes[0]), (9.5, 9.0))
    on = _drawn(1, lambda _, axes: model.draw(axes[0], values=answer.values), (9.5, 9.0))
    lateral = toy_models.lateral()
    pairs = zip(answer["attention"][-len(lateral) :], lateral, strict=True)
    name = toy_figures.name_of
    lines = [f"{name(a)} continues in {name(b)}" for there, (a, b) in pairs if there]
    given = ", ".join(name(segment) for segment in np.flatnonzero(seen.ravel()).tolist())
    return (
        setting_of_two_lines()
        + paragraph(
            f"{states} of the {2 ** len(model.graph.states):,} states are possible, all equally "
            f"likely. Segments {given} are seen: {'; '.join(lines)}."
        )
        + figure(whole, "All factors. Circles: segments and lines; hexagons: attentions.")
        + figure(on, "The answer. Pale: OFF; dotted: an attention that is OFF joins nothing.")
    )


def line_of_pixels() -> str:
    """The sparsifier of a line that needs two parts, with all of its best answers."""
    length = 3 * _K - 1
    graph = toy_models.line_of_pixels(length)
    numbers = range(1, length + 1)
    one = np.ones(1)
    evidence = {f"x{n}": np.log(_PRIOR) * one for n in numbers}
    evidence |= {f"I{n}": np.inf * one for n in numbers}
    exact = enumerate_exactly(graph, evidence)
    sets = sorted((np.flatnonzero(one[:length]) + 1).tolist() for one in exact.best)
    words = ", ".join("{" + ", ".join(f"x{n}" for n in some) + "}" for some in sets)
    none = np.zeros(len(graph.states), bool)
    shown = _drawn(1, lambda _, axes: draw_factor_graph(graph, none, axes[0]), (9.0, 3.6))
    said = f"Parts x, pixels I. The best answers for {length} ON pixels: {words}."
    return figure(shown, said)


_SECTIONS = {
    "The gene network": gene_network,
    "Two lines": two_lines,
    "A line of five pixels": line_of_pixels,
}


def _prepared(
    store: StepFolder, size: ModelScale, name: str, data: Path | None, rivals: Path | None
) -> Prepared:
    for option, given in (("data", data), ("rivals", rivals)):
        if given is not None:
            raise ValueError(f"--{option} {given}: these models take none")

    def work(draw: Callable[[], str], path: Path, advance: Advance) -> str:
        return draw()

    steps = {
        title: Step(title.lower(), {"drawing": title}, partial(work, draw))
        for title, draw in _SECTIONS.items()
    }

    def whole_page(command: str) -> str:
        told = {
            "command": command,
            "experiment": "models",
            "time": time_told(store, list(steps.values())),
        }
        drawn = [(title, store.result(step)) for title, step in steps.items()]
        return page(_TITLE, _ABOUT, [*drawn, (SETTINGS, settings_table(told))])

    def summary() -> dict[str, Any]:
        seconds = round(store.seconds(list(steps.values())), 1)
        return {"experiment": "models", "figures": list(steps), "seconds": seconds}

    return Prepared(store, list(steps.values()), whole_page, summary)


MODELS = Experiment({name: ModelScale() for name in ("smoke", "small", "paper")}, _prepared)
