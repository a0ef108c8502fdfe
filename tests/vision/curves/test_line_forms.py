"""Lines without the steps of pixels, and curves as tables and graphs."""

import builtins

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from skimage.measure import approximate_polygon

from mam import CurveGrouper
from mam.vision.curves.crossings import find_crossings
from mam.vision.curves.curve_graph import as_network
from mam.vision.curves.line_forms import in_short_steps, line_length, simplified, smoothed


@given(st.integers(0, 2**31), st.integers(1, 60), st.booleans(), st.floats(0.1, 30))
def test_ends_stay_and_rings_stay_closed(seed: int, count: int, closed: bool, width: float) -> None:
    line = np.random.default_rng(seed).normal(size=(count, 2)).cumsum(0)
    line = np.concatenate([line, line[:1]]) if closed and count > 2 else line
    smooth = smoothed(line, width)
    few = simplified(smooth, 0.5)
    assert smooth.shape == line.shape and len(few) <= len(line)
    if closed and count > 2:
        assert (smooth[0] == smooth[-1]).all() and (few[0] == few[-1]).all()
    else:
        assert (smooth[[0, -1]] == line[[0, -1]]).all() and (few[[0, -1]] == line[[0, -1]]).all()
    # No point is farther from the simplified line than was allowed.
    dense = in_short_steps(few, 0.01) if len(few) > 1 else few
    far = np.linalg.norm(smooth[:, None] - dense, axis=2).min(1)
    assert far.max() <= 0.51
    np.testing.assert_allclose(line_length(in_short_steps(line, 0.3)), line_length(line))


@given(st.integers(0, 2**31), st.integers(1, 60), st.floats(0.1, 5))
def test_few_points_are_those_of_scikit_image(seed: int, count: int, tolerance: float) -> None:
    line = np.random.default_rng(seed).normal(size=(count, 2)).cumsum(0)
    assert (simplified(line, tolerance) == approximate_polygon(line, tolerance)).all()


def test_a_staircase_has_the_length_of_its_slope() -> None:
    t = np.arange(200)
    stairs = np.stack([np.round(t * 0.4), t], 1).astype(float)
    true = float(np.hypot(0.4, 1) * 199)
    assert line_length(stairs) > 1.05 * true
    few = simplified(smoothed(stairs, 3.0), 0.5)
    assert line_length(few) == pytest.approx(true, rel=0.005) and len(few) < 6


def test_crossings_of_long_segments_are_those_of_short_ones() -> None:
    random = np.random.default_rng(5)
    lines = [random.uniform(0, 200, (4, 2)) for _ in range(6)]
    found = find_crossings(lines)
    cut = find_crossings([in_short_steps(line, 3.7) for line in lines])
    order, again = (np.lexsort(some.place.round(6).T) for some in (found, cut))
    np.testing.assert_allclose(found.place[order], cut.place[again], atol=1e-8)


def test_a_graph_of_tips_and_crossings() -> None:
    bar, post = np.array([[50.0, 0], [50, 100]]), np.array([[0.0, 40], [90, 40]])
    turn = np.linspace(0, 2 * np.pi, 41)
    ring = 20 * np.stack([np.sin(turn), np.cos(turn)], 1) + [50.5, 80.3]
    ring[-1] = ring[0]
    alone = ring + np.array([200, 0])
    graph = as_network([bar, post, ring, alone])
    assert isinstance(graph, networkx.MultiGraph)
    kinds = sorted(kind for _, kind in graph.nodes(data="kind"))
    # The bar ends inside the ring: it crosses once. A ring without a crossing is a node.
    assert kinds == ["crossing", "crossing", *["tip"] * 5]
    length = {}
    for one, other, edge in graph.edges(data=True):
        length[edge["curve"]] = length.get(edge["curve"], 0) + edge["length"]
        ends = [graph.nodes[node]["place"] for node in (one, other)]
        found = [tuple(edge["points"][k]) for k in (0, -1)]
        assert np.allclose(sorted(ends), sorted(found), atol=1e-6)
        assert line_length(edge["points"]) == pytest.approx(edge["length"])
    wanted = [line_length(line) for line in (bar, post, ring, alone)]
    assert [length[k] for k in range(1, 5)] == pytest.approx(wanted)
    assert networkx.number_connected_components(graph) == 2
    assert sorted(degree for _, degree in graph.degree()) == [1, 1, 1, 1, 2, 3 + 1, 4]


def cross() -> np.ndarray:
    mask = np.zeros((80, 90), bool)
    mask[38:42, 5:85] = mask[5:75, 43:47] = True
    return mask


def test_a_grouping_as_a_frame() -> None:
    [found] = CurveGrouper.load("curves").predict([cross()])
    frame = found.to_frame()
    assert list(frame["curve"]) == [1, 2] and list(frame["crossings"]) == [1, 1]
    assert sorted(frame["length"]) == pytest.approx([70, 80], abs=8)
    assert list(frame["width"]) == pytest.approx([4, 4], abs=1)
    assert (frame["certificate"] == "exact").all() and not frame["closed"].any()
    assert found.graph.number_of_nodes() == 5 and found.graph.number_of_edges() == 4


@pytest.mark.parametrize(("name", "say"), [("pandas", "to_frame"), ("networkx", "graph")])
def test_what_is_missing_is_named(name: str, say: str, monkeypatch: pytest.MonkeyPatch) -> None:
    [found] = CurveGrouper.load("curves").predict([cross()])
    real = builtins.__import__

    def without(module: str, *rest: object) -> object:
        if module == name:
            raise ImportError(module)
        return real(module, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=rf"{say}.* needs {name}: pip install {name}"):
        _ = found.to_frame() if say == "to_frame" else found.graph
