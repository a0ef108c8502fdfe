"""Lines as people have them: rough, swelling, broken, dotted, branching."""

import time
from dataclasses import replace

import numpy as np
import pytest

from mam.data.generate.wild import WILD, make_wild
from mam.data.generate.wild_ink import all_drawn, drawn
from mam.data.schema import CurvesRow
from mam.graph import FactorGraph
from mam.graph.evidence import Evidence
from mam.infer import Options, Solution, enumerate_exactly, solve
from mam.tasks.curves import compared, dice
from mam.vision.curves.chain_model import ContourPotentials, Links
from mam.vision.curves.corrections import Corrections
from mam.vision.curves.strands import pen_model
from mam.vision.curves.strands.branches import decide_branching, find_forks, fork_graph
from mam.vision.curves.strands.broken import dashes_of, leaps
from mam.vision.curves.strands.curve_grouper import CurveGrouper
from mam.vision.curves.strands.dots import Dots, directed, dot_graph, find_dot_links
from mam.vision.curves.strands.pen_model import decide_by_pens
from mam.vision.curves.strands.pens import PenFit
from mam.vision.curves.strands.roughness import spurs_of
from mam.vision.curves.strands.steadiness import brush_variance
from mam.vision.curves.strands.strand_drawing import sketch
from mam.vision.curves.strands.strand_ends import find_ends
from mam.vision.curves.strands.strands import find_strands
from mam.vision.curves.strands.width import relief

GROUPER = CurveGrouper.load("curves")
FLAT = np.stack([np.full(121, 50.0), 20.0 + 2 * np.arange(121)], 1)


def alone(line: np.ndarray, width: float = 3.0) -> np.ndarray:
    return drawn(line, width, (100, 300)) > 0.5


def curves(mask: np.ndarray) -> int:
    return len(GROUPER.predict([mask])[0])


@pytest.mark.parametrize("spread", [1.0, 2.0])
def test_a_noisy_line_alone_is_one_curve(spread: float) -> None:
    rng = np.random.default_rng(4)
    for grain in (1, 2, 4):
        at = np.arange(20, 280, grain)
        line = np.stack([50 + rng.normal(0, spread, len(at)), at.astype(float)], 1)
        assert curves(alone(line)) == 1


def test_a_walk_and_a_zigzag_are_one_curve_each() -> None:
    rng = np.random.default_rng(1)
    walk = np.stack([50 + np.cumsum(rng.normal(0, 1.5, 121)), FLAT[:, 1]], 1)
    assert curves(alone(walk)) == 1
    corner = np.abs((np.arange(121) % 30) - 15.0)
    for steep in (0.8, 2.0, 4.6):  # turns of 45 to 130 degrees
        zigzag = np.stack([20 + steep * corner, FLAT[:, 1]], 1)
        assert curves(alone(zigzag)) == 1


def test_ink_without_a_junction_is_explained_whole() -> None:
    rng = np.random.default_rng(2)
    line = np.stack([50 + rng.normal(0, 2, 260), np.arange(20.0, 280)], 1)
    [found] = GROUPER.predict([alone(line)])
    assert found.explained > 0.99


def test_smooth_ink_is_left_as_it_is() -> None:
    mask = alone(FLAT, 6.0)
    ground = sketch(mask).ground
    assert spurs_of(ground)[0] == 0
    np.testing.assert_array_equal(ground.radius, relief(mask).radius)


def test_a_brush_varies_and_a_pen_does_not() -> None:
    pen = find_strands(relief(alone(FLAT, 4.0)))
    swell = 2.0 * 4 ** ((1 + np.sin(np.arange(121) / 8)) / 2)
    brush = find_strands(relief(drawn(FLAT, swell, (100, 300)) > 0.5))
    assert brush_variance(pen) == 0 and brush_variance(brush) > 0.09


def test_cuts_at_a_slant_are_bridged() -> None:
    for width in (2.0, 3.0, 4.0):
        mask = alone(FLAT, width)
        rows, cols = np.indices(mask.shape)
        for at, slant in ((60, 1), (110, -1), (160, 1), (210, -1)):
            off = cols - at - slant * (rows - 50)
            mask[(off == 0) | (off == 1)] = False
        assert curves(mask) == 1


def row_of(kind: str, row: int) -> CurvesRow:
    return make_wild(replace(WILD, kind=kind), 11, row)


@pytest.mark.parametrize("kind", ["dashes", "dots", "trees"])
def test_pictures_of_the_generator(kind: str) -> None:
    rows = [row_of(kind, number) for number in range(2)]
    grouper = CurveGrouper.load("curves").set_params(branches=kind == "trees")
    start = time.process_time()
    found = grouper.predict([row.mask for row in rows])
    assert time.process_time() - start < 20  # once it took minutes
    for one, row in zip(found, rows, strict=True):
        assert min(dice(*compared(one.labels, row))) > 0.95
        assert one.proof == "exact"


def test_colours_tell_who_shares_a_stretch() -> None:
    row = row_of("shared", 0)
    [seen] = GROUPER.predict([row.mask], [row.image])
    assert min(dice(*compared(seen.labels, row))) > 0.95


def dotted(line: np.ndarray) -> np.ndarray:
    return all_drawn([point[None] for point in line], 3.0, (100, 300)) > 0.5


def test_dots_of_a_line_point_along_it() -> None:
    line = FLAT[::5]
    dots = Dots(line, np.full(len(line), 1.5))
    strands, proof = directed(dots, find_strands(relief(np.zeros((100, 300), bool))))
    assert proof == "exact"
    assert len(strands) == len(line)
    assert np.abs(find_ends(strands).heading[:, 1]).min() > 0.99


def test_scattered_dots_are_specks() -> None:
    place = np.random.default_rng(0).uniform(0, 100, (14, 2)) * [1.0, 30.0]
    dots = Dots(place, np.full(len(place), 1.5))
    assert not len(directed(dots, find_strands(relief(np.zeros((9, 9), bool))))[0])


def test_the_model_of_dots_against_enumeration() -> None:
    rng = np.random.default_rng(3)
    place = np.concatenate([FLAT[::6][:4], FLAT[::6][:4][:, ::-1] + [30.0, -20.0]])
    dots = Dots(place + rng.normal(0, 0.5, place.shape), np.full(len(place), 1.5))
    links = find_dot_links(dots, find_strands(relief(np.zeros((9, 9), bool))))
    graph = dot_graph(links, len(place))
    known = {"link": np.stack([np.zeros(len(links.score)), links.score], 1)}
    found, best = solve(graph, known), enumerate_exactly(graph, known)
    assert found.proof == "exact" and found.score == pytest.approx(best.score, abs=1e-4)


def test_a_link_over_a_dash_leaves_it_out() -> None:
    dashes = [FLAT[k : k + 6] for k in range(0, 80, 10)]
    strands = find_strands(relief(all_drawn(dashes, 3.0, (100, 300)) > 0.5))
    assert dashes_of(strands).all()
    ends = find_ends(strands)
    order = np.argsort(ends.place[:, 1])
    near, far = order[[1, 2]], order[[1, 4]]
    first, second = np.array([near[0], far[0]]), np.array([near[1], far[1]])
    assert leaps(ends, first, second).tolist() == [False, True]


def fork() -> tuple[np.ndarray, Links, np.ndarray]:
    """Three strands at a node, and a fourth that may follow one of them."""
    node = np.array([[-1, 0], [0, -1], [0, -1], [-1, -1]])
    stroke, side = [[0, 1], [0, 2], [1, 2], [1, 3]], [[1, 0], [1, 0], [0, 0], [1, 0]]
    return node, Links(np.array(stroke), np.array(side), np.zeros(4)), np.full(4, 3.2)


def scored_fork(seed: int) -> tuple[np.ndarray, Links, np.ndarray]:
    node, links, presence = fork()
    return node, replace(links, score=np.random.default_rng(seed).normal(0, 3, 4)), presence


def fork_model(
    node: np.ndarray, links: Links, presence: np.ndarray, potentials: ContourPotentials
) -> tuple[FactorGraph, dict[str, np.ndarray]]:
    """The model of links of which nothing is told, and its evidence."""
    forks = find_forks(node, links, links, potentials)
    graph, plain = fork_graph(links, forks, presence, potentials)
    arms = np.zeros(3 * len(forks.ends))
    return graph, {
        "part": np.append(presence, 0.0),
        "attention": np.append(links.score[plain], arms),
    }


@pytest.mark.parametrize("seed", range(6))
def test_forks_against_enumeration(seed: int) -> None:
    node, links, presence = scored_fork(seed)
    potentials = ContourPotentials(presence=3.2)
    graph, known = fork_model(node, links, presence, potentials)
    best = enumerate_exactly(graph, known)
    decided, told = decide_branching(node, links, links, presence, potentials)
    assert told.proof == "exact" and told.score == pytest.approx(best.score, abs=1e-4)
    start = graph.group("attention").start
    attention = best.best[0][start:]
    assert decided.on[3] == (attention[0] == 1)
    joined = attention[1:].sum()
    assert decided.on[:3].sum() == max(joined - 1, 0)


def told_of(links: Links, demand: list[int], forbid: list[int]) -> Links:
    score = links.score.copy()
    score[demand], score[forbid] = np.inf, -np.inf
    return replace(links, score=score)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    ("demand", "forbid"), [([0], []), ([], [1]), ([0], [1]), ([2], []), ([3], [])]
)
def test_what_is_known_of_forks_against_enumeration(
    seed: int, demand: list[int], forbid: list[int]
) -> None:
    """The best answer that agrees with what is known, scored by the links themselves."""
    node, links, presence = scored_fork(seed)
    potentials = ContourPotentials(presence=3.2)
    graph, known = fork_model(node, links, presence, potentials)
    every = enumerate_exactly(graph, known)
    on = every.values[:, graph.group("attention").start :] == 1
    pairs = {0: (1, 2), 1: (1, 3), 2: (2, 3)}  # the arms that the first three links join
    both = np.stack([on[:, list(pairs[k])].all(1) for k in range(3)] + [on[:, 0]], 1)
    agrees = both[:, demand].all(1) & ~both[:, forbid].any(1)
    told = told_of(links, demand, forbid)
    decided, certificate = decide_branching(node, links, told, presence, potentials)
    assert certificate.proof == "exact"
    assert certificate.score == pytest.approx(every.scores[agrees].max(), abs=1e-4)
    assert decided.on[demand].all() and not decided.on[forbid].any()
    assert np.isposinf(decided.belief[demand]).all()
    assert np.isneginf(decided.belief[forbid]).all()


@pytest.mark.parametrize("seed", range(3))
def test_a_demanded_link_counts_in_the_bound_as_in_the_score(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A solver that proves nothing must not prove anything here."""

    def hasty(graph: FactorGraph, known: Evidence, bound: bool) -> Solution:
        few = Options(seconds=0, largest_table=16, bound_steps=3, iterations=5)
        return solve(graph, known, few, bound=bound)

    rng = np.random.default_rng(seed)
    stroke = rng.integers(0, 16, (40, 2))
    stroke = stroke[stroke[:, 0] != stroke[:, 1]]
    ends = np.unique(np.sort(2 * stroke + rng.integers(0, 2, stroke.shape), axis=1), axis=0)
    links = Links(ends // 2, ends % 2, rng.normal(1, 3, len(ends)))
    pens = PenFit(-np.abs(rng.normal(0, 6, (16, 3))), np.array([[0, 5], [2, 9], [5, 9]]))
    presence, potentials = np.full(16, 3.2), ContourPotentials(presence=3.2)
    told = told_of(links, [int(links.score.argmax())], [])
    _, best = decide_by_pens(links, told, presence, pens, potentials)
    monkeypatch.setattr(pen_model, "solve", hasty)
    _, found = decide_by_pens(links, told, presence, pens, potentials, bound=True)
    assert best.proof == "exact" and found.bound is not None
    assert found.score <= best.score + 1e-4 <= found.bound + 2e-4
    assert found.proof is None or found.score == pytest.approx(best.score, abs=1e-4)


def tree() -> np.ndarray:
    branch = np.stack([50.0 - np.arange(40), 140.0 + np.arange(40)], 1)
    return (all_drawn([FLAT, branch], 4.0, (100, 300))) > 0.5


def test_a_tree_is_one_curve_with_a_line_for_each_branch() -> None:
    mask = tree()
    assert curves(mask) == 2
    grouper = CurveGrouper.load("curves").set_params(branches=True)
    [found] = grouper.predict([mask])
    assert len(found) == 1 and len(found.polylines) == 2 and len(found.masks) == 1
    assert found.masks[0].sum() == mask.sum()
    assert found.same([50, 25], [15, 175]).same and found.same([50, 25], [15, 175]).margin > 0
    # A branch that is forbidden is a curve of its own.
    ends = [found.end_at(place) for place in ([50, 150], [45, 145])]
    links = {
        frozenset(pair) for pair in (2 * found.links.stroke + found.links.side)[found.on].tolist()
    }
    apart = [tuple(sorted(pair)) for pair in links if ends[1] in pair]
    again = grouper.corrected(found, Corrections(forbid=apart))
    assert len(again) == 2 and again.score < found.score
