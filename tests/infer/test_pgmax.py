"""Or, And and Pairwise against an outside implementation of the same messages."""

import jax.numpy as jnp
import numpy as np
import pytest

from mam.factors import And, Factors, Or, Pairwise
from mam.graph import GraphBuilder, compile_graphs
from mam.infer import propagate
from tests.oracles import pgmax as oracle

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # it is not ours to mend
]

ITERATIONS = 7
SIZE = 8


@pytest.fixture
def relaxed() -> object:
    """PGMax mixes dtypes freely."""
    import jax

    oracle.load()
    with jax.numpy_dtype_promotion("standard"):
        yield


def beliefs(factors: Factors, evidence: np.ndarray) -> np.ndarray:
    builder = GraphBuilder()
    builder.variables("x", SIZE)
    builder.add("f", factors)
    graph = compile_graphs(builder.build())
    differences = (evidence[:, 1] - evidence[:, 0]).astype(np.float32)
    return np.asarray(
        propagate(graph, {"x": jnp.asarray(differences)}, iterations=ITERATIONS, damping=0.0)["x"]
    )


def rival(make: object, evidence: np.ndarray) -> np.ndarray:
    from pgmax import fgraph, vgroup

    variables = vgroup.NDVarArray(num_states=2, shape=(SIZE,))
    graph = fgraph.FactorGraph(variable_groups=[variables])
    graph.add_factors(make(variables))
    found = oracle.run(graph, variables, evidence, ITERATIONS)
    return found[:, 1] - found[:, 0]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["or", "and", "pairwise"])
def test_beliefs_agree(kind: str, seed: int, relaxed: None) -> None:
    from pgmax import fgroup

    rng = np.random.default_rng(seed)
    evidence = rng.normal(size=(SIZE, 2))
    matrix = rng.normal(size=(2, 2))
    triples, pairs = [[0, 1, 6], [1, 2, 7], [2, 3, 4]], [[0, 1], [1, 2], [2, 0], [5, 6]]
    if kind == "pairwise":
        ours: Factors = Pairwise.of(pairs, matrix)
        theirs = lambda v: fgroup.PairwiseFactorGroup(  # noqa: E731
            variables_for_factors=[[v[a], v[b]] for a, b in pairs], log_potential_matrix=matrix
        )
    else:
        inputs, output = [t[:2] for t in triples], [t[2] for t in triples]
        ours = Or.of(inputs, output) if kind == "or" else And.of(inputs, output)
        group = fgroup.ORFactorGroup if kind == "or" else fgroup.ANDFactorGroup
        theirs = lambda v: group(  # noqa: E731
            variables_for_factors=[[v[i] for i in t] for t in triples]
        )
    np.testing.assert_allclose(beliefs(ours, evidence), rival(theirs, evidence), atol=1e-4)
