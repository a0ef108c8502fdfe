"""Sum-product, samples, gradients and exact enumeration."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mam.factors import Pairwise
from mam.graph import GraphBuilder, compile_graphs
from mam.infer import enumerate_exactly, log_partition, marginals, propagate, sample
from tests.oracles import random_models


@settings(max_examples=8)
@given(seed=st.integers(0, 1000))
def test_marginals_of_trees_are_exact(seed: int) -> None:
    graph, evidence = random_models.tree(np.random.default_rng(seed))
    exact = enumerate_exactly(graph, evidence)
    for method in ("exact", "bethe"):
        result = marginals(graph, evidence, method=method)
        assert result.converged and result.exact == (method == "exact")
        assert result.log_partition == pytest.approx(exact.log_partition, abs=1e-6)
        for group in graph.variables:
            for variable, found in zip(group.ids, result[group.name], strict=True):
                np.testing.assert_allclose(found, exact.marginal([int(variable)]), atol=1e-6)


def test_marginals_with_hard_factors_and_certain_evidence() -> None:
    graph, evidence = random_models.gates(np.random.default_rng(0), inputs=2)
    evidence["some"] = np.array([np.inf])
    exact = enumerate_exactly(graph, evidence)
    result = marginals(graph, evidence, method="bethe")
    assert result.log_partition == pytest.approx(exact.log_partition, abs=1e-5)
    for i, variable in enumerate(graph.ids("bit")):
        np.testing.assert_allclose(result["bit"][i], exact.marginal([int(variable)]), atol=1e-5)


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6))
def test_forbidden_states_keep_what_the_others_score(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph, _ = random_models.tree(rng)
    evidence = {}
    for group in graph.variables:
        scores = 5 * rng.normal(size=(group.size, group.states))
        forbidden = rng.random(scores.shape) < 0.25
        evidence[group.name] = np.where(forbidden & ~forbidden.all(1)[:, None], -np.inf, scores)
    exact = enumerate_exactly(graph, evidence)
    result = marginals(graph, evidence, method="bethe")
    assert result.log_partition == pytest.approx(exact.log_partition, abs=1e-6)
    for group in graph.variables:
        for variable, found in zip(group.ids, result[group.name], strict=True):
            np.testing.assert_allclose(found, exact.marginal([int(variable)]), atol=1e-6)


def test_a_variable_that_must_be_on_keeps_its_score() -> None:
    builder = GraphBuilder()
    builder.variables("x", 2)
    scores = {"x": [[-np.inf, 5.0], [0, 0]]}
    for method in ("exact", "bethe"):
        found = log_partition(builder.build(), scores, method=method)
        assert found == pytest.approx(5 + np.log(2))


def test_an_impossible_model_has_no_marginals_and_no_samples() -> None:
    builder = GraphBuilder()
    x = builder.variables("x", 3)
    differ = Pairwise.of([x[:2], x[1:], x[[0, 2]]], [[-np.inf, 0], [0, -np.inf]])
    builder.add("differ", differ)
    with pytest.raises(ValueError, match="no marginals: no assignment is possible"):
        marginals(builder.build())
    with pytest.raises(ValueError, match="no samples: no assignment is possible"):
        sample(builder.build())
    assert log_partition(builder.build()) == -np.inf


def test_log_partition_methods() -> None:
    graph, evidence = random_models.tree(np.random.default_rng(4))
    exact = log_partition(graph, evidence, method="exact")
    assert log_partition(graph, evidence, method="bethe") == pytest.approx(exact, abs=1e-6)
    with pytest.raises(ValueError, match="one of auto, exact, bethe"):
        log_partition(graph, evidence, method="guess")


def test_enumeration_refuses_what_is_too_large() -> None:
    builder = GraphBuilder()
    builder.variables("x", 40)
    with pytest.raises(ValueError, match="too many to enumerate"):
        enumerate_exactly(builder.build(), limit=1000)


def test_samples_of_independent_variables_follow_their_odds() -> None:
    builder = GraphBuilder()
    builder.variables("x", 2)
    builder.variables("y", (), 3)
    graph = builder.build()
    odds = np.array([0.2, 0.5, 0.3])
    drawn = sample(graph, {"x": [2.0, -1.0], "y": np.log(odds)}, count=600, seed=1)
    expected = 1 / (1 + np.exp([-2.0, 1.0]))
    np.testing.assert_allclose(drawn["x"].mean(0), expected, atol=0.07)
    np.testing.assert_allclose(np.bincount(drawn["y"], minlength=3) / 600, odds, atol=0.07)


def test_sample_k_does_not_depend_on_the_count() -> None:
    graph, evidence = random_models.gates(np.random.default_rng(2))
    few = sample(graph, evidence, count=3, seed=7)
    more = sample(graph, evidence, count=5, seed=7)
    np.testing.assert_array_equal(few["bit"], more["bit"][:3])
    # Samples obey the hard factors.
    np.testing.assert_array_equal(more["both"], more["bit"][:, 1:] * more["bit"][:, :-1])


@pytest.mark.parametrize("temperature", [0, 1.0])
def test_gradients_agree_with_differences(temperature: float) -> None:
    rng = np.random.default_rng(0)
    builder = GraphBuilder()
    x = builder.variables("x", 4)
    y = builder.variables("y", 1, 3)
    pairs = [[x[0], x[1]], [x[1], x[2]], [x[2], x[3]], [x[3], x[0]]]
    builder.add("ring", Pairwise.of(pairs, rng.normal(size=(4, 2, 2))))
    builder.add("side", Pairwise.of([[x[0], y[0]]], rng.normal(size=(2, 3))))
    compiled = compile_graphs(builder.build())
    values = {
        "ring": jnp.asarray(rng.normal(size=(4, 2, 2)), jnp.float32),
        "side": jnp.asarray(rng.normal(size=(2, 3)), jnp.float32),
        "x": jnp.asarray(rng.normal(size=4), jnp.float32),
    }

    def loss(values: dict) -> jax.Array:
        potentials = {name: values[name] for name in ("ring", "side")}
        beliefs = propagate(
            compiled, {"x": values["x"]}, potentials, iterations=12, temperature=temperature
        )
        return jnp.sum(jnp.tanh(beliefs["x"])) + jnp.sum(beliefs["y"] ** 2)

    gradient = jax.grad(loss)(values)
    fast = jax.jit(loss)
    for name, value in values.items():
        direction = jnp.asarray(rng.normal(size=value.shape), jnp.float32)
        step = 1e-2
        up = fast({**values, name: value + step * direction})
        down = fast({**values, name: value - step * direction})
        slope = float(jnp.sum(gradient[name] * direction))
        assert slope == pytest.approx(float(up - down) / (2 * step), abs=2e-2, rel=2e-2)


def test_gradients_refuse_unknown_names() -> None:
    graph, _ = random_models.gates(np.random.default_rng(0))
    with pytest.raises(ValueError, match="no factor group"):
        propagate(compile_graphs(graph), {}, {"xor": jnp.zeros(2)})
