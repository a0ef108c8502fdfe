"""The cABC task on images of the project's own generator, with a search small enough for tests."""

from pathlib import Path

import numpy as np
import pytest

from mam.data import CabcRow, StoreConfig, make_row, recipe, write_dataset
from mam.data.raster import disc
from mam.tasks import cabc
from mam.tasks.cabc_pixels import pixels_under
from mam.vision.elastic.letters import finder as finders
from mam.vision.elastic.letters.finder import ObjectFinder
from mam.vision.elastic.letters.letter_forward import ForwardConfig
from mam.vision.elastic.letters.letter_learning import PART_RADIUS
from mam.vision.elastic.letters.letter_search import LetterSearchConfig
from mam.vision.elastic.search import RefitRound
from mam.vision.elastic.variants import VariantConfig
from mam.vision.parts.greedy import greedy_cover
from mam.vision.parts.masks import CABC
from mam.vision.parts.message_cover import message_cover
from mam.vision.parts.training import LETTER_SIDE, letter_masks

ROWS = 3
RECIPE = recipe("cabc", "easy", 5)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    small = LetterSearchConfig(
        window=15,
        rounds=(RefitRound(6, 9, 1),),
        kept=6,
        forward=ForwardConfig(each_group=1, more=4),
        variants=VariantConfig(count=0),
    )
    monkeypatch.setitem(finders.PRESETS, "best", lambda: small)


@pytest.fixture(scope="module")
def rows() -> list[CabcRow]:
    return [make_row(RECIPE, row) for row in range(ROWS)]


@pytest.fixture(scope="module")
def finder(rows: list[CabcRow]) -> ObjectFinder:
    return cabc.fit(rows)


def test_letters_that_were_learned_are_found(rows: list[CabcRow], finder: ObjectFinder) -> None:
    for row, answer in zip(rows, cabc.predict([row.image for row in rows], finder), strict=True):
        assert isinstance(answer, cabc.CabcAnswer)
        assert answer.label == row.label == int(answer.log_odds > 0)
        found = sorted(letter.category for letter in answer.letters)
        assert found == sorted(row.categories.tolist())
        for letter in answer.letters:
            assert letter.pixels[tuple(letter.vertices.T)].all() and letter.score > 0


def test_bad_rows_are_skipped_and_the_others_answered(
    rows: list[CabcRow], finder: ObjectFinder
) -> None:
    good = rows[0].image
    bare = np.where(rows[0].letters > 0, 255, 0).astype(np.uint8)
    third, lost = good.copy(), np.zeros_like(good)
    ring = _ring()
    for image, places in ((third, [(8, 8)]), (lost, [(20, 20), (300, 300)])):
        for row, col in places:
            image[row : row + len(ring), col : col + len(ring)] = ring
    answers = cabc.predict([bare, good, third, lost], finder, ["a", "b", "c", "d"])
    messages = [str(answer) for answer in answers]
    assert "1 of 2 ring markers found" in messages[0]  # a bend of the letter is taken for one
    assert isinstance(answers[1], cabc.CabcAnswer)
    assert "c: three ring markers" in messages[2]
    assert "d: the marker at" in messages[3] and "on no letter" in messages[3]


def _ring() -> np.ndarray:
    distance = np.hypot(*np.mgrid[-12:13, -12:13])
    return np.where((distance <= 11) & (distance > 8), 255, 0).astype(np.uint8)


def test_evaluate_counts(tmp_path: Path, finder: ObjectFinder) -> None:
    data = tmp_path / "set.parquet"
    write_dataset(RECIPE, ROWS, data, StoreConfig(1, ROWS))
    done: list[int] = []
    report = cabc.evaluate(str(data), finder, limit=2, advance=done.append)
    assert report.n == 2 and sum(done) == 2
    assert report.figures == {"accuracy": 1.0, "proved": 0.0}
    assert report.errors == () and report.skipped == {}


@pytest.mark.parametrize(("level", "seed", "number"), [("easy", 5, 2), ("hard", 1, 465)])
def test_the_papers_rings_are_read_by_their_grey(level: str, seed: int, number: int) -> None:
    row = make_row(recipe("cabc", level, seed), number)  # those of the second touch
    assert isinstance(row, CabcRow)
    state, hulls = cabc.read_as_paper(row.image, "the row")
    assert set(np.unique(state)) == {-1, 1}
    middles = np.stack([np.argwhere(hull).mean(0) for hull in hulls])
    wanted = (row.markers + 0.5) * LETTER_SIDE / cabc.PUBLISHED_SIDE - 0.5
    away = np.linalg.norm(middles[:, None] - wanted, axis=2)
    assert sorted(away.argmin(1).tolist()) == [0, 1] and away.min(1).max() < 1.5
    assert np.all(np.abs(hulls.sum((1, 2)) / (np.pi * 8.05**2) - 1) < 0.2)
    with pytest.raises(ValueError, match="plain: no rings of grey"):
        cabc.read_as_paper(np.where(row.letters > 0, 255, 0).astype(np.uint8), "plain")


@pytest.mark.slow
def test_the_papers_parts_are_placed_about_as_densely(rows: list[CabcRow]) -> None:
    masks = [mask[::2, ::2] for mask in letter_masks(rows[0])]
    part = disc(PART_RADIUS)
    by_messages, greedily = (one(masks, part, CABC) for one in (message_cover, greedy_cover))
    [again] = message_cover(masks[:1], part, CABC)
    np.testing.assert_array_equal(again, by_messages[0])
    for mask, places, other in zip(masks, by_messages, greedily, strict=True):
        assert 0.6 < len(places) / len(other) < 1.6
        reach = np.abs(np.argwhere(mask)[:, None] - places).max(2).min(1)
        assert np.mean(reach <= PART_RADIUS) > 0.8


def test_the_papers_preset_answers_with_the_best_pair(
    rows: list[CabcRow], finder: ObjectFinder, monkeypatch: pytest.MonkeyPatch
) -> None:
    paper = LetterSearchConfig.paper()
    assert paper.kept == 140 and paper.window == 25 and paper.pairs.multiple == 0.33
    small = LetterSearchConfig(
        window=15,
        rounds=(),
        kept=12,
        forward=ForwardConfig(by_category=False, each_anchor=3, each_group=12, more=0),
        variants=VariantConfig(count=0),
    )
    monkeypatch.setitem(finders.PRESETS, "paper", lambda: small)
    asked = ObjectFinder.of(finder.bank_, preset="paper")
    [answer] = cabc.predict([rows[1].image], asked)
    assert isinstance(answer, cabc.CabcAnswer)
    assert np.isinf(answer.log_odds) and answer.label == int(answer.log_odds > 0)
    for letter in answer.letters:
        pixels = pixels_under(letter.vertices, asked.bank_.mask)
        np.testing.assert_array_equal(pixels, letter.pixels)


def test_the_estimators_contract(rows: list[CabcRow], finder: ObjectFinder, tmp_path: Path) -> None:
    finder.save(tmp_path / "bank.safetensors")
    again = ObjectFinder.load(tmp_path / "bank.safetensors", seed=3)
    assert again.get_params()["seed"] == 3
    mask = letter_masks(rows[0])[0]
    [one], [two] = finder.find(mask), again.find(mask)
    assert one.score == two.score and one.graph == two.graph
    assert one.category == rows[0].categories[0] and one.margin > 0
    assert len(finder.find(mask, copies=3)) == 3
    with pytest.raises(ValueError, match="copies must lie between 1 and"):
        finder.find(mask, copies=1000)
    with pytest.raises(ValueError, match="has learned nothing yet"):
        ObjectFinder().find(mask)
    with pytest.raises(ValueError, match="preset is one of best, paper"):
        ObjectFinder.of(finder.bank_, preset="quick").find(mask)
