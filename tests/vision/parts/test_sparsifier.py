"""The sparsifier against the definition, the exact optimum and the generic engine."""

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mam.infer import enumerate_exactly, solve
from mam.infer.restarts import _propagate
from mam.vision.images.binary import as_states
from mam.vision.parts.cover import cover_of, sparsifier_model
from mam.vision.parts.islands import islands_of
from mam.vision.parts.masks import Noise, Parts
from mam.vision.parts.sparsifier import Sparsifier
from tests.infer.test_compilations import compilations
from tests.oracles.sparsifier import exact_optimum, score_of
from tests.vision.pictures import contour, crop, drawn_disc, drawn_strokes, letter

CHEAP = Noise(prior=-8.0)  # small parts pay off too


@st.composite
def small_scenes(draw: st.DrawFn) -> tuple[np.ndarray, Parts]:
    """A tiny image with structure, and two random parts of 3 x 3."""
    random = np.random.default_rng(draw(st.integers(0, 2**31)))
    masks = random.random((2, 3, 3)) < 0.6
    masks[:, 1, 1] = True
    shape = draw(st.integers(2, 7)), draw(st.integers(2, 7))
    canvas = np.zeros((shape[0] + 2, shape[1] + 2), bool)
    for _ in range(draw(st.integers(0, 4))):
        row, col = random.integers(shape[0]), random.integers(shape[1])
        canvas[row : row + 3, col : col + 3] |= masks[random.integers(len(masks))]
    image = canvas[1:-1, 1:-1] ^ (random.random(shape) < draw(st.sampled_from([0.0, 0.1])))
    return image, Parts(masks, CHEAP)


@settings(max_examples=12, deadline=None)
@given(small_scenes())
def test_small_scenes_are_explained_optimally(scene: tuple[np.ndarray, Parts]) -> None:
    image, parts = scene
    [found] = Sparsifier(parts).transform([image])
    best, proven = exact_optimum(image, parts, "none")
    assert proven
    assert found.score == pytest.approx(score_of(found, image, parts), abs=1e-6)
    assert found.score <= best + 1e-3
    assert found.score >= best - 0.03 * abs(best) - 1e-3
    places = list(zip(found.row, found.column, strict=True))
    assert len(set(places)) == len(places)


@pytest.mark.skipif(jax.default_backend() != "cpu", reason="arrays grow on an accelerator")
def test_pictures_of_many_sizes_compile_nothing() -> None:
    sparsifier, whole = Sparsifier(Parts.load("pathfinder-parts")), contour(3)
    with compilations() as names:
        for cut in range(0, 60, 4):
            [found] = sparsifier.transform([whole[cut:, cut // 2 :]])
            assert len(found.row)
    assert not names


@settings(max_examples=12, deadline=None)
@given(small_scenes(), st.integers(0, 2**31))
def test_what_is_hidden_costs_and_gains_nothing(scene: tuple[np.ndarray, Parts], seed: int) -> None:
    image, parts = scene
    unknown = np.random.default_rng(seed).random(image.shape) < 0.4
    [found] = Sparsifier(parts, pruning="safe").transform([image], [unknown])
    [other] = Sparsifier(parts, pruning="safe").transform([image ^ unknown], [unknown])
    assert found.score == other.score
    assert found.score == pytest.approx(score_of(found, image, parts, unknown), abs=1e-6)
    best, proven = exact_optimum(image, parts, "none", unknown=unknown)
    assert proven and found.score <= best + 1e-3
    assert found.score >= best - 0.03 * abs(best) - 1e-3


@settings(max_examples=15, deadline=None)
@given(small_scenes())
def test_safe_pruning_keeps_the_optimum(scene: tuple[np.ndarray, Parts]) -> None:
    image, parts = scene
    without, _ = exact_optimum(image, parts, "none", exclusive=False)
    safe, _ = exact_optimum(image, parts, "safe", exclusive=False)
    assert safe == pytest.approx(without, abs=1e-4)


def test_the_formal_model_scores_the_same() -> None:
    parts = Parts(drawn_strokes(4).masks, CHEAP)
    image = crop(contour(0), 12, 3)
    for exclusive in (False, True):
        model = sparsifier_model(image, parts, "strong", exclusive=exclusive)
        exact = enumerate_exactly(model.graph, model.evidence)
        [found] = Sparsifier(parts, exclusive=exclusive).transform([image])
        assert found.score == pytest.approx(exact.score, abs=1e-4)


@pytest.mark.parametrize("row", range(4))
def test_crops_of_contours_are_optimal(row: int) -> None:
    parts, image = drawn_strokes(), crop(contour(row), 32, row)
    best, proven = exact_optimum(image, parts, "strong")
    full, _ = exact_optimum(image, parts, "none")
    [found] = Sparsifier(parts).transform([image])
    assert proven and full == pytest.approx(best, abs=1e-3)
    assert found.score == pytest.approx(best, abs=1e-2)


@pytest.mark.slow
def test_a_hundred_crops() -> None:
    """The promise: within 1 % on average, optimal on 90 %, pruning changes no optimum."""
    gaps, kept = [], []
    strokes, discs = drawn_strokes(), drawn_disc()
    # One sparsifier for all images of a kind: it compiles little anew.
    of_strokes = Sparsifier(strokes, pruning="strong", restarts=16)
    of_discs = Sparsifier(discs, pruning="safe", restarts=16)
    for number in range(100):
        is_letter = number % 2
        parts, sparsifier = (discs, of_discs) if is_letter else (strokes, of_strokes)
        side = 12 if is_letter else 36
        image = crop(letter(number) if is_letter else contour(number), side, number)
        best, proven = exact_optimum(image, parts, sparsifier.pruning)
        assert proven
        [found] = sparsifier.transform([image])
        assert found.score <= best + 1e-2
        gaps.append((best - found.score) / max(best, 1.0))
        if number < 20:
            full, proven = exact_optimum(image, parts, "none")
            kept.append(proven and abs(full - best) < 1e-3)
    assert np.mean(gaps) < 0.01
    assert np.mean(np.array(gaps) < 1e-5) >= 0.9
    assert all(kept)


def test_islands_that_look_the_same_are_one() -> None:
    """Two strokes a pixel apart touch and are two islands; a shift makes no difference."""
    bar = drawn_strokes(4)
    image = np.zeros((40, 90), bool)
    stroke = bar.masks[0]
    side = len(stroke)
    for row, col in [(3, 5), (20, 60), (25, 30)]:
        image[row : row + side, col : col + side] |= stroke
    states = as_states(image)
    listed = sparsifier_model(image, bar, "strong").candidates
    cover = cover_of(listed, [states], bar)
    islands = islands_of(cover, exclusive=True)
    assert len(islands.like) == 3 and len(islands.first) == 1
    sizes = np.diff(islands.start)
    assert sizes.tolist() == [len(cover) // 3] * 3
    image[3 + side // 2, 5] ^= True  # one pixel more or less, and they differ
    listed = sparsifier_model(image, bar, "strong").candidates
    changed = islands_of(cover_of(listed, [as_states(image)], bar), exclusive=True)
    assert len(changed.first) > 1


def test_a_proof_holds() -> None:
    parts, proved = drawn_strokes(6), 0
    sparsifier = Sparsifier(parts)
    for row in range(4):
        image = crop(contour(row), 24, row)
        [found] = sparsifier.transform([image])
        if found.proof == "exact":
            best, _ = exact_optimum(image, parts, "strong")
            assert found.score == found.bound == pytest.approx(best, abs=1e-5)
            assert found.gap == 0
            proved += 1
    assert proved


def test_the_batch_makes_no_difference() -> None:
    parts = drawn_strokes(6)
    images = [crop(contour(row), side, row) for row, side in enumerate([20, 33, 64, 20])]
    together = Sparsifier(parts, seed=3).transform(images)
    one_by_one = Sparsifier(parts, seed=3)  # its arrays grow from image to image
    for image, found in zip(images, together, strict=True):
        [alone] = one_by_one.transform([image])
        for name in ("type", "row", "column"):
            np.testing.assert_array_equal(getattr(alone, name), getattr(found, name))
        assert alone.score == found.score


def test_bound_and_gap() -> None:
    parts, image = drawn_strokes(6), crop(contour(2), 20, 2)
    [found] = Sparsifier(parts, bound=True).transform([image])
    best, _ = exact_optimum(image, parts, "none", exclusive=False)
    assert found.bound is not None and found.gap is not None
    assert found.bound >= best - 1e-3
    assert found.gap >= 0
    assert found.bound < parts.noise.gain * image.sum() + parts.noise.prior  # the trivial bound


@pytest.mark.parametrize("pruning", ["strong", "safe"])
def test_a_proof_closes_the_gap(pruning: str) -> None:
    parts, proofs = drawn_strokes(6), []
    for row in range(2):
        image = crop(contour(row), 40, row)
        [found] = Sparsifier(parts, pruning=pruning, bound=True).transform([image])
        assert found.gap is not None and (found.proof is None) == (found.gap > 1e-5)
        proofs.append(found.proof)
    assert proofs == [None, "bound" if pruning == "strong" else "exact"]


def test_reconstruction_explains_the_strokes() -> None:
    parts, image = drawn_strokes(), contour(5)
    [found] = (sparsifier := Sparsifier(parts)).fit([image]).transform([image])
    drawn = sparsifier.reconstruct(found)
    assert (drawn & image).sum() >= 0.88 * image.sum()
    assert drawn.shape == image.shape
    assert (found.margin >= 0).all()
    assert np.median(found.margin) > 1


@pytest.mark.parametrize("shape", [(1, 1), (3, 40), (64, 64)])
def test_an_empty_image_has_no_placements(shape: tuple[int, int]) -> None:
    [found] = Sparsifier(drawn_strokes(4)).transform([np.zeros(shape, bool)])
    assert len(found) == 0 and found.score == 0


def test_no_images_no_answers() -> None:
    assert Sparsifier(drawn_strokes(4)).transform([]) == []


def test_an_image_smaller_than_a_part_and_an_all_on_image() -> None:
    [small] = Sparsifier(drawn_strokes(4)).transform([np.ones((3, 4), bool)])
    assert small.score >= 0
    sparsifier = Sparsifier(drawn_strokes(4))
    [full] = sparsifier.transform([np.ones((10, 10), bool)])
    assert sparsifier.reconstruct(full).mean() > 0.9


@pytest.mark.parametrize(
    ("image", "changes", "words"),
    [
        (np.array([[0, 7, 255]]), {}, "image 0 is not binary: it holds 7"),
        (np.zeros((0, 3), bool), {}, "no pixels"),
        (np.zeros((2, 3, 7)), {}, "rows x columns"),
        (np.array([[np.nan]]), {}, "finite"),
        (np.ones((40, 40)), {"max_candidates": 100}, "raise max_candidates"),
        (np.ones((2, 2)), {"pruning": "much"}, "pruning is one of"),
        (np.ones((2, 2)), {"restarts": 0}, "restarts must be at least 1"),
        (np.ones((2, 2)), {"damping": 1.0}, "damping"),
        (np.ones((2, 2)), {"parts": "nonsense"}, "no bundled model"),
    ],
)
def test_bad_input_is_named(image: np.ndarray, changes: dict, words: str) -> None:
    with pytest.raises((ValueError, FileNotFoundError), match=words):
        Sparsifier(drawn_strokes(4)).set_params(**changes).transform([image])


def test_hidden_pixels_of_another_size_are_refused() -> None:
    with pytest.raises(ValueError, match=r"given for \[\(3, 4\)\], the images have \[\(4, 4\)\]"):
        Sparsifier(drawn_strokes(4)).transform([np.ones((4, 4))], [np.ones((3, 4), bool)])


def test_parameters() -> None:
    sparsifier = Sparsifier(drawn_strokes(4), restarts=3)
    assert sparsifier.get_params()["restarts"] == 3
    assert Sparsifier(**sparsifier.get_params()).get_params() == sparsifier.get_params()
    with pytest.raises(ValueError, match="no parameter 'tries'"):
        sparsifier.set_params(tries=2)


def test_solve_on_the_formal_model_agrees() -> None:
    parts, image = Parts(drawn_strokes(4).masks, CHEAP), crop(contour(3), 14, 1)
    model = sparsifier_model(image, parts, "strong", exclusive=False)
    generic = solve(model.graph, model.evidence, restarts=4, schedule="blocks")
    [found] = Sparsifier(parts, exclusive=False).transform([image])
    assert found.score >= generic.score - 1e-3


def test_images_of_many_sizes_share_their_compilations() -> None:
    parts = drawn_strokes(4)
    sparsifier = Sparsifier(parts)
    sparsifier.transform([crop(contour(0), 64, 5)])  # it has more strokes than the others
    before = _propagate._cache_size()
    # Similarly crowded: an image with twice the usual candidates has arrays of its own.
    images = [crop(contour(row), side, row) for row, side in [(1, 25), (5, 33), (8, 40)]]
    assert len(sparsifier.transform(images)) == 3
    assert _propagate._cache_size() == before
