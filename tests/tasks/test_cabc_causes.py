"""Errors of cABC put down to the stage that made them, on cases whose stage is known."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mam.data import CabcRow, StoreConfig, make_row, recipe, write_dataset
from mam.tasks import cabc
from mam.tasks.cabc_causes import GOOD, Cause, Overlaps, cause_of, causes_of, overlaps_of
from mam.tasks.report import Report
from mam.vision.elastic.bank import Bank
from mam.vision.elastic.letters import finder as finders
from mam.vision.elastic.letters.finder import ObjectFinder
from mam.vision.elastic.letters.letter_forward import ForwardConfig
from mam.vision.elastic.letters.letter_pairs import PairConfig
from mam.vision.elastic.letters.letter_search import LetterSearchConfig
from mam.vision.elastic.search import RefitRound
from mam.vision.elastic.variants import VariantConfig
from mam.vision.parts.training import letter_masks

RECIPE = recipe("cabc", "easy", 5)
SMALL = LetterSearchConfig(
    window=9,
    rounds=(RefitRound(6, 9, 1),),
    kept=6,
    forward=ForwardConfig(each_group=2, more=2),
    variants=VariantConfig(count=0),
)
# Pairs are the better the more OFF pixels they cover and the fewer ON pixels.
UPSIDE_DOWN = PairConfig(on=-1.0, off=-1.0, multiple=0.0, shared=0.0)


@given(st.lists(st.tuples(*[st.sampled_from([0.0, GOOD - 0.01, GOOD, 0.9])] * 2), max_size=4))
def test_a_stage_has_a_pair_when_two_candidates_fit_a_letter_each(table: list) -> None:
    kept = np.array(table).reshape(-1, 2)
    pairs = [
        (i, j)
        for i, (one, _) in enumerate(table)
        for j, (_, two) in enumerate(table)
        if i != j and one >= GOOD and two >= GOOD
    ]
    found = cause_of(Overlaps(np.eye(2), kept, np.zeros((2, 2))))
    assert found == (Cause.pair if pairs else Cause.matching)


@pytest.mark.parametrize(
    ("forward", "kept", "chosen", "cause"),
    [
        (1, 1, 1, Cause.markers),
        (1, 1, 0, Cause.pair),
        (1, 0, 0, Cause.matching),
        (0, 0, 0, Cause.forward),
        (0, 0, 1, Cause.markers),  # found after all
    ],
)
def test_the_first_stage_without_a_pair_is_named(
    forward: int, kept: int, chosen: int, cause: Cause
) -> None:
    stages = (np.eye(2) * stage for stage in (forward, kept, chosen))
    assert cause_of(Overlaps(*stages)) == cause


@pytest.fixture(scope="module")
def row() -> CabcRow:
    return make_row(RECIPE, 0)


@pytest.fixture(scope="module")
def bank(row: CabcRow) -> Bank:
    return cabc.fit([row, make_row(RECIPE, 1)]).bank_


@pytest.fixture
def finder_of(
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[[Bank, LetterSearchConfig], ObjectFinder]:
    def make(bank: Bank, config: LetterSearchConfig) -> ObjectFinder:
        monkeypatch.setitem(finders.PRESETS, "best", lambda: config)
        return ObjectFinder.of(bank)

    return make


@pytest.mark.parametrize("cause", list(Cause))
def test_rows_whose_cause_is_made(
    cause: Cause, row: CabcRow, bank: Bank, finder_of: Callable, tmp_path: Path
) -> None:
    """A search that works, but for one stage."""
    config = {
        Cause.forward: SMALL,
        Cause.matching: replace(SMALL, rounds=(RefitRound(3, 9, 1),), kept=3, pairs=UPSIDE_DOWN),
        Cause.pair: replace(SMALL, rounds=(RefitRound(99, 9, 1),), kept=99, pairs=UPSIDE_DOWN),
        Cause.markers: SMALL,
    }[cause]
    # Graphs of the other row know nothing of this one's letters.
    known = bank.take(np.array([2, 3])) if cause == Cause.forward else bank
    data = tmp_path / "set.parquet"
    write_dataset(RECIPE, 2, data, StoreConfig(1, 2))
    done: list[int] = []
    found = causes_of(str(data), (0,), finder_of(known, config), done.append)
    assert found == {str(c): (0,) if c == cause else () for c in Cause}
    assert done == [1]


def test_overlaps_are_those_of_the_pixels(row: CabcRow, bank: Bank, finder_of: Callable) -> None:
    finder = finder_of(bank, SMALL)
    overlaps = overlaps_of(row, finder, "row 0")
    [answer] = cabc.predict([row.image], finder)
    assert isinstance(answer, cabc.CabcAnswer)
    for match, found in zip(answer.letters, overlaps.chosen, strict=True):
        for letter, share in zip(letter_masks(row), found, strict=True):
            both, any_ = (match.pixels & letter).sum(), (match.pixels | letter).sum()
            assert share == pytest.approx(both / any_)
    # What was learned from the letters themselves covers them about as well as parts can.
    assert (overlaps.forward.max(0) > 0.6).all() and len(overlaps.kept) == 6


def test_a_row_that_cannot_be_read_says_why(row: CabcRow, bank: Bank, finder_of: Callable) -> None:
    bare = replace(row, image=np.where(row.letters > 0, 255, 0).astype(np.uint8))
    with pytest.raises(ValueError, match=r"row 7: 1 of 2 ring markers"):
        overlaps_of(bare, finder_of(bank, SMALL), "row 7")


def test_the_report_counts_causes() -> None:
    report = Report({"accuracy": 0.5}, 4, 1.0, (1, 3), causes={"pair": (1, 3), "markers": ()})
    assert (
        '"errors": [1, 3], "skipped": {}, "causes": {"pair": 2, "markers": 0}}' in report.as_json()
    )
    assert "wrong by pair: 2 (1 3)\nwrong by markers: 0" in report.as_text()
