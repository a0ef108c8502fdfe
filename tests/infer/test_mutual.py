"""Mutual best: of a group in which one may be ON, the one that all of its groups want."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mam.factors import Choice, Pattern
from mam.graph import GraphBuilder
from mam.infer import enumerate_exactly, solve
from tests.oracles import random_models

RAW = {"method": "max-product", "repair": False}


def test_contours_are_feasible_where_beliefs_are_not() -> None:
    better = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        model, evidence = random_models.attention_model(rng)
        # Equal links and few iterations: beliefs of several members are above 0.
        evidence["attention"] = rng.choice([0.5, 1.0], size=10)
        plain = solve(model.graph, evidence, iterations=5, **RAW)
        mutual = solve(model.graph, evidence, iterations=5, decoding="mutual", **RAW)
        assert mutual.feasible and (plain.feasible or mutual.score >= plain.score)
        assert mutual.score <= enumerate_exactly(model.graph, evidence).score + 1e-6
        better += not plain.feasible
    assert better >= 5


@given(seed=st.integers(0, 10_000), schedule=st.sampled_from(["parallel", "sweeps"]))
def test_no_group_has_two(seed: int, schedule: str) -> None:
    rng = np.random.default_rng(seed)
    model, evidence = random_models.attention_model(rng)
    evidence["attention"] = rng.integers(-1, 3, 10) + 0.0
    found = solve(
        model.graph, evidence, decoding="mutual", noise=0.0, iterations=5, schedule=schedule, **RAW
    )
    assert found.feasible


def test_ties_go_to_one_and_the_part_follows() -> None:
    builder = GraphBuilder()
    part, link = builder.variables("part", 1), builder.variables("link", 3)
    builder.add("part", Pattern.of(part, [[link]], [[0], [1]]))
    builder.add("choice", Choice.of([link], optional=True))
    evidence = {"part": [-0.5], "link": [2.0, 2.0, 2.0]}
    found = solve(builder.build(), evidence, decoding="mutual", noise=0.0, **RAW)
    assert found["link"].sum() <= 1 and found["part"][0] == found["link"].sum()
    evidence["link"] = [1.0, 3.0, -np.inf]
    found = solve(builder.build(), evidence, decoding="mutual", noise=0.0, **RAW)
    assert found["link"].tolist() == [0, 1, 0] and found["part"].tolist() == [1]


def test_without_groups_it_is_decoding_by_belief() -> None:
    rng = np.random.default_rng(3)
    for graph, evidence in (random_models.tree(rng, 1), random_models.potts(rng, 3, 3)):
        both = [solve(graph, evidence, decoding=way, **RAW) for way in ("belief", "mutual")]
        assert both[0].values.tolist() == both[1].values.tolist()
        assert both[0].score == pytest.approx(both[1].score)
