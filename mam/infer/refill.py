r"""Good answers to large components of weighted ORs and limits: a few are torn out and refilled.

Variables go ON one after another, the most worthwhile first, while that raises the score. Then, in
each step, one that is ON and up to three of its neighbours go OFF, and what has become worthwhile
goes ON again, in an order that is a little shaken. A step that lowers the score by :math:`d` is
kept with the probability :math:`e^{-d / t}`, else undone; :math:`t` falls to 0. The best answer on
the way is returned. Where a limit demands more members than are worthwhile, the best of them go ON
at a loss.

Nothing is compiled, and a step takes some dozens of microseconds. What it finds for letters is
better than what messages from eight starts find, in less time (``python -m bench.refill``).
"""

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Bool, Int

from mam.factors import Ragged
from mam.graph import FactorGraph, GraphUnion, union_scores
from mam.graph.evidence import Evidence
from mam.infer.score import graph_scores
from mam.infer.solution import Solution
from mam.infer.weighted_ors import WeightedOrs

WAY = "refilling"
_STEPS = 100  # for each variable that is ON at first
_FEWEST_STEPS, _MOST_STEPS = 1_000, 10_000
_NEIGHBOURS = 3  # that leave together with a variable, at most
_CHANCE = 0.25  # that the first to return is any of them
_SHAKE = 0.1  # of what the others are worth when they return
_WARMTH = 0.1  # t at first, of what a variable that is ON is worth on average
_LEAST = 1e-9  # less is no rise


def refill(graph: FactorGraph, evidence: Evidence | None, seed: int) -> Solution | None:
    """Return a good answer; None if the graph is not of this form, or demands cannot be met.

    >>> from mam.factors import AnyOf
    >>> from mam.graph import GraphBuilder
    >>> builder = GraphBuilder()
    >>> x = builder.variables("x", 3)
    >>> builder.add("any", AnyOf.of([[0, 1], [1, 2]], some=[2.0, 2.0]))
    >>> found = refill(builder.build(), {"x": [-1.5, -1.0, -1.5]}, seed=0)
    >>> found["x"].tolist(), found.score
    ([0, 1, 0], 3.0)
    """
    union = GraphUnion.of(graph)
    scores = union_scores(union, evidence)
    form = WeightedOrs.of(union, scores)
    if form is None or form.forced.all(1).any():
        return None
    values = _best_found(form, np.random.default_rng(seed)).astype(np.int64)
    score = float(graph_scores(union, scores, values)[0])
    if not np.isfinite(score):
        return None
    unknown = np.full(len(values), np.nan)
    return Solution(graph, values, unknown, score, None, True, 0, (), ways={WAY: 1})


def _best_found(form: WeightedOrs, rng: np.random.Generator) -> Bool[np.ndarray, " variables"]:
    filling = _Filling.of(form)
    score, on = filling.fill()
    best, found = score if filling.allowed else -np.inf, filling.on.copy()
    steps = int(np.clip(_STEPS * len(on), _FEWEST_STEPS, _MOST_STEPS))
    warmth = _WARMTH * max(score, 0.0) / max(len(on), 1)
    for step in range(steps):
        if not on:
            break
        leaving = filling.around(on[rng.integers(len(on))], rng)
        rise = -sum(map(filling.turn_off, leaving))
        more, coming = filling.fill(rng)
        rise += more
        cold = warmth * (1.0 - step / steps) + _LEAST
        if rise < -_LEAST and rng.random() > np.exp(rise / cold):
            for one in reversed(coming):
                filling.turn_off(one)
            for one in leaving:
                filling.turn_on(one)
            continue
        score += rise
        on = [one for one in on if one not in leaving] + coming
        if score > best + _LEAST and filling.allowed:
            best, found = score, filling.on.copy()
    return found


@dataclass(eq=False)
class _Filling:
    """Which variables are ON, and what each would add, or adds less, to the score."""

    form: WeightedOrs
    lists_of: Ragged  # by variable
    limits_of: Ragged
    on: Bool[np.ndarray, " variables"]
    count: Int[np.ndarray, " lists"]  # of members that are ON
    held: Int[np.ndarray, " limits"]  # likewise
    barred: Int[np.ndarray, " variables"]  # by how many limits that are full
    gain: np.ndarray  # what it adds if it is OFF; if it is ON, what it would add once more
    reach: dict[int, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)  # so far

    @classmethod
    def of(cls, form: WeightedOrs) -> "_Filling":
        """All are OFF but those that must be ON."""
        size, lists = len(form.own), form.lists
        worth = form.weights[lists.row_of_value]
        filling = cls(
            form,
            _by_value(lists, size),
            _by_value(form.limited, size),
            np.zeros(size, bool),
            np.zeros(len(lists), np.int64),
            np.zeros(len(form.most), np.int64),
            form.forced[:, 0].astype(np.int64),
            form.own + np.bincount(lists.values, worth, minlength=size),
        )
        for full in np.flatnonzero(form.most == 0).tolist():
            filling.barred[form.limited[full]] += 1
        for one in np.flatnonzero(form.forced[:, 1]).tolist():
            filling.turn_on(one)
        return filling

    @property
    def allowed(self) -> bool:
        """Whether all limits have the members that they demand."""
        return bool((self.held >= self.form.least).all())

    def turn_on(self, one: int) -> float:
        """Turn a variable ON; return what that adds."""
        rise = float(self.gain[one])
        mine = self.lists_of[one]
        self._tell(one, -self.form.weights[mine] * (self.count[mine] == 0))
        self.count[mine] += 1
        self.on[one] = True
        self._bar(one, 1)
        return rise

    def turn_off(self, one: int) -> float:
        """Turn a variable OFF; return what that takes away."""
        mine = self.lists_of[one]
        self.count[mine] -= 1
        self._tell(one, self.form.weights[mine] * (self.count[mine] == 0))
        self.on[one] = False
        self._bar(one, -1)
        return float(self.gain[one])

    def fill(self, rng: np.random.Generator | None = None) -> tuple[float, list[int]]:
        """Turn ON what raises the score; return by how much, and which.

        What is worth most is first; with ``rng`` what seems so.
        """
        total, added, before = 0.0, [], -1
        # A list that costs may be paid for by the first, and others join.
        while len(added) > before:
            before = len(added)
            near = np.flatnonzero(self._worthwhile())
            trust = 1.0 if rng is None else 1.0 + _SHAKE * rng.standard_normal(len(near))
            if rng is not None and len(near) and not added and rng.random() < _CHANCE:
                added.append(int(near[rng.integers(len(near))]))
                total += self.turn_on(added[-1])
            while len(near):
                worth = np.where(self._worthwhile(near), self.gain[near] * trust, 0.0)
                place = int(worth.argmax())
                if worth[place] <= 0.0:
                    break
                added.append(int(near[place]))
                total += self.turn_on(added[-1])
        lost, wanted = self._meet_demands()
        return total + lost, added + wanted

    def _meet_demands(self) -> tuple[float, list[int]]:
        """Turn ON the best members of limits that have too few, whatever they cost."""
        total, added = 0.0, []
        for limit in np.flatnonzero(self.held < self.form.least).tolist():
            while self.held[limit] < self.form.least[limit]:
                members = self.form.limited[limit]
                free = members[~self.on[members] & (self.barred[members] == 0)]
                if not len(free):
                    break
                added.append(int(free[self.gain[free].argmax()]))
                total += self.turn_on(added[-1])
        return total, added

    def _worthwhile(self, some: np.ndarray | slice = slice(None)) -> Bool[np.ndarray, " some"]:
        return (self.gain[some] > _LEAST) & ~self.on[some] & (self.barred[some] == 0)

    def around(self, one: int, rng: np.random.Generator) -> list[int]:
        """A variable and some others that are ON and in its lists."""
        near, _ = self._reached(one)
        near = np.unique(near[self.on[near]])
        near = rng.permutation(near[(near != one) & ~self.form.forced[near, 1]])
        return [one, *near[: rng.integers(_NEIGHBOURS + 1)].tolist()]

    def _tell(self, one: int, change: np.ndarray) -> None:
        """Change what the members of a variable's lists would add, list by list."""
        reached, place = self._reached(one)
        self.gain += np.bincount(reached, change[place], minlength=len(self.gain))

    def _reached(self, one: int) -> tuple[np.ndarray, np.ndarray]:
        """The members of a variable's lists, and in which of them each one is."""
        if one not in self.reach:
            lists = self.form.lists.take(self.lists_of[one])
            self.reach[one] = lists.values, lists.row_of_value
        return self.reach[one]

    def _bar(self, one: int, change: int) -> None:
        """Count a member of limits; a limit that is full bars all its members."""
        for limit in self.limits_of[one]:
            full = self.held[limit] == self.form.most[limit]
            self.held[limit] += change
            still = self.held[limit] == self.form.most[limit]
            self.barred[self.form.limited[limit]] += int(still) - int(full)


def _by_value(lists: Ragged, size: int) -> Ragged:
    """The lists that each of so many variables is in."""
    order = np.argsort(lists.values, kind="stable")
    offsets = np.searchsorted(lists.values[order], np.arange(size + 1))
    return Ragged(lists.row_of_value[order], offsets)
