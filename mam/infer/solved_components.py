"""What is known of a batch of graphs while its components are solved one way after another."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from mam.graph import GraphUnion


@dataclass(frozen=True)
class SolvedComponents:
    """The components that are solved exactly; the others are left over."""

    union: GraphUnion
    solved: np.ndarray  # which variables are
    values: np.ndarray  # a best state of each of them, 0 for the others
    margins: np.ndarray  # what its next best state costs; NaN for the others
    impossible: np.ndarray  # graphs of which it is proved that they have no assignment
    ways: tuple[Mapping[str, int], ...]  # for each graph, how many components were solved how
