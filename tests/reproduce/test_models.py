"""The paper's small models: what their drawings say is so."""

import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from mam.infer import enumerate_exactly
from mam.reproduce import toy_models
from mam.reproduce.models import line_of_pixels
from mam.reproduce.run import prepare, reproduce

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_one_factor_and_attentions_mean_the_same_genes() -> None:
    plain = enumerate_exactly(toy_models.gene_mrf().graph)
    model = enumerate_exactly(toy_models.gene_attention().graph)
    np.testing.assert_allclose(plain.marginal(range(4)), model.marginal(range(4)))


def test_variables_without_a_line_are_independent_given_the_rest() -> None:
    graph = toy_models.gene_attention().graph
    exact = enumerate_exactly(graph)
    joint = exact.marginal(range(len(graph.states)))
    dependent = set(toy_models.dependent_pairs(graph))
    others = [two for two in combinations(range(joint.ndim), 2) if two not in dependent]
    assert others
    for x, y in others:
        table = np.moveaxis(joint, (x, y), (0, 1)).reshape(2, 2, -1)
        np.testing.assert_allclose(table[0, 0] * table[1, 1], table[0, 1] * table[1, 0], atol=1e-12)


@pytest.mark.parametrize(
    ("script", "its", "ours"),
    [
        ("gene_network", lambda m: m.gene_network().graph, toy_models.gene_attention),
        ("two_lines", lambda m: m.two_lines().graph, toy_models.two_lines),
    ],
)
def test_the_examples_write_the_same_models_down(script, its, ours, monkeypatch) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    found = enumerate_exactly(its(__import__(script)))
    sys.modules.pop(script)
    mine = enumerate_exactly(ours().graph)
    np.testing.assert_array_equal(found.values, mine.values)
    np.testing.assert_allclose(found.scores, mine.scores)


def test_a_line_of_five_pixels_has_the_papers_three_answers() -> None:
    assert "{x1, x4}, {x2, x4}, {x2, x5}" in line_of_pixels()


def test_the_page(tmp_path: Path) -> None:
    study = prepare("models", "smoke", tmp_path)
    page = reproduce(study).read_text()
    assert page.count("<figure") == 5 and study.summary()["figures"][0] == "The gene network"
    assert "Where C is 0, A and B are dependent. Where C is 0, A and D are independent." in page
    assert "v11 continues in v22; v31 continues in v42" in page
