r"""Curves that branch: where three strands meet, a fork joins two of them or all.

A fork is a part with three groups, one for each strand that ends at its node, and the patterns 000,
110, 101, 011 and 111. With :math:`q_{jk}` the log odds that strands j and k continue each other it
scores

.. math:: 0, \quad q_{12}, \quad q_{13}, \quad q_{23}, \quad \max q_{jk} + b.

A fork never ends a curve, so 100, 010 and 001 are missing. All else is the chain model. What is
known of a link of a fork is known of its patterns: those without a link that is demanded are
impossible, and so are those with one that is forbidden.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from mam.factors import PatternSet
from mam.graph import FactorGraph
from mam.infer import Solution, solve
from mam.infer.certificate import Certificate
from mam.models import PartKind
from mam.models.parts import part_attention_graph
from mam.vision.curves.chain_model import (
    NO_LINKS,
    ContourPotentials,
    Decided,
    Links,
    Presence,
    certificate_of,
    read_links,
    two_sides,
)
from mam.vision.curves.strands.strands import Strands, chosen, degrees, through

_BRANCH = 0.5  # b, for pictures of curves that branch
_CROSSING = 2.5  # widths: two forks that are nearer are a crossing
_PATTERNS = PatternSet.of([[0, 0, 0], [1, 1, 0], [1, 0, 1], [0, 1, 1], [1, 1, 1]])
_PAIRS = np.array([[0, 1], [0, 2], [1, 2]])  # of arms, in the order of the patterns
_HAS = np.concatenate([np.zeros((1, 3), bool), np.eye(3, dtype=bool), np.ones((1, 3), bool)])
_LEAD = 1e-3  # by which the link of a fork that continues a line leads


def crossings_whole(strands: Strands) -> Strands:
    """Let two forks with a short strand between them be one crossing."""
    degree = degrees(strands.node)
    apart = strands.node[:, 0] != strands.node[:, 1]
    short = (degree == 3).all(1) & apart & (strands.length < _CROSSING * strands.width)
    node = strands.node.copy()
    for strand in np.flatnonzero(short).tolist():
        first, second = node[strand]
        node[node == second] = first
    if not short.any():
        return strands
    kept = np.flatnonzero(~short)
    whole = chosen(strands, kept)
    return through(Strands(**{**vars(whole), "node": node[kept]}))


class Forks(NamedTuple):
    """Nodes at which three strands end, and the links between these."""

    ends: Int[np.ndarray, "forks 3"]
    link: Int[np.ndarray, "forks 3"]  # of each pair of arms, -1 where there is none
    score: Float[np.ndarray, "forks 3"]
    told: Float[np.ndarray, "forks 3"]  # inf where demanded, -inf where forbidden, else as score


def find_forks(
    node: Int[np.ndarray, "strands 2"], links: Links, told: Links, potentials: ContourPotentials
) -> Forks:
    """List forks, what the links between their arms score, and what is told of these."""
    flat = node.ravel()
    order = np.argsort(flat, kind="stable")
    order = order[flat[order] >= 0]
    there, first, count = np.unique(flat[order], return_index=True, return_counts=True)
    ends = order[first[count == 3][:, None] + np.arange(3)]
    number = np.full(int(flat.max(initial=-1)) + 1, -1)
    number[there[count == 3]] = np.arange(len(ends))
    place = np.zeros(len(flat), np.int64)
    place[ends] = np.arange(3)
    end = 2 * links.stroke + links.side
    at = flat[end]
    inside = (at[:, 0] == at[:, 1]) & (at[:, 0] >= 0)
    mine = np.flatnonzero(inside & (number[at[:, 0]] >= 0))
    arms = np.sort(place[end[mine]], axis=1)
    which = (arms[:, None] == _PAIRS).all(2).argmax(1)
    link = np.full((len(ends), 3), -1)
    link[number[at[mine, 0]], which] = mine
    score, known = (np.append(own.score, potentials.least_link)[link] for own in (links, told))
    return Forks(ends, link, score, known)


def fork_graph(
    links: Links, forks: Forks, presence: Presence, potentials: ContourPotentials
) -> tuple[FactorGraph, Bool[np.ndarray, " links"]]:
    """The chain model with forks; which links stay attention variables between two strands.

    The attention variables are these links, and then three for each fork.
    """
    plain = np.ones(len(links), bool)
    plain[forks.link[forks.link >= 0]] = False
    count, number = len(presence), len(forks.ends)
    arms = forks.ends.ravel()
    edges = np.stack([count + np.repeat(np.arange(number), 3), arms // 2], 1)
    groups = np.stack([np.tile(np.arange(3), number), arms % 2], 1)
    branch = forks.score.max(1, initial=-np.inf) + _BRANCH
    scores = np.concatenate([np.zeros((number, 1)), forks.score, branch[:, None]], 1)
    demanded, forbidden = np.isposinf(forks.told)[:, None], np.isneginf(forks.told)[:, None]
    scores[((demanded & ~_HAS) | (forbidden & _HAS)).any(2)] = -np.inf
    kinds = [two_sides(potentials)]
    if number:
        kinds.append(PartKind(_PATTERNS, scores))
    graph, _ = part_attention_graph(
        np.concatenate([links.stroke[plain], edges]),
        np.concatenate([links.side[plain], groups]),
        kinds,
        vertices=count + number,
        kind=np.repeat([0, 1], [count, number]),
    )
    return graph, plain


def decide_branching(
    node: Int[np.ndarray, "strands 2"],
    links: Links,
    told: Links,
    presence: Presence,
    potentials: ContourPotentials,
    bound: bool = False,
) -> tuple[Decided, Certificate]:
    """Decide the links of one picture; ``told`` are the same with what is known of them.

    An end at a fork that branches has two that are ON.
    """
    if not len(links):
        return NO_LINKS, Certificate(0.0, 0.0, "exact")
    forks = find_forks(node, links, told, potentials)
    graph, plain = fork_graph(links, forks, presence, potentials)
    evidence = {
        "part": np.append(presence, np.zeros(len(forks.ends))),
        "attention": np.append(told.score[plain], np.zeros(3 * len(forks.ends))),
    }
    found = solve(graph, evidence, bound=bound)
    direct = links.take(plain)
    score = _score(found["attention"] == 1, direct, forks, presence, potentials)
    known = certificate_of(found, score, direct, told.take(plain))
    return _decided(found, told, forks, plain), known


def _score(
    on: Bool[np.ndarray, " attention"],
    plain: Links,
    forks: Forks,
    presence: Presence,
    potentials: ContourPotentials,
) -> float:
    """The score of an answer: links, strands that end or go on, and forks."""
    arm = on[len(plain) :].reshape(-1, 3)
    direct = on[: len(plain)]
    strand = np.concatenate([plain.stroke[direct].ravel(), forks.ends[arm] // 2])
    joins = np.bincount(strand, minlength=len(presence))
    score = plain.score[direct].sum() + presence[joins > 0].sum()
    score += potentials.termination * (joins == 1).sum()
    passing, branching = arm.sum(1) == 2, arm.all(1)
    score += forks.score[arm[:, _PAIRS].all(2) & passing[:, None]].sum()
    return float(score + (forks.score[branching].max(1, initial=-np.inf) + _BRANCH).sum())


def _decided(
    found: Solution, told: Links, forks: Forks, plain: Bool[np.ndarray, " links"]
) -> Decided:
    """The states of all links, those inside forks by the pattern that is ON."""
    state, margin, sure = read_links(found)
    direct = int(plain.sum())
    (on, proved), belief = np.zeros((2, len(told)), bool), np.zeros(len(told))
    on[plain], belief[plain], proved[plain] = state[:direct], margin[:direct], sure[:direct]
    arm, weight = (values[direct:].reshape(-1, 3) for values in (state, np.abs(margin)))
    both = arm[:, _PAIRS].all(2)
    weakest = weight[:, _PAIRS].min(2)
    # All three: the best pair goes on, and its better arm has the third as its branch.
    order = np.argsort(-np.where(forks.link >= 0, forks.told, -np.inf), axis=1)
    rank = np.argsort(order, axis=1)
    there = forks.link >= 0
    joined = both & (rank < 2)
    value = np.where(joined, weakest + _LEAD * (rank == 0), -weakest)
    on[forks.link[there]], belief[forks.link[there]] = joined[there], value[there]
    known = np.broadcast_to(sure[direct:].reshape(-1, 3).all(1, keepdims=True), there.shape)
    proved[forks.link[there]] = known[there]
    return Decided(on, np.where(np.isinf(told.score), told.score, belief), proved)
