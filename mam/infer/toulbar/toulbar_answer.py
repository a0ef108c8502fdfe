"""What toulbar2 answers about a network, from its report or from what it told on the way."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mam.infer.toulbar.costs import Costs

_SOLUTION = re.compile(r"^New solution: (\S+) .*\n((?: \d+)+) *\n", re.MULTILINE)
_BOUND = re.compile(r"(?:bounds|gap): \[([^,\s]+),|[Dd]ual bound: (\S+)")


@dataclass(frozen=True)
class ToulbarAnswer:
    """The best assignment of a network that was found, and what is proved about it.

    ``score`` is that of the values, and ``bound`` is exceeded by no score. toulbar2 counts in whole
    numbers: a proved assignment is optimal to within the ``resolution``.
    """

    values: np.ndarray | None  # the state of each variable, auxiliary ones included
    score: float  # -inf without values
    bound: float  # -inf if the network is impossible
    proved: bool  # that the values are optimal, or that there are none
    resolution: float
    seconds: float

    @property
    def impossible(self) -> bool:
        """Whether it is proved that no assignment is possible."""
        return self.proved and self.values is None

    @classmethod
    def none_possible(cls, seconds: float = 0.0) -> "ToulbarAnswer":
        """Say that a network has no possible assignment."""
        return cls(None, -math.inf, -math.inf, True, 0.0, seconds)

    @classmethod
    def of(cls, costs: Costs, report: Mapping[str, Any], seconds: float) -> "ToulbarAnswer":
        """Read a report of the worker: values, cost, bound, stopped."""
        if report["values"] is None and not report["stopped"]:
            return cls.none_possible(seconds)
        values = None if report["values"] is None else np.array(report["values"], np.int64)
        # No cost is negative.
        least = max(0.0, min(report["bound"], report["cost"]))
        return cls(
            values,
            -math.inf if values is None else costs.score(costs.cost(values)),
            costs.score(least) + costs.resolution,
            not report["stopped"],
            costs.resolution,
            seconds,
        )

    @classmethod
    def unknown(cls, costs: Costs, seconds: float = 0.0) -> "ToulbarAnswer":
        """Say of a network what is known without toulbar2."""
        return cls.told(costs, "", seconds)

    @classmethod
    def told(cls, costs: Costs, said: str, seconds: float) -> "ToulbarAnswer":
        """Read what toulbar2 printed until it was killed, the last line perhaps in part."""
        bounds = [float(a or b) for a, b in _BOUND.findall(said[: said.rfind("\n") + 1])]
        report = {"values": None, "cost": math.inf, "bound": max(bounds, default=0.0)}
        for cost, row in _SOLUTION.findall(said):
            if row.count(" ") == costs.variables:
                report |= {"values": [int(state) for state in row.split()], "cost": float(cost)}
        return cls.of(costs, report | {"stopped": True}, seconds)
