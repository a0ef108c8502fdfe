"""Exact answers by elimination: best assignments, max-marginals, log Z and marginals."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mam.graph import GraphUnion, Scores
from mam.infer.components import LARGEST_TABLE, Split, split
from mam.infer.solved_components import SolvedComponents
from mam.infer.tables import Passed, best_states, log_sum, maximum, pass_down, pass_up


@dataclass(frozen=True)
class Eliminated:
    """What elimination knows of a batch of graphs; other components are left over."""

    split: Split
    values: np.ndarray  # a best state of each variable that is solved, 0 for the others
    margins: np.ndarray  # what its next best state costs; NaN for the others
    impossible: np.ndarray  # graphs of which it is proved that they have no assignment

    @property
    def known(self) -> SolvedComponents:
        """The same, as all ways to solve components tell it."""
        union, owner = self.split.union, self.split.graph_of_component[self.split.exact]
        counts = np.bincount(owner, minlength=len(union.graphs))
        ways = tuple({"elimination": int(count)} if count else {} for count in counts)
        return SolvedComponents(
            union, self.split.solved, self.values, self.margins, self.impossible, ways
        )


def eliminate(
    union: GraphUnion,
    scores: Sequence[Scores],
    largest: float | int = LARGEST_TABLE,
    thorough: bool = True,
) -> Eliminated:
    """Solve every component whose tables stay below ``largest`` entries."""
    parts = split(union, scores, largest, thorough)
    network = parts.network
    passed = pass_up(network.tables, parts.plan, network.states, maximum)
    total = totals(parts, passed)
    count, twin = len(union.states), parts.twins.variable[: len(union.states)]
    values = best_states(passed, network.states)
    margins = np.full(len(network.states), np.nan)
    for variables, found in pass_down(passed, maximum):
        margins[variables] = _margins(found)
    fixed = network.fixed[:count]
    values = np.where(fixed >= 0, fixed, values[twin])
    margins = np.where(fixed >= 0, np.inf, margins[twin])
    return Eliminated(parts, values, margins, np.isneginf(total))


def totals(parts: Split, passed: Passed) -> np.ndarray:
    """What fixed variables and eliminated components contribute to each graph."""
    total = np.zeros(len(parts.union.graphs))
    for owners, found in parts.network.constants:
        total += np.bincount(parts.graph[owners], found, minlength=len(total))
    own = np.zeros(len(parts.exact))
    for last, found in passed.totals:
        own[parts.component[last]] = found
    total += np.bincount(parts.graph_of_component, own[parts.twins.first], minlength=len(total))
    total[parts.graph[parts.network.impossible]] = -np.inf
    return total


def log_partitions(
    union: GraphUnion, scores: Sequence[Scores], largest: float | int = LARGEST_TABLE
) -> tuple[np.ndarray, Split, Passed]:
    """Return log Z of each graph (of its solved components), and the passes for marginals."""
    parts = split(union, scores, largest)
    passed = pass_up(parts.network.tables, parts.plan, parts.network.states, log_sum)
    return totals(parts, passed), parts, passed


def _margins(found: np.ndarray) -> np.ndarray:
    """The best max-marginal less the next; inf where nothing else is possible."""
    top = np.partition(found, -2, axis=1)[:, -2:]
    with np.errstate(invalid="ignore"):
        return np.where(np.isneginf(top[:, 0]), np.inf, top[:, 1] - top[:, 0])
