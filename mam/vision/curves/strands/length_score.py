r"""How well curves that were found agree with courses that are known, by length.

With :math:`m` the length of courses that lies on the curve each is matched with, one to one and so
that it is greatest, the Dice coefficient of lengths is

.. math:: \frac{2 m}{\sum |\text{courses}| + \sum |\text{curves}|}.
"""

from collections.abc import Iterable, Sequence

import numpy as np
from scipy.optimize import linear_sum_assignment

from mam.vision.curves.courses import Contour, even_course
from mam.vision.curves.strands.curve_answer import CurveGrouping


def length_dice(answers: Iterable[tuple[CurveGrouping, Sequence[Contour]]]) -> float:
    """Return the Dice coefficient of lengths over all images; 1 where there is no curve at all."""
    matched = total = 0
    for found, courses in answers:
        even = [even_course(np.asarray(course, float))[:, :2] for course in courses]
        lines = [even_course(np.asarray(line, float)) for line in found.polylines]
        total += sum(map(len, even)) + sum(map(len, lines))
        masks = found.masks
        both = np.zeros((len(even), len(masks)))
        for number, points in enumerate(even):
            at = np.rint(points).astype(int)
            row, col = at[((at >= 0) & (at < masks.shape[1:])).all(1)].T
            both[number] = masks[:, row, col].sum(1)
        matched += both[linear_sum_assignment(-both)].sum()
    return float(2 * matched / total) if total else 1.0
