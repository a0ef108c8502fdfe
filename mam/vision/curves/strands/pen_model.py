r"""The chain model of a chart whose lines are printed in several pens.

Beside the parts and the attention variables of `chain_model` every strand has a variable for the
pen that drew it, with what the picture says as evidence. An attention variable is the context in
which the pens of two strands depend on each other: ON, they are one,

.. math::
    f(a, p, q) = \begin{cases} 0 & a = 0 \text{ or } p = q \\ -\pi & \text{otherwise} \end{cases}

with the price :math:`\pi` of a pen that is mistaken. So the colour of a long stretch decides where
its line goes at crossings far away. Where every line has a pen of its own, two strands that advance
side by side and are of one pen cost :math:`\pi`, too.
"""

import numpy as np

from mam.factors import Pairwise, Table
from mam.graph import GraphBuilder
from mam.infer import solve
from mam.infer.certificate import Certificate
from mam.models.parts import add_part_attention
from mam.vision.curves.chain_model import (
    ContourPotentials,
    Decided,
    Links,
    Presence,
    certificate_of,
    read_links,
    score_of,
    two_sides,
)
from mam.vision.curves.strands.pens import PenFit

_MISTAKEN = 6.0  # pi


def decide_by_pens(
    links: Links,
    told: Links,
    presence: Presence,
    pens: PenFit,
    potentials: ContourPotentials,
    bound: bool = False,
) -> tuple[Decided, Certificate]:
    """Decide the links of one picture; ``told`` are the same with what is known of them.

    >>> links = Links(np.array([[0, 2], [1, 2]]), np.array([[1, 0], [1, 0]]), np.array([1.0, 2.0]))
    >>> pens = np.array([[0.0, -9.0], [-9.0, 0.0], [0.0, -9.0]])
    >>> fit = PenFit(pens, np.array([[0, 1]]))
    >>> found = decide_by_pens(links, links, np.full(3, 4.0), fit, ContourPotentials())
    >>> found[0].on.tolist(), found[1].proof
    ([True, False], 'exact')
    """
    if not len(links):
        nothing = np.zeros(0, bool)
        return Decided(nothing, np.zeros(0), nothing), Certificate(0.0, 0.0, "exact")
    builder = GraphBuilder()
    add_part_attention(
        builder, links.stroke, links.side, two_sides(potentials), vertices=len(presence)
    )
    count = pens.each.shape[1]
    pen = builder.variables("pen", len(presence), states=count)
    first = np.arange(len(links)) + len(presence)
    price = np.zeros((2, count, count))
    price[1] = -_MISTAKEN * (1 - np.eye(count))
    scopes = np.concatenate([first[:, None], pen[links.stroke]], 1)
    builder.add("same pen", Table.of(scopes, np.tile(price, (len(links), 1, 1, 1))))
    if len(pens.differ):
        builder.add("other pen", Pairwise.of(pen[pens.differ], -_MISTAKEN * np.eye(count)))
    evidence = {"part": presence, "attention": told.score, "pen": pens.each}
    found = solve(builder.build(), evidence, bound=bound)
    decided = read_links(found)
    drawn = np.asarray(found["pen"], np.int64)
    ends = drawn[links.stroke[decided.on]]
    score = score_of(links, decided.on, presence, potentials)
    mistaken = (ends[:, 0] != ends[:, 1]).sum() + np.equal(*drawn[pens.differ].T).sum()
    score += float(np.take_along_axis(pens.each, drawn[:, None], 1).sum())
    score -= _MISTAKEN * int(mistaken)
    return decided, certificate_of(found, score, links, told)
