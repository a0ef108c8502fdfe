r"""Whether a strand belongs to one curve, or is shared by several: learned log odds.

For a strand between two branchings, of length :math:`l` and width :math:`w` beside others of width
:math:`v`, that a single curve has it has the log odds :math:`\theta \cdot \psi` with

.. math:: \psi = \left(1, \; \log \frac{l}{v}, \; \log \frac{w}{v}, \; d\right)

where :math:`d` is 1 for a strand that dangles: fewer than three ends meet at one of its nodes, so
that no two curves can part there.
"""

import numpy as np
from jaxtyping import Float, Int

from mam.vision.curves.strands.strands import Strands, degrees

SHARING_TERMS = ("constant", "length", "width", "dangling")


def sharing_terms(strands: Strands) -> Float[np.ndarray, "strands terms"]:
    """Return what the log odds of every strand are made of."""
    beside = _width_beside(strands)
    dangling = (degrees(strands.node) < 3).any(1)
    return np.stack(
        [
            np.ones(len(strands)),
            np.log(np.maximum(strands.length, 1.0) / beside),
            np.log(strands.width / beside),
            dangling.astype(float),
        ],
        1,
    )


def _width_beside(strands: Strands) -> Float[np.ndarray, " strands"]:
    """The mean width of the other strands at either node; its own where there is none."""
    node: Int[np.ndarray, " ends"] = strands.node.ravel() + 1
    width = np.repeat(strands.width, 2)
    there = node > 0
    count = np.bincount(node, there.astype(float), minlength=1)
    total = np.bincount(node, width * there, minlength=1)
    others = (count[node] - 1).clip(0).reshape(-1, 2).sum(1)
    summed = np.where(there, total[node] - width, 0.0).reshape(-1, 2).sum(1)
    return np.where(others > 0, summed / np.maximum(others, 1), strands.width)
