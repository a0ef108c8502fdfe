"""Small files of every kind that runs leave and read again, or are told by."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from mam.commands.group.folder import _read as read_kept
from mam.data import CurvesConfig, Recipe, write_dataset
from mam.reproduce.rivals import read_rivals
from mam.reproduce.steps import Step, StepFolder
from mam.scale import ItemAnswer, Shard, answers_in
from mam.scale.answers import told_in, write_answers
from mam.scale.journal import Journal, RunName
from mam.scale.manifest import opened
from mam.scale.queues import queue_settings
from tests.fuzz.data_kinds import Kind, one_file

_RIVAL = {"network": "h-cnn", "task": "pathfinder", "images": 10}
_RUN = {"settings": _RIVAL, "images_seen": 20, "accuracy": {"easy": 0.5}}
_MADE = {"mam": "1", "job": "A", "settings": {"a": 1}, "models": {"m": "0"}}
_MADE |= {"input": {"items": 1, "shards": 1, "digest": "0"}}
_MANIFEST = {"made_of": _MADE, "done": False, "set_aside": [{"item": "a", "reason": "b"}]}


def _manifest(folder: Path) -> None:
    with opened(folder, _MADE):
        pass


def _answers(folder: Path) -> list[Path]:
    path = folder / "part-00000.parquet"
    write_answers(path, "run", ["a", "b"], [ItemAnswer({"x": 1}), ItemAnswer(None, "why")])
    return [path]


def _answer_text(folder: Path) -> list[ItemAnswer]:
    """An answer as JSON, in a shard."""
    value = (folder / "answer.json").read_text(errors="replace")
    [path] = _answers(folder)
    table = pq.read_table(path)
    column = pa.array([value, None], pa.string())
    pq.write_table(table.set_column(1, "answer", column), path)
    return [answer for _, answer in answers_in(folder)]


def _told(folder: Path) -> None:
    """What a shard tells of itself, as JSON in its footer."""
    [path] = _answers(folder)
    table = pq.read_table(path)
    about = (folder / "told.json").read_bytes()
    pq.write_table(
        table.replace_schema_metadata(table.schema.metadata | {b"mam.told": about}), path
    )
    told_in(folder, Shard(0, (), counted=False), "run")


_RECORDED = Step("a", {}, lambda path, advance: None)


def _record(folder: Path) -> list[Path]:
    StepFolder(folder).run(_RECORDED)
    return [StepFolder(folder).files(_RECORDED)[1]]


_RUN_NAME = RunName("run", "today")


def _journal(folder: Path) -> list[Path]:
    journal = Journal(folder, "part", _RUN_NAME)
    journal.attempt()
    journal.begin("a")
    journal.finish("a", ItemAnswer({"x": 1}))
    return [journal.path]


def _known(folder: Path) -> None:
    Journal(folder, "part", _RUN_NAME).known("a", 1.0)


_SMALL = Recipe("curves", CurvesConfig(rows=64, cols=64, curves=(1, 1), width=(2, 4)), 0)


def _shards(folder: Path) -> list[Path]:
    write_dataset(_SMALL, 1, folder / "set")
    return [folder / "set" / ".mam-make.json", folder / "set" / "part-00000.parquet"]


def _made_again(folder: Path) -> None:
    write_dataset(_SMALL, 1, folder / "set")


RUNS = {
    "answers": Kind(_answers, lambda f: list(answers_in(f))),
    "answer": Kind(one_file("answer.json", b'{"x": [1, {"y": [2.5, null]}]}'), _answer_text, True),
    "told": Kind(
        one_file("told.json", b'{"items": 2, "errors": 1, "set_aside": {"a": "b"}}'),
        _told,
        True,
        refuses=False,
    ),
    "record": Kind(_record, lambda f: StepFolder(f).record(_RECORDED), True, refuses=False),
    "kept answer": Kind(
        one_file("a.json", b'{"made": "0", "table": {"curve": [1], "length": [2.5]}}'),
        lambda f: read_kept(f / "a.json"),
        True,
        refuses=False,
    ),
    "journal": Kind(_journal, _known, True, refuses=False),
    "made by us": Kind(_shards, _made_again, True, refuses=False),
    "manifest": Kind(one_file("manifest.json", json.dumps(_MANIFEST).encode()), _manifest, True),
    "rivals": Kind(
        one_file("h-cnn-pathfinder-easy.json", json.dumps({"runs": {"a": _RUN}}).encode()),
        lambda folder: read_rivals(folder, "pathfinder"),
        True,
    ),
    "queue": Kind(
        one_file("slurm.yaml", b"kind: slurm\nworkers: 2\nsettings: {cores: 4, memory: 8GB}\n"),
        lambda folder: queue_settings(str(folder / "slurm.yaml")),
        True,
    ),
}
