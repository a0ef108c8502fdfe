"""Which rows count, and what is measured on them."""

from dataclasses import replace
from pathlib import Path

import pytest

from mam.data import Recipe, rows_of, write_dataset
from mam.data.generate.objects import LEVELS
from mam.tasks.objects import RowChoice, evaluate, examples_of, fit, leave_out, object_rows
from mam.vision.elastic.photographs.detector import ObjectDetector

SMALL = replace(LEVELS["easy"], rows=160, cols=192, objects=2, frames=6, clutter=(2, 5))


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> str:
    path: Path = tmp_path_factory.mktemp("objects") / "set.parquet"
    write_dataset(Recipe("objects", SMALL, 5), 48, path)
    return str(path)


def test_the_papers_choice_of_scenes_and_frames(data: str) -> None:
    sizes = {(r.scene, r.frame): int(r.mask.sum()) for r in rows_of(data)}  # type: ignore[union-attr]
    scenes = {}
    for split, frames in (("train", 3), ("test", 5)):
        rows = list(object_rows(data, RowChoice(split)))
        scenes[split] = {row.scene for row in rows}  # type: ignore[union-attr]
        for scene in scenes[split]:
            kept = sorted(sizes[s, f] for s, f in sizes if s == scene)[-frames:]
            own = sorted(int(row.mask.sum()) for row in rows if row.scene == scene)  # type: ignore
            assert own == kept
    assert not scenes["train"] & scenes["test"]
    assert len(scenes["train"]) == 6 and len(scenes["test"]) == 2  # of four an object: 70 % are 3
    with pytest.raises(ValueError, match="split is one of"):
        RowChoice("half")


def test_evaluate(data: str) -> None:
    train = list(object_rows(data, RowChoice("train")))
    detector = fit(examples_of(train, data, "object-1"), ObjectDetector(graphs=12))
    report = evaluate(data, detector, RowChoice("test", limit=10))
    assert report.n == 5 and list(report.figures["iou"]) == ["object-1"]  # type: ignore[arg-type]
    assert report.figures["median_iou"] > 0.7 and report.figures["there"] > 0.5  # type: ignore
    assert report.per_second > 0 and report.skipped == {}
    unknown = evaluate(data, detector, RowChoice("test", limit=10), name="object-0")
    assert unknown.n == 0 and set(unknown.skipped.values()) == {"the model does not know object-0"}


def test_leave_out(data: str) -> None:
    report = leave_out(data, lambda: ObjectDetector(graphs=12), RowChoice(limit=3))
    assert report.n == 3 and report.figures["median_iou"] > 0.7  # type: ignore[operator]
    with pytest.raises(ValueError, match="one picture only"):
        leave_out(data, ObjectDetector, RowChoice(limit=1))


def test_an_unknown_name_is_refused(data: str) -> None:
    with pytest.raises(ValueError, match=r"no rows of mug, .*; it has object-0, object-1"):
        examples_of(rows_of(data), data, "mug")
