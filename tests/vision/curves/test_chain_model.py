"""Attention between ends of pieces: answers against enumeration, on the host and compiled."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mam.infer import enumerate_exactly
from mam.vision.curves import chain_model
from mam.vision.curves.chain_model import (
    ChainSolver,
    ContourPotentials,
    Decided,
    Links,
    certify,
    contour_model,
)
from mam.vision.curves.chains import find_chains, group_numbers

USUAL = ContourPotentials()
SIDES = ContourPotentials(presence=3.2, termination=-1.6)
SOLVER = ChainSolver()


@st.composite
def tangles(draw: st.DrawFn, most: int = 9) -> tuple[Links, np.ndarray]:
    """A few strokes, random links between their ends, ties and forbidden links among them."""
    strokes = draw(st.integers(1, 6))
    pairs = [(i, j) for i in range(strokes) for j in range(i + 1, strokes)]
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=most)) if pairs else []
    scores = draw(
        st.lists(
            st.sampled_from([-30.0, -4.0, -1.0, 0.0, 0.5, 1.0, 3.0, 8.0]),
            min_size=len(chosen),
            max_size=len(chosen),
        )
    )
    sides = [(draw(st.integers(0, 1)), draw(st.integers(0, 1))) for _ in chosen]
    presence = np.array([draw(st.sampled_from([0.0, 2.0, 4.0])) for _ in range(strokes)])
    links = Links(
        np.array(chosen, int).reshape(-1, 2),
        np.array(sides, int).reshape(-1, 2),
        np.array(scores, float),
    )
    return links, presence


def decide(links: Links, presence: np.ndarray) -> Decided:
    return SOLVER.decide(links, presence, USUAL)


def optimum(links: Links, presence: np.ndarray) -> float:
    model, evidence = contour_model(links, presence, USUAL)
    return enumerate_exactly(model.graph, evidence).score


@given(tangles())
def test_answers_are_the_best_ones_and_proved(tangle: tuple[Links, np.ndarray]) -> None:
    links, presence = tangle
    found = decide(links, presence)
    ends = (2 * links.stroke + links.side)[found.on].ravel()
    assert len(np.unique(ends)) == len(ends)
    assert found.proved.all()
    known = certify(links, found, presence, USUAL)
    assert known.score == pytest.approx(optimum(links, presence), abs=1e-9)
    assert known.bound == known.score and known.proof == "exact"
    assert (found.belief[found.on] >= 0).all() and (found.belief[~found.on] <= 0).all()


@given(tangles())
def test_sides_are_parts_by_themselves_where_presence_is_twice_the_price_of_an_end(
    tangle: tuple[Links, np.ndarray],
) -> None:
    """The same answers and margins as of the contour model itself, by enumeration."""
    links = tangle[0]
    presence = np.full(int(links.stroke.max(initial=0)) + 1, SIDES.presence)
    found = SOLVER.decide(links, presence, SIDES)
    model, evidence = contour_model(links, presence, SIDES)
    best = enumerate_exactly(model.graph, evidence).score
    assert certify(links, found, presence, SIDES).score == pytest.approx(best, abs=1e-9)
    for link, (on, belief) in enumerate(zip(found.on, found.belief, strict=True)):
        score = links.score.copy()
        score[link] += -1e3 if on else 1e3  # the other state, in whatever company
        other = enumerate_exactly(model.graph, {**evidence, "attention": score}).score
        other -= 0.0 if on else 1e3
        assert abs(belief) == pytest.approx(best - other, abs=1e-6)


@given(tangles())
def test_score_and_bound_are_summed_alike(tangle: tuple[Links, np.ndarray]) -> None:
    links, presence = tangle
    single = replace(links, score=(20 * links.score + 0.1).astype(np.float32))
    found = decide(single, presence)
    doubted = found._replace(proved=np.zeros(len(links), bool)) if len(links) else found
    score, bound, proof = certify(single, doubted, presence, USUAL, bound=True)
    assert bound is not None and bound >= score - 1e-9 * (1 + abs(score))
    assert proof is not None


def random_tangle(rng: np.random.Generator) -> tuple[Links, np.ndarray]:
    pairs = np.array([(i, j) for i in range(8) for j in range(i + 1, 8)])
    stroke = pairs[rng.choice(len(pairs), 12, replace=False)]
    return Links(stroke, rng.integers(0, 2, (12, 2)), rng.normal(0, 4, 12)), np.full(8, 4.0)


def test_compiled_answers_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    links, presence = zip(*(random_tangle(rng) for _ in range(40)), strict=True)
    host = SOLVER.decide_each(links, presence, USUAL)
    monkeypatch.setattr(chain_model, "_WORTH_COMPILING", 1)
    monkeypatch.setattr(chain_model, "by_device", lambda on_cpu, on_accelerator: on_accelerator)
    compiled = ChainSolver().decide_each(links, presence, USUAL)
    for one, other in zip(host, compiled, strict=True):
        assert one.proved.all() and other.proved.all()
        assert one.on.tolist() == other.on.tolist()
        np.testing.assert_allclose(one.belief, other.belief, atol=1e-3)


@settings(max_examples=40, deadline=None)
@given(tangles())
def test_the_weakest_links_are_in_no_best_answer(tangle: tuple[Links, np.ndarray]) -> None:
    links, _ = tangle
    presence = np.full(int(links.stroke.max(initial=0)) + 1, USUAL.presence)
    kept = links.take(links.score > USUAL.least_link)
    assert optimum(kept, presence) == pytest.approx(optimum(links, presence))


@settings(max_examples=40, deadline=None)
@given(tangles(), tangles())
def test_a_batch_answers_as_its_images_alone(
    one: tuple[Links, np.ndarray], two: tuple[Links, np.ndarray]
) -> None:
    together = SOLVER.decide_each([one[0], two[0]], [one[1], two[1]], USUAL)
    for tangle, found in zip((one, two), together, strict=True):
        alone = decide(*tangle)
        assert found.on.tolist() == alone.on.tolist()
        np.testing.assert_allclose(found.belief, alone.belief, atol=1e-9)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 12), st.integers(0, 2**31))
def test_chains_follow_the_links(strokes: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    ends = rng.permutation(2 * strokes)[: 2 * int(rng.integers(0, strokes + 1))].reshape(-1, 2)
    ends = ends[ends[:, 0] // 2 != ends[:, 1] // 2]
    chains = find_chains(ends // 2, ends % 2, strokes)
    joined = {frozenset(pair) for pair in ends.tolist()}
    assert sorted(s for chain in chains for s in chain.strokes.tolist()) == list(range(strokes))
    walked = set()
    for chain in chains:
        order = list(zip(chain.strokes.tolist(), chain.leaves.tolist(), strict=True))
        following = order[1:] + (order[:1] if chain.closed else [])
        for (a, left), (b, leaves) in zip(order, following, strict=False):
            walked.add(frozenset([2 * a + left, 2 * b + 1 - leaves]))
    assert walked == joined
    groups = group_numbers(ends // 2, np.ones(len(ends), bool), strokes)
    for number, chain in enumerate(chains):
        assert set(groups[chain.strokes]) == {number}


def test_bad_potentials_are_refused() -> None:
    with pytest.raises(ValueError, match="termination"):
        ContourPotentials(termination=1.0)


def test_settings_of_older_files_are_read() -> None:
    old = {"presence": 3.0, "termination": -1.0, "iterations": 30, "damping": 0.5, "noise": 1e-3}
    assert ContourPotentials.of(old) == ContourPotentials(3.0, -1.0)
