r"""The chain model of a chart whose lines are printed in several pens.

Beside the parts and the attention variables of `chain_model` every strand has a variable for the
pen that drew it, with what the picture says as evidence. An attention variable is the context in
which the pens of two strands depend on each other: ON, they are one,

.. math::
    f(a, p, q) = \begin{cases} 0 & a = 0 \text{ or } p = q \\ -\pi & \text{otherwise} \end{cases}

with the price :math:`\pi` of a pen that is mistaken. So the colour of a long stretch decides where
its line goes at crossings far away.
"""

import numpy as np
from jaxtyping import Float

from mam.factors import Table
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

_MISTAKEN = 6.0  # pi

PenFit = Float[np.ndarray, "strands pens"]


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
    >>> found = decide_by_pens(links, links, np.full(3, 4.0), pens, ContourPotentials())
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
    pen = builder.variables("pen", len(presence), states=pens.shape[1])
    first = np.arange(len(links)) + len(presence)
    price = np.zeros((2, pens.shape[1], pens.shape[1]))
    price[1] = -_MISTAKEN * (1 - np.eye(pens.shape[1]))
    scopes = np.concatenate([first[:, None], pen[links.stroke]], 1)
    builder.add("same pen", Table.of(scopes, np.tile(price, (len(links), 1, 1, 1))))
    evidence = {"part": presence, "attention": told.score, "pen": pens}
    found = solve(builder.build(), evidence, bound=bound)
    decided = read_links(found)
    drawn = np.asarray(found["pen"], np.int64)
    ends = drawn[links.stroke[decided.on]]
    score = score_of(links, decided.on, presence, potentials)
    score += float(pens[np.arange(len(pens)), drawn].sum())
    score -= _MISTAKEN * int((ends[:, 0] != ends[:, 1]).sum())
    return decided, certificate_of(found, score, links, told)
