"""The second look: what one letter leaves is searched for the other."""

from dataclasses import replace

import jax
import numpy as np
import pytest

from mam.vision.elastic.letters.letter_forward import ForwardConfig
from mam.vision.elastic.letters.letter_learning import learn_bank
from mam.vision.elastic.letters.letter_rest import RestConfig, known_letters, look_again
from mam.vision.elastic.letters.letter_search import (
    LetterLibrary,
    LetterSearchConfig,
    scored,
    search,
)
from mam.vision.elastic.search import RefitRound
from mam.vision.elastic.variants import VariantConfig

SMALL = LetterSearchConfig(
    window=9,
    rounds=(RefitRound(6, 9, 1, 0.1), RefitRound(5, 9, 1, 0.1)),
    kept=5,
    forward=ForwardConfig(each_group=3, more=2),
    variants=VariantConfig(count=0),
)
REST = RestConfig(letters=2)


def shapes() -> tuple[np.ndarray, np.ndarray]:
    """A bar and a corner that cross."""
    bar, corner = np.zeros((2, 72, 72), bool)
    bar[40:48, 6:66] = True
    corner[12:20, 20:60] = corner[12:64, 20:28] = True
    return bar, corner


@pytest.fixture(scope="module")
def library() -> LetterLibrary:
    return LetterLibrary.of(learn_bank(shapes(), [0, 1]), SMALL)


def state() -> np.ndarray:
    bar, corner = shapes()
    return np.where(bar | corner, 1, -1).astype(np.int8)


def test_places_score_alike_on_the_same_evidence(library: LetterLibrary) -> None:
    [found] = search([state()], library)
    graphs = found.graphs.take(np.flatnonzero(np.isfinite(found.single)))
    again = scored(_canvas(state())[None], library).rescored(graphs)
    np.testing.assert_allclose(again.matched.score, graphs.matched.score, rtol=1e-4)
    assert not again.matched.exact.any()


def _canvas(image: np.ndarray) -> np.ndarray:
    """An image with OFF pixels beyond it, more than any part reaches."""
    return np.pad(image, ((0, 60), (0, 60)), constant_values=-1)


def test_the_rest_of_one_letter_shows_the_other(library: LetterLibrary) -> None:
    [found] = search([state()], library)
    category = library.bank.category[found.graphs.graph]
    bars = np.where(category == 0, 0.0, -np.inf)
    # Nothing but a bar was found, and it is known.
    poor = found._replace(
        graphs=found.graphs.take(np.flatnonzero(category == 0)),
        single=found.single[category == 0],
        pair=found.pair[np.ix_(category == 0, category == 0)],
    )
    one = replace(REST, letters=1)
    [more] = look_again([poor], [state()], [bars[category == 0]], library, one)
    count = len(poor.single)
    np.testing.assert_array_equal(more.graphs.place[:count], poor.graphs.place)
    np.testing.assert_allclose(more.pair[:count, :count], poor.pair, rtol=1e-4)
    first, second = np.unravel_index(int(more.pair.argmax()), more.pair.shape)
    both = library.bank.category[more.graphs.graph[[first, second]]]
    assert sorted(both.tolist()) == [0, 1]
    assert more.pair.max() > 2 * poor.pair.max()


def test_letters_that_are_known_differ_and_no_company_matters(library: LetterLibrary) -> None:
    [found] = search([state()], library)
    chance = found.pair.max(1)
    known = known_letters(found, state().shape, chance, library, REST)
    shared = (known[0] & known[1]).sum() / (known[0] | known[1]).sum()
    assert known.shape == (2, *state().shape) and shared < REST.alike
    other = np.where(np.flipud(state()) > 0, 1, -1).astype(np.int8)
    [there] = search([other], library)
    chances = [chance, there.pair.max(1)]
    together = look_again([found, there], [state(), other], chances, library, REST)
    [alone] = look_again([found], [state()], [chance], library, REST)
    jax.tree.map(np.testing.assert_array_equal, together[0], alone)
