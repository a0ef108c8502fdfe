r"""How much widths vary along strands: a pen keeps its width, a brush does not.

The variance of the logarithm of the width :math:`2 r + 1` px along each strand, averaged over
strands by length. Pens and ropes have deviations up to 0.3, from pixels and perspective.
"""

import numpy as np

from mam.vision.curves.strands.skeleton_cut import means_of
from mam.vision.curves.strands.strands import Strands

_LONG = 8.0  # widths of a strand that tells
_PEN = 0.3  # deviation of the logarithm, at most


def brush_variance(strands: Strands) -> float:
    """The mean variance of log widths along strands, 0 where it is that of a pen."""
    count = len(strands)
    long = strands.length > _LONG * strands.width
    if not long.any():
        return 0.0
    width = np.log(2 * strands.radius + 1)
    mean = means_of(width, strands.strand, count)
    square = means_of((width - mean[strands.strand]) ** 2, strands.strand, count)
    found = float(np.average(square[long], weights=strands.length[long]))
    return found if found > _PEN**2 else 0.0
