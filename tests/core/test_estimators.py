"""The scikit-learn contract, kept by every estimator of the library."""

import inspect
import io
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache
from typing import Any

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

import mam
from mam.core.estimator import Estimator
from mam.data import CurvesConfig, make_courses
from mam.data.generate.dashes import DashConfig
from mam.data.generate.objects import LEVELS, make_objects
from mam.data.generate.pathfinder import PathfinderConfig, make_pathfinder
from mam.tasks.contours_apart import contours_of
from mam.vision.elastic.letters import finder
from mam.vision.elastic.letters.letter_forward import ForwardConfig
from mam.vision.elastic.letters.letter_search import LetterSearchConfig
from mam.vision.parts.masks import Parts
from mam.vision.parts.part_learning import PartLearningConfig

BAR = np.zeros((1, 5, 5), bool)
BAR[0, 1:4] = True


@dataclass(frozen=True)
class Case:
    """An estimator, four images with their truth, and values of a parameter to choose from."""

    make: Callable[[], Any]
    data: Callable[[], tuple[list, list | None]]
    choices: dict[str, list]
    learned: tuple[str, ...]


def bars() -> tuple[list, None]:
    images = [np.zeros((20, 20), bool) for _ in range(4)]
    for number, image in enumerate(images):
        image[3 + number : 6 + number, 2:7] = image[12:15, 8 + number : 13 + number] = True
    return images, None


def contours() -> tuple[list, list]:
    config = PathfinderConfig(DashConfig(size=120), long=(5, 5), distractors=((2, 2, 2),))
    rows = [make_pathfinder(config, 1, number) for number in range(4)]
    return [row.clean for row in rows], [contours_of(row) for row in rows]


def curves() -> tuple[list, list]:
    config = CurvesConfig(rows=96, cols=96, curves=(2, 3), width=(4, 6))
    made = [make_courses(config, 4, number) for number in range(4)]
    return [row.mask for row, _ in made], [known for _, known in made]


def letters() -> tuple[list, list]:
    masks = [np.zeros((64, 64), bool) for _ in range(4)]
    for number, mask in enumerate(masks):
        mask[20:28, 10 + number : 50] = True
        mask[20:60, 10 + number : 18 + number] |= bool(number % 2)
    return masks, [0, 1, 0, 1]


def photographs() -> tuple[list, list]:
    config = replace(LEVELS["easy"], rows=160, cols=160, objects=1, frames=2, clutter=(1, 2))
    rows = [make_objects(config, 5, number) for number in range(4)]
    return [row.image for row in rows], [row.mask for row in rows]


LEARNING = PartLearningConfig(
    count=2, side=5, windows=4, surround=3, iterations=20, rounds=1, proposals=2, starts=1
)
CASES = {
    "Sparsifier": Case(lambda: mam.Sparsifier(Parts(BAR)), bars, {"restarts": [1, 2]}, ()),
    "PartLearner": Case(
        lambda: mam.PartLearner(LEARNING),
        bars,
        {"seed": [0, 1]},
        ("dropped_", "history_", "parts_", "replaced_", "usage_"),
    ),
    "ContourGrouper": Case(
        lambda: mam.ContourGrouper(restarts=2),
        contours,
        {"preset": ["best", "paper"]},
        ("continuation_", "provenance_"),
    ),
    "CurveGrouper": Case(
        mam.CurveGrouper, curves, {"bound": [False, True]}, ("continuation_", "provenance_")
    ),
    "ObjectFinder": Case(
        lambda: mam.ObjectFinder(variants=0), letters, {"seed": [0, 1]}, ("bank_",)
    ),
    "ObjectDetector": Case(
        lambda: mam.ObjectDetector(graphs=4),
        photographs,
        {"mask": ["outline", "hull"]},
        ("model_",),
    ),
}


# A search that compiles and runs little.
QUICK = LetterSearchConfig(
    window=15,
    rounds=(),
    kept=12,
    forward=ForwardConfig(by_category=False, each_anchor=3, each_group=12, more=0),
)


@pytest.fixture(autouse=True)
def _quick_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(finder.PRESETS, "best", lambda: QUICK)


@cache
def data_of(case: str) -> tuple[list, list | None]:
    return CASES[case].data()


@cache
def fitted(case: str) -> Any:
    return CASES[case].make().fit(*data_of(case))


@cache
def answers_of(case: str) -> Any:
    return answered(fitted(case), data_of(case)[0])


def answered(estimator: Any, images: list) -> Any:
    """What an estimator says of images."""
    way = next(name for name in ("predict", "transform", "score") if hasattr(estimator, name))
    return getattr(estimator, way)(images)


def same(one: Any, other: Any) -> bool:
    if is_dataclass(one):
        names = [field.name for field in fields(one)]
        pairs = [(getattr(one, name), getattr(other, name)) for name in names]
        return type(one) is type(other) and all(same(*pair) for pair in pairs)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, np.ndarray | float):
        return np.allclose(one, other, rtol=1e-4, atol=1e-3)
    return one == other


@contextmanager
def parameters_kept(estimator: Any) -> Iterator[None]:
    before = estimator.get_params()
    yield
    after = estimator.get_params()
    assert all(after[name] is value for name, value in before.items()) and len(after) == len(before)


def test_every_estimator_of_the_library_is_here() -> None:
    public = [getattr(mam, name) for name in mam.__all__]
    known = {one.__name__ for one in public if isinstance(one, type) and issubclass(one, Estimator)}
    assert known == set(CASES)


@pytest.mark.parametrize("case", CASES)
class TestContract:
    def test_a_new_one_has_its_parameters_and_nothing_else(self, case: str) -> None:
        estimator = CASES[case].make()
        assert vars(estimator) == estimator.get_params()
        assert list(estimator.get_params()) == list(inspect.signature(type(estimator)).parameters)

    def test_fit_has_one_style(self, case: str) -> None:
        first, second, *others = inspect.signature(CASES[case].make().fit).parameters.values()
        assert (first.name, second.name) == ("images", "y") and first.default is first.empty
        assert all(one.kind is one.KEYWORD_ONLY and one.default is not one.empty for one in others)
        required = data_of(case)[1] is not None and case != "ObjectFinder"
        assert (second.default is second.empty) == required
        assert get_tags(CASES[case].make()).target_tags.required == required

    def test_fit_keeps_the_parameters_and_adds_what_was_learned(self, case: str) -> None:
        estimator = CASES[case].make()
        with parameters_kept(estimator):
            assert estimator.fit(*data_of(case)) is estimator
        public = {name for name in vars(estimator) if not name.startswith("_")}
        assert public - set(estimator.get_params()) == set(CASES[case].learned)
        check_is_fitted(estimator)

    def test_before_fit_it_says_so(self, case: str) -> None:
        estimator, images = CASES[case].make(), data_of(case)[0]
        if not CASES[case].learned:
            check_is_fitted(estimator)
            assert same(answered(estimator, images), answers_of(case))
            return
        with pytest.raises(NotFittedError):
            check_is_fitted(estimator)
        with pytest.raises(ValueError, match=f"this {case} has learned nothing yet: call fit"):
            answered(estimator, images)

    def test_parameters_are_read_set_and_cloned(self, case: str) -> None:
        [(name, values)] = CASES[case].choices.items()
        estimator = CASES[case].make().set_params(**{name: values[1]})
        assert estimator.get_params()[name] == values[1] == clone(estimator).get_params()[name]
        with pytest.raises(ValueError, match=f"{case} has no parameter 'colour'"):
            estimator.set_params(colour="red")
        copied = clone(fitted(case))
        assert type(copied) is type(estimator) and vars(copied).keys() == copied.get_params().keys()
        assert repr(copied) == repr(fitted(case)) or case == "Sparsifier"

    def test_it_ends_a_pipeline(self, case: str) -> None:
        images, truth = data_of(case)
        steps = [("list", FunctionTransformer(list)), ("model", CASES[case].make())]
        pipeline = Pipeline(steps).fit(images, truth)
        score = pipeline.score(images, truth)
        assert score == pytest.approx(fitted(case).score(images, truth), rel=1e-4)
        if case != "PartLearner":
            assert same(answered(pipeline, images), answers_of(case))

    def test_its_score_is_higher_for_the_truth(self, case: str) -> None:
        images, truth = data_of(case)
        score = fitted(case).score(images, truth)
        if truth is None:
            dark = [np.zeros_like(image) for image in images]
            assert score > fitted(case).score(dark) == 0
            return
        assert 0.5 < score <= 1 and score > fitted(case).score(images, truth[1:] + truth[:1])
        with pytest.raises(ValueError, match=r"4 images, but the truth \(y\) of 3"):
            fitted(case).score(images, truth[1:])

    def test_a_grid_search_chooses_a_parameter(self, case: str) -> None:
        split = [([0, 1], [2, 3])]
        search = GridSearchCV(CASES[case].make(), CASES[case].choices, cv=split)
        search.fit(*data_of(case))
        assert np.isfinite(search.cv_results_["mean_test_score"]).all()
        assert search.score(*data_of(case)) == search.best_estimator_.score(*data_of(case))

    def test_joblib_keeps_what_was_learned(self, case: str) -> None:
        kept = io.BytesIO()
        joblib.dump(fitted(case), kept)
        kept.seek(0)
        read = joblib.load(kept)
        assert vars(read).keys() == set(read.get_params()) | set(CASES[case].learned)
        assert same(answered(read, data_of(case)[0]), answers_of(case))

    def test_threads_may_share_one(self, case: str) -> None:
        images = data_of(case)[0]
        shared = deepcopy(fitted(case))  # without the memory of earlier work
        ask = joblib.delayed(answered)
        with parameters_kept(shared):
            answers = joblib.Parallel(n_jobs=3, backend="threading")([ask(shared, images)] * 3)
        assert all(same(one, answers_of(case)) for one in answers)


def test_the_library_does_without_scikit_learn() -> None:
    code = "import sys; from mam import *; print('sklearn' in sys.modules)"
    command = [sys.executable, "-c", code]
    result = subprocess.run(command, check=True, capture_output=True, text=True)
    assert result.stdout.strip() == "False"
