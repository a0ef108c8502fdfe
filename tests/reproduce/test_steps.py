"""Steps are done once for their settings, and again for any others."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mam.reproduce.run import run_steps
from mam.reproduce.steps import Step, StepFolder, distinct

SETTINGS = st.dictionaries(
    st.sampled_from("abc"), st.integers(0, 2) | st.sampled_from(["x", "y"]), max_size=3
)


def step(settings: dict[str, Any], done: list, result: Any = None, suffix: str = "") -> Step:
    def work(path: Path, advance: Any) -> Any:
        done.append(settings)
        if suffix:
            path.write_text("model")
        advance(1)
        return result if result is not None else settings

    return Step("a step", settings, work, suffix=suffix)


@given(st.lists(SETTINGS, max_size=8))
def test_each_settings_are_worked_on_once(several: list[dict[str, Any]]) -> None:
    done: list = []
    with TemporaryDirectory() as folder:
        store = StepFolder(Path(folder))
        for settings in several:
            assert store.run(step(settings, done)).result == settings
        run_steps(store, [step(settings, done) for settings in several])
    assert len(done) == len({tuple(sorted(settings.items(), key=str)) for settings in several})


def test_the_order_of_settings_does_not_matter() -> None:
    one, two = step({"a": 1, "b": {"c": 2, "d": 3}}, []), step({"b": {"d": 3, "c": 2}, "a": 1}, [])
    assert one.stem == two.stem
    assert len(distinct([one, two, step({"a": 1}, [])])) == 2


def test_another_version_does_not_use_what_this_one_left(monkeypatch: pytest.MonkeyPatch) -> None:
    before = step({"a": 1}, []).stem
    monkeypatch.setattr("mam.reproduce.steps.__version__", "99.0")
    assert step({"a": 1}, []).stem != before


def test_a_step_that_fails_is_done_again(tmp_path: Path) -> None:
    store, done = StepFolder(tmp_path), []

    def fail(path: Path, advance: Any) -> Any:
        path.write_text("half a model")
        raise OSError("the disk is full")

    broken = Step("a step", {"a": 1}, fail, suffix=".safetensors")
    with pytest.raises(OSError, match="the disk is full"):
        store.run(broken)
    assert store.record(broken) is None
    store.run(step({"a": 1}, done, suffix=".safetensors"))
    assert len(done) == 1 and store.file(broken).read_text() == "model"


def test_a_step_whose_file_is_gone_is_done_again(tmp_path: Path) -> None:
    store, done = StepFolder(tmp_path), []
    mine = step({}, done, suffix=".safetensors")
    store.run(mine)
    store.file(mine).unlink()
    store.run(mine)
    store.run(mine)
    assert len(done) == 2


def test_a_result_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="'a step' is not done yet"):
        StepFolder(tmp_path).result(step({}, []))


def test_the_share_told_rises_from_0_to_1_over_what_is_left(tmp_path: Path) -> None:
    store, told = StepFolder(tmp_path), []

    def work(path: Path, advance: Any) -> int:
        for _ in range(5):  # more than it promised: the share stays below the next step's
            advance(1)
        return 0

    steps = [Step(str(k), {"k": k}, work, rows=4, cost=1.0 + k) for k in range(3)]
    store.run(steps[0])
    run_steps(store, steps, lambda title, share: told.append(share))
    assert told[0] == 0 and told[-1] == 1 and told == sorted(told)
    assert told[4] == pytest.approx(8 / 20)


@pytest.mark.parametrize(
    "text",
    [
        *("", '{"result": 1, "sec', "\x00\xff", "[1]", "null", '{"result": 1}', '{"seconds": 1}'),
        "[" * 100_000,
        '{"result": 1, "seconds": 1%s}' % ("0" * 400),
    ],
)
def test_a_damaged_record_is_made_again_and_named(tmp_path: Path, text: str) -> None:
    store, done, told = StepFolder(tmp_path), [], []
    mine = step({"a": 1}, done)
    store.run(mine)
    assert store.damaged(mine) is None
    [path] = tmp_path.iterdir()
    path.write_text(text, encoding="latin-1")
    assert store.record(mine) is None and store.damaged(mine) == path
    run_steps(store, [mine], notice=told.append)
    assert len(done) == 2 and store.result(mine) == {"a": 1}
    assert len(told) == 1 and str(path) in told[0] and "'a step' is done again" in told[0]
    run_steps(store, [mine], notice=told.append)
    assert len(done) == 2 and len(told) == 1
