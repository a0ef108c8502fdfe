"""Skeletons cut at branchings: what every cut keeps, and masks whose strands are known."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

from mam.vision.curves.strands.skeleton_cut import (
    SkeletonCut,
    borders,
    contracted,
    cut_at_nodes,
    without_spurs,
)
from mam.vision.curves.strands.skeleton_paths import branching
from mam.vision.curves.strands.width import relief

EIGHT = np.ones((3, 3), bool)


def cut_of(mask: np.ndarray) -> SkeletonCut:
    ground = relief(mask)
    return cut_at_nodes(ground.skeleton, ground)


def bars(*boxes: tuple[int, int, int, int], side: int = 80) -> np.ndarray:
    mask = np.zeros((side, side), bool)
    for top, bottom, left, right in boxes:
        mask[top:bottom, left:right] = True
    return mask


LINE, UPRIGHT = (38, 43, 5, 75), (5, 75, 38, 43)


def test_a_cross_is_four_strands_at_one_node() -> None:
    cut = cut_of(bars(LINE, UPRIGHT))
    assert cut.inside.max() == 1 and not cut.short.any()
    assert np.sort(cut.node, axis=1).tolist() == [[-1, 0]] * 4
    np.testing.assert_allclose(cut.width, 5, atol=0.3)
    # Arms of 35 px, less the disc at the crossing and half a width at the tip.
    np.testing.assert_allclose(cut.length, 35 - 2.5 - 2.5, atol=3)
    for k in range(4):
        off = np.abs(cut.pixels[cut.path == k] - 40)
        assert off.min(1).max() <= 1


def test_a_line_is_one_strand_and_an_empty_mask_none() -> None:
    cut = cut_of(bars(LINE))
    assert cut.node.tolist() == [[-1, -1]] and not cut.inside.any()
    empty = cut_of(np.zeros((9, 9), bool))
    assert len(empty.length) == 0 and contracted(empty).shape == (0, 2)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000))
def test_what_every_cut_keeps(seed: int) -> None:
    rng = np.random.default_rng(seed)
    noise = ndimage.gaussian_filter(rng.normal(size=(50, 50)), rng.uniform(1, 3))
    ground = relief(np.asarray(noise > rng.uniform(-0.1, 0.1)))
    cut = cut_at_nodes(ground.skeleton, ground)
    drawn = np.zeros(cut.inside.shape, int)
    np.add.at(drawn, tuple(cut.pixels.T), 1)
    assert not (drawn > ground.skeleton).any() and not (drawn[cut.inside > 0] > 0).any()
    first, last = borders(cut.path, len(cut.length))
    near = ndimage.grey_dilation(cut.inside, footprint=EIGHT)
    for k in range(len(cut.length)):
        mine = np.flatnonzero(cut.path == k)
        assert mine.tolist() == list(range(first[k], last[k] + 1))
        steps = np.linalg.norm(np.diff(cut.pixels[mine], axis=0), axis=1)
        assert (steps < 1.5).all()
        np.testing.assert_allclose(cut.along[mine], ground.scale * np.append(0, np.cumsum(steps)))
        assert np.isclose(cut.length[k], cut.along[last[k]])
        for node, end in zip(cut.node[k], (first[k], last[k]), strict=True):
            beside = near[tuple(cut.pixels[end])]
            # A strand of which tips leave a pixel or two lies at both its nodes.
            own = cut.node[k] if len(mine) < 4 else [node]
            assert beside == 0 or beside - 1 in own
    grown = contracted(cut)
    assert ((grown < 0) == (cut.node < 0)).all()
    for one in range(int(cut.inside.max())):  # nodes never part
        assert len(set(grown[cut.node == one].tolist())) <= 1


def test_short_strands_belong_to_their_nodes() -> None:
    """Two lines meet a third from either side, 9 px apart: one crossing."""
    near = bars(LINE, (5, 40, 32, 37), (40, 75, 41, 46))
    far = bars(LINE, (5, 40, 22, 27), (40, 75, 51, 56))
    for mask, nodes in ((near, 1), (far, 2)):
        cut = cut_of(mask)
        kept = contracted(cut)[~cut.short]
        assert len(set(kept[kept >= 0].tolist())) == nodes


def test_spurs_are_wiped_out() -> None:
    ground = relief(bars(LINE, (30, 40, 31, 34)))
    skeleton = bars((40, 41, 7, 73), (30, 40, 32, 33))
    cut = cut_at_nodes(skeleton, ground)
    spurs = np.array([(cut.pixels[cut.path == k, 0] < 36).any() for k in range(len(cut.length))])
    assert spurs.sum() == 1
    found = without_spurs(cut, spurs)
    assert not branching(found).any()
    assert ndimage.label(found, EIGHT)[1] == 1  # type: ignore[index]
    assert np.flatnonzero(found.any(0)).tolist() == list(range(7, 73))
    assert np.argwhere(found)[:, 0].min() >= 38


def test_tips_are_left_out() -> None:
    """A line of 9 px that ends in a needle."""
    mask = bars((36, 45, 5, 60), (40, 41, 60, 70))
    for k in range(4):
        mask[37 + k : 44 - k, 60 + k] = True
    cut = cut_of(mask)
    assert cut.node.tolist() == [[-1, -1]]
    assert cut.pixels[:, 1].max() < 65
    # Tips take a width at most.
    long = bars((36, 45, 5, 40), (40, 41, 40, 78))
    assert cut_of(long).pixels[:, 1].max() > 72
