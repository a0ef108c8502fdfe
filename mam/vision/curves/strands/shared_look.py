r"""What the look of strands says about one between them: curves that enter it leave it again.

At either node of a strand others begin. If each of those at one node has a strand of its colour at
the other, curves run over the strand together: with colours :math:`a_j` at its one node and
:math:`b_k` at the other, of which no two at one node are alike, it speaks for that by

.. math:: \min_j \max_k \exp\Bigl(-\frac{|a_j - b_k|^2}{2 \sigma^2}\Bigr)

(the lesser of both directions), from 0 to 1, times how much those at one node differ.
"""

import numpy as np
from jaxtyping import Float

from mam.vision.curves.strands.appearance import Looks, alike
from mam.vision.curves.strands.strands import Strands, degrees

_WEIGHT = 6.0  # log odds that go with it; it must outweigh a strand as long as the picture
_MOST = 4  # ends of a node up to which this is asked: more are a bundle


def shared_by_look(strands: Strands, looks: Looks) -> Float[np.ndarray, " strands"]:
    """The log odds, by the look of those around it, that each strand is shared."""
    found = np.zeros(len(strands))
    degree = degrees(strands.node)
    inner = (degree > 2).all(1) & (degree <= _MOST).all(1)
    inner &= strands.node[:, 0] != strands.node[:, 1]
    around: dict[int, list[int]] = {}
    for end, node in enumerate(strands.node.ravel().tolist()):
        around.setdefault(node, []).append(end // 2)
    for strand in np.flatnonzero(inner).tolist():
        here, there = (
            [one for one in around[node] if one != strand] for node in strands.node[strand].tolist()
        )
        same = alike(looks, np.array(here)[:, None], np.array(there))
        apart = min(_apart(looks, here), _apart(looks, there))
        found[strand] = apart * min(same.max(0).min(), same.max(1).min())
    return _WEIGHT * found


def _apart(looks: Looks, strands: list[int]) -> float:
    """How much any two of some strands differ, 0 to 1."""
    first, second = np.triu_indices(len(strands), 1)
    own = np.array(strands)
    return float(1 - alike(looks, own[first], own[second]).max())
