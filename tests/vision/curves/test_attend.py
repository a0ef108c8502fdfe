"""Attention between ends of strokes: the fast path against enumeration and the generic engine."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mam.core.growing import GrowingSizes
from mam.infer import enumerate_exactly
from mam.infer.loop import run_fixed
from mam.infer.messages import BeliefPropagation
from mam.infer.problem import Problem
from mam.vision.curves.attend import (
    ContourPotentials,
    Links,
    attend,
    bound_of,
    contour_model,
    joined_links,
    score_of,
)
from mam.vision.curves.chains import find_chains, group_numbers

LONG = ContourPotentials(iterations=60)
ROOM = GrowingSizes()  # one for all tests: sizes that compile once


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


def decide(links: Links, presence: np.ndarray, potentials: ContourPotentials = LONG):
    return attend(links, presence, np.arange(len(links)), potentials, 0, ROOM)


def optimum(links: Links, presence: np.ndarray) -> float:
    model, evidence = contour_model(links, presence, LONG)
    return enumerate_exactly(model.graph, evidence).score


@settings(max_examples=60, deadline=None)
@given(tangles())
def test_answers_are_possible_and_no_better_than_the_optimum(
    tangle: tuple[Links, np.ndarray],
) -> None:
    links, presence = tangle
    on, _ = decide(links, presence)
    ends = (2 * links.stroke + links.side)[on].ravel()
    assert len(np.unique(ends)) == len(ends)
    assert score_of(links, on, presence, LONG) <= optimum(links, presence) + 1e-6


@given(tangles())
def test_score_and_bound_are_summed_alike(tangle: tuple[Links, np.ndarray]) -> None:
    links, presence = tangle
    single = replace(links, score=(20 * links.score + 0.1).astype(np.float32))
    on, _ = decide(single, presence)
    score = score_of(single, on, presence, LONG)
    assert bound_of(single, presence, LONG) >= score - 1e-9 * (1 + abs(score))


def is_forest(links: Links, strokes: int) -> bool:
    parts = len(np.unique(group_numbers(links.stroke, np.ones(len(links), bool), strokes)))
    return len(links) == strokes - parts


@settings(max_examples=60, deadline=None)
@given(tangles(most=5))
def test_forests_are_solved_exactly(tangle: tuple[Links, np.ndarray]) -> None:
    links, presence = tangle
    if not is_forest(links, len(presence)):
        return
    # Settle ties as the solver does, but by more than its noise.
    tilt = np.linspace(0.01, 0.02, len(links)) * (-1.0) ** np.arange(len(links))
    links = Links(links.stroke, links.side, links.score + tilt)
    quiet = ContourPotentials(iterations=60, noise=0.0)
    on, belief = decide(links, presence, quiet)
    assert score_of(links, on, presence, LONG) == pytest.approx(optimum(links, presence), abs=1e-4)
    assert ((belief > 0) == on).all()


def test_random_tangles_are_nearly_always_solved_exactly() -> None:
    rng, optimal = np.random.default_rng(0), 0
    for _ in range(40):
        pairs = np.array([(i, j) for i in range(8) for j in range(i + 1, 8)])
        stroke = pairs[rng.choice(len(pairs), 12, replace=False)]
        links = Links(stroke, rng.integers(0, 2, (12, 2)), rng.normal(0, 4, 12))
        presence = np.full(8, 4.0)
        on, _ = decide(links, presence)
        best = optimum(links, presence)
        optimal += score_of(links, on, presence, LONG) >= best - 1e-6
    assert optimal >= 36


@settings(max_examples=40, deadline=None)
@given(tangles())
def test_hopeless_links_are_in_no_best_answer(tangle: tuple[Links, np.ndarray]) -> None:
    links, _ = tangle
    presence = np.full(int(links.stroke.max(initial=0)) + 1, LONG.presence)
    kept = links.take(links.score > LONG.hopeless)
    assert optimum(kept, presence) == pytest.approx(optimum(links, presence))


def test_beliefs_are_those_of_the_generic_engine() -> None:
    """The short form of the Pattern messages, on loops, against the engine."""
    rng = np.random.default_rng(3)
    stroke = np.array([(0, 1), (1, 2), (2, 3), (0, 2), (1, 3), (3, 4), (2, 4)])
    links = Links(stroke, rng.integers(0, 2, (7, 2)), rng.normal(0, 2, 7))
    presence = np.full(5, 4.0)
    quiet = ContourPotentials(iterations=7, noise=0.0)
    _, belief = decide(links, presence, quiet)
    model, evidence = contour_model(links, presence, quiet)
    problem = Problem.of(model.graph, evidence, np.float32)
    wiring = problem.compiled.wiring
    as_arrays = jax.tree.map(jnp.asarray, (problem.potentials, problem.evidence))
    rest = jax.random.key(0), jnp.float32(0.5), jnp.float32(0)
    engine = BeliefPropagation.of(wiring, *as_arrays, *rest)
    still = tuple(jnp.zeros(size, jnp.float32) for size in wiring.store_sizes)
    generic = engine.beliefs(run_fixed(engine, still, 7))
    wanted = problem.compiled.gather([np.asarray(values) for values in generic])
    np.testing.assert_allclose(belief, wanted[len(presence) :], rtol=1e-4, atol=1e-4)


@settings(max_examples=40, deadline=None)
@given(tangles(), tangles())
def test_a_batch_answers_as_its_images_alone(
    one: tuple[Links, np.ndarray], two: tuple[Links, np.ndarray]
) -> None:
    moved = Links(two[0].stroke + len(one[1]), two[0].side, two[0].score)
    both = joined_links([one[0], moved])
    number = np.concatenate([np.arange(len(one[0])), np.arange(len(two[0]))])
    on, belief = attend(both, np.concatenate([one[1], two[1]]), number, LONG, 0, ROOM)
    alone = [decide(*tangle) for tangle in (one, two)]
    assert on.tolist() == [*alone[0][0].tolist(), *alone[1][0].tolist()]
    np.testing.assert_allclose(belief, np.concatenate([alone[0][1], alone[1][1]]), atol=1e-5)


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
    for wrong in ({"termination": 1.0}, {"damping": 1.0}, {"iterations": 0}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            ContourPotentials(**wrong)
