"""The experiments as they are planned, at every scale, without doing any of them."""

import shutil
from pathlib import Path

import pytest

from mam.commands.reproduce import ExperimentName, ScaleName
from mam.data import ObjectRow
from mam.reproduce.cabc import CabcStudy
from mam.reproduce.challenge import Challenge
from mam.reproduce.objects import ObjectsStudy
from mam.reproduce.pathfinder import PathfinderStudy
from mam.reproduce.run import STUDIES, prepare
from mam.tasks.objects import RowChoice, object_rows
from tests.data.made_layouts import shelf_scene


def test_the_command_offers_what_there_is() -> None:
    assert set(ExperimentName) == set(STUDIES)


@pytest.mark.parametrize("name", STUDIES)
@pytest.mark.parametrize("scale", ScaleName)
def test_every_step_comes_once_and_after_what_it_needs(
    name: str, scale: ScaleName, tmp_path: Path
) -> None:
    study = prepare(name, scale.value, tmp_path)
    steps = study.steps()
    seen: set[str] = set()
    for step in steps:
        assert step.stem not in seen
        assert {need.stem for need in step.needs} <= seen
        assert step.rows >= 1 and step.cost > 0
        seen.add(step.stem)
    # Names alone tell a reader the steps of one scale apart.
    assert len({step.name for step in steps}) == len(steps)
    assert seen == {step.stem for step in prepare(name, scale.value, tmp_path / "other").steps()}


@pytest.mark.parametrize("study", [PathfinderStudy, CabcStudy])
def test_the_papers_table_has_a_figure_for_every_level(study: type[Challenge]) -> None:
    paper = study.published
    for row in [*paper.rivals.values(), *paper.ours.values()]:
        assert len(row) == len(study.test_on) and all(0 < figure < 100 for figure in row)
    assert set(paper.ours) == set(study.learn_on) <= set(paper.rivals)
    assert all(one.line is None or one.line < len(study.lines) for one in paper.known)


@pytest.mark.parametrize("name", STUDIES)
def test_a_folder_without_the_files_is_refused(name: str, tmp_path: Path) -> None:
    said = r"\.parquet: no such file; a folder of data sets"
    said = "no scenes in it, and no objects.parquet" if name == "objects" else said
    with pytest.raises(FileNotFoundError, match=said):
        prepare(name, "smoke", tmp_path / "out", tmp_path)
    assert not (tmp_path / "out").exists()


def test_scenes_as_published_are_read(tmp_path: Path) -> None:
    sets, out = tmp_path / "sets", tmp_path / "out"
    shelf_scene(sets)
    with pytest.raises(ValueError, match="one scene alone"):
        prepare("objects", "smoke", out, sets)
    for number in (1, 2):
        shutil.copytree(sets / "scene-0000", sets / f"scene-000{number}")
    study = prepare("objects", "smoke", out, sets)
    assert isinstance(study, ObjectsStudy)
    data = study.sets["given"]
    assert data.rows == 6 and study.steps()[0].name == "learn given run 0"
    parts = [
        {
            (row.scene, row.name)
            for row in object_rows(str(data.path), RowChoice(split))
            if isinstance(row, ObjectRow)
        }
        for split in ("train", "test")
    ]
    assert not parts[0] & parts[1] and len(parts[0] | parts[1]) == 6
    (sets / "scene-0001" / "cam.info.txt").write_text('# Objects: ["book","pear"]\n')
    changed = prepare("objects", "smoke", out, sets)
    assert {one.stem for one in changed.steps()}.isdisjoint(one.stem for one in study.steps())


def test_a_scale_can_be_changed(tmp_path: Path) -> None:
    usual = prepare("cabc", "small", tmp_path)
    fewer = prepare("cabc", "small", tmp_path, changes={"test": 2, "runs": 1})
    assert isinstance(usual, Challenge) and isinstance(fewer, Challenge)
    assert {step.rows for step in fewer.table.values()} == {2}
    assert all(len(runs) == 1 for line in fewer.lines for runs in fewer.curve(line).values())
    assert not {s.stem for s in usual.table.values()} & {s.stem for s in fewer.table.values()}
    with pytest.raises(ValueError, match="no number of test to change"):
        prepare("objects", "small", tmp_path, changes={"test": 2})
