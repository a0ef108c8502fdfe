"""How well the links of an answer agree with the true ones."""

from collections.abc import Iterable

import numpy as np
from jaxtyping import Int

LinkedPairs = Int[np.ndarray, "_ 2"]  # two numbers of what is linked, in any order


def link_f1(answers: Iterable[tuple[LinkedPairs, LinkedPairs]]) -> float:
    """Return 2 both / (found + true) over the links of all images, each found and true.

    >>> link_f1([(np.array([[0, 1], [2, 1]]), np.array([[1, 2]]))])
    0.6666666666666666

    Where there are none and none were found it is 1.
    """
    both = total = 0
    for pairs in answers:
        found, true = (set(map(tuple, np.sort(some, axis=1).tolist())) for some in pairs)
        both += len(found & true)
        total += len(found) + len(true)
    return 2 * both / total if total else 1.0
