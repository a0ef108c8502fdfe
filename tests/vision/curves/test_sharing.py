"""What speaks for a shared strand, strand by strand."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mam.vision.curves.strands.sharing import SHARING_TERMS, sharing_terms
from tests.vision.curves.strand_graphs import straight_strands


@given(st.integers(0, 10_000), st.integers(0, 8))
def test_terms_by_their_definition(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    node = rng.integers(-1, 3, (count, 2))
    length, width = rng.uniform(0.1, 50, count), rng.uniform(1, 9, count)
    found = sharing_terms(straight_strands(node, length, width))
    assert found.shape == (count, len(SHARING_TERMS))
    for k in range(count):
        ends = [(s, e) for e in (0, 1) for s in range(count)]
        beside, dangling = [], False
        for mine in (0, 1):
            at = node[k, mine]
            others = [s for s, e in ends if at >= 0 and node[s, e] == at and (s, e) != (k, mine)]
            beside += [width[s] for s in others]
            dangling |= len(others) < 2
        usual = np.mean(beside) if beside else width[k]
        wanted = [1, np.log(max(length[k], 1) / usual), np.log(width[k] / usual), dangling]
        np.testing.assert_allclose(found[k], wanted, atol=1e-9)
