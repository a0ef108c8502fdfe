r"""Which ends of pieces attend to which: a Markov Attention Model of chains, for a batch of images.

Every piece (a stroke, a strand) is a part with two sides. A pair of facing ends is an attention
variable with potential :math:`w`, and a member of one group at either piece. The ``Pattern`` factor
of a piece lets at most one attention of each side be ON; with the patterns 00, 01, 10 and 11 and
evidence p on the part it scores

.. math::
    0 \text{ alone}, \quad p + t \text{ at the end of a curve}, \quad p \text{ inside of one}

(presence :math:`p`, termination :math:`t < 0`). Nearly all components of such models are trees.

Where :math:`p = -2t`, a piece scores :math:`p / 2` for every side that is joined, whatever the
other does. Its sides are then parts by themselves, and the model falls apart at every piece.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from mam.core.columns import Columns
from mam.core.devices import by_device
from mam.core.schema import Setting, floats
from mam.factors import PatternSet
from mam.graph import FactorGraph, compile_graphs
from mam.infer import Options, Solution, solve
from mam.infer.certificate import Certificate
from mam.models import MarkovAttentionModel, PartKind, part_attention_model
from mam.models.parts import part_attention_graph

Presence = Float[np.ndarray, " strokes"]  # what a piece scores as part of a curve

# Fewer links than this are solved on the host before a program for them would be compiled. Without
# an accelerator none is: it would save .2 ms an image, and cost seconds.
_WORTH_COMPILING = 1 << 17


@dataclass(frozen=True)
class ContourPotentials:
    """What the factor of a piece scores."""

    presence: float = 4.0  # of a piece that is part of a curve, against one alone
    termination: float = -1.6  # of a curve's end (paper, "Pathfinder model")

    def __post_init__(self) -> None:
        if self.termination > 0:
            raise ValueError(f"termination is a penalty: {self.termination} should be at most 0")

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> "ContourPotentials":
        """Read the settings of a model file.

        Those written before version 0.2 also hold settings of messages, which nothing needs now.
        """
        return cls(**floats({field.name: config[field.name] for field in fields(cls)}))

    @property
    def least_link(self) -> float:
        """A link with no more than this is OFF in every best answer: without it, both of its
        pieces together lose less."""
        return -2 * max(self.presence + self.termination, -self.termination)


# What model files say of them; those written before version 0.2 say more.
POTENTIALS = {
    "presence": Setting(float, -1e6, 1e6),
    "termination": Setting(float, -1e6, 0.0),
    **{name: Setting(float, optional=True) for name in ("damping", "iterations", "noise")},
}


@dataclass(frozen=True, eq=False)
class Links(Columns):
    """Attention variables between ends of pieces: a batch of images, or one of them."""

    stroke: Int[np.ndarray, "links 2"]
    side: Int[np.ndarray, "links 2"]
    score: Float[np.ndarray, " links"]  # potential of the attention variable
    passage: Int[np.ndarray, " links"] | None = None  # the piece that shows it, -1 for a bridge

    def above(self, least: float) -> "Links":
        """Those that score more."""
        return self.take(self.score > least)


def contour_model(
    links: Links, presence: Presence, potentials: ContourPotentials
) -> tuple[MarkovAttentionModel, dict[str, np.ndarray]]:
    """Build the Markov Attention Model of some images, and the evidence to solve it with."""
    kind = two_sides(potentials)
    model = part_attention_model(links.stroke, links.side, kind, vertices=len(presence))
    return model, {"part": presence, "attention": links.score}


def two_sides(potentials: ContourPotentials) -> PartKind:
    """The patterns of a piece with two ends."""
    end = potentials.termination
    return PartKind(PatternSet.of([[0, 0], [0, 1], [1, 0], [1, 1]]), [0.0, end, end, 0.0])


def _solved_graph(
    links: Links, presence: Presence, potentials: ContourPotentials
) -> tuple[FactorGraph, dict[str, np.ndarray]]:
    """What is solved for the links: the contour model, or that of sides where it is the same."""
    if not (presence == -2 * potentials.termination).all():
        kind = two_sides(potentials)
        graph, _ = part_attention_graph(links.stroke, links.side, kind, vertices=len(presence))
        return graph, {"part": presence, "attention": links.score}
    side, sides = 2 * links.stroke + links.side, np.repeat(presence / 2, 2)
    kind = PartKind(PatternSet.of([[0], [1]]))
    graph, _ = part_attention_graph(side, np.zeros_like(side), kind, vertices=len(sides))
    return graph, {"part": sides, "attention": links.score}


class Decided(NamedTuple):
    """The states of links, with what is known of them."""

    on: Bool[np.ndarray, " links"]
    belief: Float[np.ndarray, " links"]  # what the other state costs: above 0 where ON, else below
    proved: Bool[np.ndarray, " links"]  # whether the best answer to its component is known


NO_LINKS = Decided(np.zeros(0, bool), np.zeros(0), np.zeros(0, bool))


class ChainSolver:
    """Decides links; remembers the sizes of arrays used so far, which has no part in any answer."""

    def __init__(self) -> None:
        self._room: Mapping[str, int] = {}

    def decide(self, links: Links, presence: Presence, potentials: ContourPotentials) -> Decided:
        """Return which links are ON in a best answer, and by how much.

        >>> links = Links(np.array([[0, 1]]), np.array([[1, 0]]), np.array([2.0]))
        >>> found = ChainSolver().decide(links, np.full(2, 4.0), ContourPotentials())
        >>> found.on.tolist(), found.belief.round(3).tolist(), found.proved.tolist()
        ([True], [6.8], [True])
        """
        if not len(links):
            return NO_LINKS
        graph, evidence = _solved_graph(links, presence, potentials)
        if by_device(False, len(links) >= _WORTH_COMPILING):
            graph = compile_graphs(graph, self._room)
            self._room = graph.room
        return read_links(solve(graph, evidence))

    def decide_each(
        self,
        links: Sequence[Links],
        presence: Sequence[Float[np.ndarray, "_"]],
        potentials: ContourPotentials,
        messages: Options | None = None,
    ) -> list[Decided]:
        """Decide the links of several images at once; the answers come by image.

        With ``messages``, settings of max-product, messages alone decide, whatever they come to.
        """
        if not links:
            return []
        if messages is not None:
            return self._by_messages(links, presence, potentials, messages)
        first = np.cumsum([0, *(len(some) for some in presence)])
        moved = [
            replace(some, stroke=some.stroke + at) for some, at in zip(links, first, strict=False)
        ]
        found = self.decide(Links.joined(moved), np.concatenate(presence), potentials)
        borders = np.cumsum([len(some) for some in links])[:-1]
        pieces = zip(*(np.split(values, borders) for values in found), strict=True)
        return [Decided(*piece) for piece in pieces]

    def _by_messages(
        self,
        links: Sequence[Links],
        presence: Sequence[Float[np.ndarray, "_"]],
        potentials: ContourPotentials,
        messages: Options,
    ) -> list[Decided]:
        """Every image is a graph of its own: its first messages do not depend on the others."""
        kind = two_sides(potentials)
        graphs = [
            part_attention_graph(some.stroke, some.side, kind, vertices=len(own))[0]
            for some, own in zip(links, presence, strict=True)
        ]
        evidence = [
            {"part": own, "attention": some.score}
            for some, own in zip(links, presence, strict=True)
        ]
        compiled = compile_graphs(graphs, self._room)
        self._room = compiled.room
        found = solve(compiled, evidence, messages)
        return [read_links(one) for one in (found if len(links) > 1 else [found])]


def read_links(found: Solution) -> Decided:
    """What a solution says of the attention variables of a chain model."""
    on = found["attention"] == 1
    # What was proved by search alone has no margins.
    margin = np.nan_to_num(found.margin("attention"), nan=0.0, posinf=np.inf)
    start = found.graph.group("attention").start
    return Decided(on, np.where(on, margin, -margin), found.proved[start : start + len(on)])


def certify(
    links: Links,
    found: Decided,
    presence: Presence,
    potentials: ContourPotentials,
    bound: bool = False,
) -> Certificate:
    """Certify the answer to one image; ``bound`` spends time on what is not proved."""
    score = score_of(links, found.on, presence, potentials)
    if found.proved.all():
        return Certificate(score, score, "exact")
    if not bound:
        return Certificate(score)
    model, evidence = contour_model(links, presence, potentials)
    return Certificate.below(score, float(solve(model.graph, evidence, bound=True).bound))


def certificate_of(found: Solution, score: float, links: Links, told: Links) -> Certificate:
    """Certify an answer with what is ``told`` of its links by the solution that it was read from.

    Evidence of infinite weight counts 0 there: the bound is without what demanded links score.
    """
    if found.proof is not None:
        return Certificate(score, score, found.proof)
    if found.bound is None:
        return Certificate(score)
    demanded = links.score[np.isposinf(told.score)].sum(dtype=np.float64)
    return Certificate.below(score, float(found.bound + demanded))


def score_of(
    links: Links, on: Bool[np.ndarray, " links"], presence: Presence, potentials: ContourPotentials
) -> float:
    """Return the score of an assignment, -inf if some end has two links that are ON."""
    if np.bincount((2 * links.stroke + links.side)[on].ravel()).max(initial=0) > 1:
        return -np.inf
    joins = np.bincount(links.stroke[on].ravel(), minlength=len(presence))
    factors = potentials.termination * (joins == 1).sum() + presence[joins > 0].sum()
    # Scores come in single precision; their sum must not end above the bound of the solver.
    return float(links.score[on].sum(dtype=np.float64) + factors)
