"""Candidates found tile by tile are those of the whole image, and those that numpy finds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mam.core.growing import GrowingSizes
from mam.vision.images.binary import as_states
from mam.vision.parts import tiles
from mam.vision.parts.candidates import PRUNING, PartCandidates
from mam.vision.parts.host_pruning import _Rules, prune_on_host
from mam.vision.parts.masks import Noise, Parts
from mam.vision.parts.tiles import list_candidates
from tests.vision.pictures import contour, crop, drawn_strokes


def rows_of(found: PartCandidates) -> list[list[int]]:
    return np.stack([found.image, found.row, found.column, found.type], 1).tolist()


def listed(states: list[np.ndarray], pruning: str) -> list[list[int]]:
    return rows_of(list_candidates(states, drawn_strokes(4), pruning, GrowingSizes()))


def noisy_contours() -> list[np.ndarray]:
    """Crops of contours in pictures of several shapes, with noise and unknown pixels."""
    random = np.random.default_rng(0)
    states = []
    for row, shape in enumerate([(150, 40), (97, 128), (30, 31), (1, 200)]):
        image = np.zeros(shape, bool)
        drawn = crop(contour(row + 1), 90, row)[: shape[0], : shape[1]]
        image[-drawn.shape[0] :, -drawn.shape[1] :] = drawn
        image ^= random.random(shape) < 0.02
        states.append(as_states(image, random.random(shape) < 0.02))
    return states


@pytest.mark.parametrize("pruning", PRUNING)
@pytest.mark.parametrize("at_once", [1, 4])
def test_tiles_find_what_is_in_the_whole_image(
    pruning: str, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also several at once, as on an accelerator, some of them blank."""
    states = noisy_contours()
    monkeypatch.setattr(tiles, "on_host", lambda parts, pruning, many: False)
    whole = listed(states, pruning)
    monkeypatch.setattr(tiles, "_SIDES", (32, 96))
    monkeypatch.setattr(tiles, "tiles_at_once", lambda: at_once)
    assert listed(states, pruning) == whole
    assert {image for image, *_ in whole} == {0, 1, 2}  # the last holds a line of noise


def test_nothing_is_found_in_nothing() -> None:
    assert listed([], "strong") == []
    assert listed([np.full((700, 3), -1, np.int8)], "strong") == []


@pytest.mark.parametrize("pruning", ["strong", "none"])
@pytest.mark.parametrize("side", [1, 5, 7, 9, 13])
def test_numpy_finds_what_programs_find(
    side: int, pruning: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Windows of one word and of several; parts of any shape."""
    random = np.random.default_rng(side)
    masks = random.random((5, side, side)) < 0.4
    masks[:, side // 2] = True
    parts = Parts(masks, Noise(pi01=0.1, prior=-3.0 if side == 1 else -20.0))
    states = noisy_contours()
    monkeypatch.setattr(tiles, "on_host", lambda parts, pruning, many: False)
    known = rows_of(list_candidates(states, parts, pruning, GrowingSizes()))
    assert rows_of(prune_on_host(states, parts, pruning)) == known and len(known) > 5


@given(st.integers(0, 2**32 - 1), st.sampled_from(["strong", "none"]))
@settings(deadline=None, max_examples=25)
def test_images_of_all_sizes_do_not_know_of_each_other(seed: int, pruning: str) -> None:
    """Stacked in columns or alone, with unknown pixels, at borders and without any."""
    random = np.random.default_rng(seed)
    masks = random.random((3, 5, 5)) < 0.5
    masks[:, 2, 2] = True
    parts = Parts(masks, Noise(pi01=0.1, prior=float(random.uniform(-25, -5))))
    states = [
        random.choice(np.array([-1, 0, 1], np.int8), (rows, cols), p=[0.6, 0.1, 0.3])
        for rows, cols in random.integers(1, 14, (6, 2)).clip(None, (14, 9))
    ]
    together = rows_of(prune_on_host(states, parts, pruning))
    alone = [rows_of(prune_on_host([state], parts, pruning)) for state in states]
    known = [[image, *place] for image, some in enumerate(alone) for _, *place in some]
    assert together == known
    assert known == rows_of(prune_by_definition(states, parts, pruning))


def prune_by_definition(states: list[np.ndarray], parts: Parts, pruning: str) -> PartCandidates:
    """Every placement against every other one, pixel by pixel."""
    noise, found = parts.noise, []
    for image, state in enumerate(states):
        wide = np.pad(state, parts.radius)
        placed = []
        for row, column, type_ in np.ndindex(*state.shape, len(parts)):
            under = np.argwhere(parts.masks[type_]) + np.array([row, column])
            seen = wide[tuple(under.T)]
            on = frozenset(map(tuple, under[seen > 0].tolist()))
            covers = frozenset(map(tuple, under.tolist()))
            off = int((seen < 0).sum())
            loss = noise.loss if pruning == "strong" else 0.0
            if noise.gain * len(on) - loss * off + noise.prior > 0:
                placed.append(((row, column, type_), on, covers, off))
        for place, on, _, off in placed:
            gone = pruning == "strong" and any(
                on <= covers
                and off_there <= off
                and len(more) >= len(on)
                and (len(more) > len(on) or off_there < off or other < place)
                for other, more, covers, off_there in placed
            )
            if not gone:
                found.append((image, *place))
    return PartCandidates(*np.array(found, np.int64).reshape(-1, 4).T)


def test_few_windows_are_looked_at_where_most_is_off() -> None:
    """A part that is worth it covers more ON pixels than its prior alone asks for."""
    parts = Parts.load("pathfinder-parts")
    strong, none = (_Rules.of(parts, pruning) for pruning in ("strong", "none"))
    assert strong.least > strong.least_on and none.least == none.least_on
