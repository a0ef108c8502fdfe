"""The experiments as they are planned, at every scale, without doing any of them."""

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from mam.commands.reproduce import ExperimentName, ScaleName
from mam.data import ObjectRow
from mam.reproduce.cabc import CABC
from mam.reproduce.experiment import changed
from mam.reproduce.pathfinder import PATHFINDER
from mam.reproduce.plan import Challenge, Quoted
from mam.reproduce.run import EXPERIMENTS, prepare
from mam.reproduce.steps import StepFolder, with_needs
from mam.reproduce.study import curve_steps, open_study, table_steps
from mam.tasks.objects import RowChoice, object_rows
from tests.data.made_layouts import shelf_scene


def test_the_command_offers_what_there_is() -> None:
    assert set(ExperimentName) == set(EXPERIMENTS)


@pytest.mark.parametrize("name", EXPERIMENTS)
@pytest.mark.parametrize("scale", ScaleName)
def test_every_step_comes_once_and_after_what_it_needs(
    name: str, scale: ScaleName, tmp_path: Path
) -> None:
    study = prepare(name, scale.value, tmp_path)
    steps = study.steps
    seen: set[str] = set()
    for step in steps:
        assert step.stem not in seen
        assert {need.stem for need in step.needs} <= seen
        assert step.rows >= 1 and step.cost > 0
        seen.add(step.stem)
    # Names alone tell a reader the steps of one scale apart.
    assert len({step.name for step in steps}) == len(steps)
    assert seen == {step.stem for step in prepare(name, scale.value, tmp_path / "other").steps}


def _inside(settings: Any) -> Iterator[Any]:
    """Everything that settings hold, at any depth."""
    yield settings
    if isinstance(settings, Mapping | list | tuple):
        for one in settings.values() if isinstance(settings, Mapping) else settings:
            yield from _inside(one)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_a_step_needs_those_whose_settings_are_among_its_own(name: str, tmp_path: Path) -> None:
    """Steps that do not need each other are done side by side, on a cluster."""
    steps = prepare(name, "small", tmp_path).steps
    for step in steps:
        held = [one for one in _inside(step.settings) if isinstance(one, Mapping)]
        others = [one for one in steps if one.settings != step.settings]
        built_on = {one.stem for one in others if one.settings in held}
        assert built_on <= {one.stem for one in with_needs(step)}


@pytest.mark.parametrize("plan", [PATHFINDER, CABC])
def test_the_papers_table_has_a_figure_for_every_level(plan: Challenge) -> None:
    quoted = [row for row in plan.rows if isinstance(row, Quoted)]
    for row in quoted:
        assert len(row.right) == len(plan.test_on) and all(0 < one < 100 for one in row.right)
    assert {row.learn for row in quoted if not row.rival} == set(plan.learn_on)
    assert set(plan.learn_on) <= {row.learn for row in quoted if row.rival}
    assert all(one.line is None or one.line < len(plan.lines) for one in plan.known)
    assert {row.method for row in (*plan.measured, *plan.lines)} == set(plan.methods)
    levels = [row.learn for row in plan.rows]
    assert levels == sorted(levels, key=levels.index)  # rows of one level stand together


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_a_folder_without_the_files_is_refused(name: str, tmp_path: Path) -> None:
    said = {
        "objects": "no scenes in it, and no objects.parquet",
        "models": "--data .*: these models take none",
    }.get(name, r"\.parquet: no such file; a folder of data sets")
    with pytest.raises((FileNotFoundError, ValueError), match=said):
        prepare(name, "smoke", tmp_path / "out", tmp_path)
    assert not (tmp_path / "out").exists()


def test_scenes_as_published_are_read(tmp_path: Path) -> None:
    sets, out = tmp_path / "sets", tmp_path / "out"
    shelf_scene(sets)
    alone = [list(object_rows(str(sets), RowChoice(split))) for split in ("train", "test")]
    assert [len(rows) for rows in alone] == [2, 2]
    frames = [{row.frame for row in rows if isinstance(row, ObjectRow)} for rows in alone]
    assert not frames[0] & frames[1]
    assert prepare("objects", "smoke", out, sets).steps[0].rows == 1
    for number in (1, 2):
        shutil.copytree(sets / "scene-0000", sets / f"scene-000{number}")
    steps = prepare("objects", "smoke", out, sets).steps
    assert steps[0].name == "learn given run 0" and steps[0].rows == 6 * 42 // 100
    parts = [
        {
            (row.scene, row.name)
            for row in object_rows(str(sets), RowChoice(split))
            if isinstance(row, ObjectRow)
        }
        for split in ("train", "test")
    ]
    assert not parts[0] & parts[1] and len(parts[0] | parts[1]) == 6
    (sets / "scene-0001" / "cam.info.txt").write_text('# Objects: ["book","pear"]\n')
    changed = prepare("objects", "smoke", out, sets).steps
    assert {one.stem for one in changed}.isdisjoint(one.stem for one in steps)


def test_a_scale_can_be_changed(tmp_path: Path) -> None:
    store, scale = StepFolder(tmp_path), CABC.scales["small"]
    usual = open_study(CABC, store, scale, "small")
    fewer = open_study(CABC, store, *changed(scale, "small", {"test": 2, "runs": 1}))
    steps = table_steps(fewer).values()
    assert {step.rows for step in steps} == {2}
    curves = [curve_steps(fewer, line) for line in CABC.lines]
    assert all(len(runs) == 1 for curve in curves for runs in curve.values())
    assert not {step.stem for step in table_steps(usual).values()} & {step.stem for step in steps}
    with pytest.raises(ValueError, match="no number of test to change"):
        prepare("objects", "small", tmp_path, changes={"test": 2})
