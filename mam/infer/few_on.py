r"""Components of weighted ORs whose best answers have few variables ON: set after set, by size.

All sets of one size are held at once. A set :math:`S` and one more variable :math:`t` score exactly

.. math:: F(S + t) = F(S) + s_t + \sum_{j \text{ open}, \, t \in M_j} w_j,

where lists without a member in :math:`S` are open. More variables, all after :math:`t`, add no more
than :math:`\max_r \min(U, r p) - r c`: what open lists that they reach are worth together,
:math:`U`; what one of them is worth at most, :math:`p`; and what one costs at least, :math:`c`.
Sets that cannot pass the best so far are left, and so are those of which a member does not pay: the
lists that it alone fills get fewer as others join.

Where two or three of a hundred variables are ON this takes a millisecond, a tenth of what a linear
program does. Where many are, it gives up soon.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from mam.graph import FactorGraph, GraphUnion, union_scores
from mam.graph.evidence import Evidence
from mam.infer.score import graph_scores
from mam.infer.solution import Solution
from mam.infer.weighted_ors import WeightedOrs

WAY = "branch and bound"
_WORK = 1 << 25  # products of numbers before it gives up: some 20 ms
_RISE = 1e-9  # less is no rise
# Products beyond this are shared among threads, which takes longer where others use the cores.
_ALONE = 1 << 18


def few_on(graph: FactorGraph, evidence: Evidence | None) -> Solution | None:
    """Return a proved answer; None if the graph is not of this form, or there is too much to try.

    >>> from mam.factors import AnyOf
    >>> from mam.graph import GraphBuilder
    >>> builder = GraphBuilder()
    >>> x = builder.variables("x", 3)
    >>> builder.add("any", AnyOf.of([[0, 1], [1, 2]], some=[2.0, 2.0]))
    >>> found = few_on(builder.build(), {"x": [-1.5, -1.0, -1.5]})
    >>> found["x"].tolist(), found.score, found.proof
    ([0, 1, 0], 3.0, 'exact')
    """
    union = GraphUnion.of(graph)
    scores = union_scores(union, evidence)
    form = WeightedOrs.of(union, scores)
    # Nothing may have to be ON, and of what is limited one may be.
    if form is None or form.least.any() or (form.most != 1).any() or form.forced[:, 1].any():
        return None
    chosen = _best_set(form)
    if chosen is None:
        return None
    values = np.zeros(len(form.own), np.int64)
    values[chosen] = 1
    score = float(graph_scores(union, scores, values)[0])
    unknown = np.full(len(values), np.nan)
    return Solution(graph, values, unknown, score, score, True, 0, (), ways={WAY: 1})


@dataclass(frozen=True, eq=False)
class _Problem:
    """The variables that may pay, in order, and what is known of those after each."""

    number: Int[np.ndarray, " variables"]
    own: Float[np.ndarray, " variables"]  # below 0
    member: Bool[np.ndarray, "variables lists"]
    beside: Bool[np.ndarray, "variables variables"]  # one of them at most
    worth: Float[np.ndarray, " lists"]  # of lists that gain; 0 for those that cost
    value: Float[np.ndarray, "lists variables"]  # the weights of each variable's lists
    gain: Float[np.ndarray, "lists variables"]  # those above 0
    reach: Float[np.ndarray, "lists variables"]  # those of its later variables, without its own
    most: Float[np.ndarray, " variables"]  # that one later variable gains
    least: Float[np.ndarray, " variables"]  # that it costs, below 0

    def later(self, open_: Float[np.ndarray, "sets variables"]) -> np.ndarray:
        """A bound of what variables after each one add, by what they reach together."""
        number = np.floor(open_ / self.most)
        pays = self.most + self.least
        rest = np.maximum(open_ - number * self.most + self.least, 0.0)
        return np.where(pays > 0, number * pays + rest, 0.0)


def _problem(form: WeightedOrs) -> _Problem | None:
    """The same with tables; None if some variable costs nothing, or the tables are too large."""
    size, lists = len(form.own), form.lists
    if size**2 * len(lists) > _WORK:
        return None
    worth = np.maximum(form.weights, 0.0)
    gain = np.bincount(lists.values, worth[lists.row_of_value], size).astype(float)
    number = np.flatnonzero((form.own + gain > 0) & ~form.forced[:, 0])
    own, gain = form.own[number], gain[number]
    if (own >= 0).any():
        return None
    member = np.zeros((size, len(lists)), bool)
    member[lists.values, lists.row_of_value] = True
    place = np.zeros((size, len(form.limited)), bool)
    place[form.limited.values, form.limited.row_of_value] = True
    member, place = member[number], place[number]
    count = len(number)
    last = (member * np.arange(1, count + 1)[:, None]).max(0, initial=0) - 1
    beyond = ~member & (last > np.arange(count)[:, None])
    after = [np.maximum.accumulate(each[::-1])[::-1] for each in (gain, own)]
    most, least = (np.append(each[1:], each[-1:]) for each in after)
    beside = np.asarray((place[:, None] & place).any(2))
    value, paid = ((member * by).T for by in (form.weights, worth))
    return _Problem(
        number, own, member, beside, worth, value, paid, (beyond * worth).T, most, least
    )


def _best_set(form: WeightedOrs) -> np.ndarray | None:
    """The variables that are ON in a best answer."""
    problem = _problem(form)
    if problem is None:
        return None
    if not len(problem.number):
        return problem.number
    best, found = _greedy(problem)
    sets = np.zeros((1, 0), np.int64)
    open_, score = np.ones((1, problem.member.shape[1])), np.zeros(1)
    barred, work = np.zeros((1, len(problem.number)), bool), 0
    while len(sets):
        work += open_.size * len(problem.number)
        if work > _WORK:
            return None
        able = ~barred & (_product(open_, problem.gain) + problem.own > 0)
        total = np.where(
            able, score[:, None] + problem.own + _product(open_, problem.value), -np.inf
        )
        row, one = np.unravel_index(total.argmax(), total.shape)
        if total[row, one] > best + _RISE:
            best, found = total[row, one], np.append(sets[row], one)
        limit = total + problem.later(_product(open_, problem.reach))
        row, one = np.nonzero(limit > best + _RISE)
        sets = np.concatenate([sets[row], one[:, None]], 1)
        paying = _all_pay(problem, sets)
        sets, row, one = sets[paying], row[paying], one[paying]
        open_, score = open_[row] * ~problem.member[one], total[row, one]
        before = np.arange(len(problem.number)) <= one[:, None]
        barred = barred[row] | problem.beside[one] | before
    return problem.number[found]


def _all_pay(problem: _Problem, sets: Int[np.ndarray, "sets size"]) -> Bool[np.ndarray, " sets"]:
    """Tell of which sets every member pays by lists that it alone fills."""
    pays = np.ones(len(sets), bool)
    if sets.shape[1] < 2:
        return pays
    times = sum(problem.member[one].astype(np.int8) for one in sets.T)
    alone = (times == 1) * problem.worth
    for one in sets.T:
        pays &= (alone * problem.member[one]).sum(1) + problem.own[one] > 0
    return pays


def _greedy(problem: _Problem) -> tuple[float, Int[np.ndarray, " some"]]:
    """A good set to begin with: whatever raises the score most, one after another."""
    open_, score, found = np.ones(problem.member.shape[1]), 0.0, []
    free = np.ones(len(problem.number), bool)
    while True:
        rise = np.where(free, open_ @ problem.value + problem.own, -np.inf)
        one = int(rise.argmax())
        if rise[one] <= 0:
            return score, np.array(found, np.int64)
        score += float(rise[one])
        found.append(one)
        open_ = open_ * ~problem.member[one]
        free &= ~problem.beside[one]
        free[one] = False


def _product(rows: np.ndarray, table: np.ndarray) -> np.ndarray:
    """The matrix product, in pieces that one thread does."""
    step = max(_ALONE // max(table.size, 1), 1)
    if step >= len(rows):
        return rows @ table
    return np.concatenate([rows[k : k + step] @ table for k in range(0, len(rows), step)])
