"""What a journal remembers of a shard that killed workers, and what it must not."""

import json
from pathlib import Path

import pytest

from mam.scale import ItemAnswer, answers_in, map_shards
from mam.scale.journal import Journal, RunName
from mam.scale.spread import Failures
from tests.scale.jobs import SizeJob

RUN = RunName("run", "today")


def test_an_item_that_was_begun_twice_is_set_aside(tmp_path: Path) -> None:
    for strike in range(2):
        journal = Journal(tmp_path, "part", RUN)
        assert journal.attempts == strike and journal.known("a", 3) is None
        journal.attempt()
        journal.begin("a")
    journal = Journal(tmp_path, "part", RUN)
    assert journal.known("a", 3) == ItemAnswer(None, "set aside: its worker died, twice")
    assert Journal(tmp_path, "part", RUN).known("a", 3) == journal.known("a", 3)
    journal.remove()
    assert list(tmp_path.iterdir()) == []


def test_the_reason_is_that_of_the_item(tmp_path: Path) -> None:
    """One that takes too long does not make the next one late, nor the other way round."""
    for name in ("late", "deadly"):
        for _ in range(2):
            Journal(tmp_path, "part", RUN).begin(name)
            if name == "late":
                (tmp_path / ".part.late").write_text("where it was")
        Journal(tmp_path, "part", RUN).known(name, 3)
    journal = Journal(tmp_path, "part", RUN)
    assert str(journal.known("late", 3)).count("more than 3 s")
    assert str(journal.known("deadly", 3)).count("worker died")


def test_who_stops_a_run_blames_no_item(tmp_path: Path) -> None:
    for session in ("monday", "tuesday", "wednesday"):
        journal = Journal(tmp_path, "part", RunName("run", session))
        assert journal.known("a", 3) is None and journal.attempts == 0
        journal.attempt()
        journal.begin("a")
    journal.finish("b", ItemAnswer({"x": 1}))
    later = Journal(tmp_path, "part", RunName("run", "thursday"))
    assert later.careful and later.known("b", 3) == ItemAnswer({"x": 1})


def test_a_fault_of_the_machine_is_held_against_no_item(tmp_path: Path) -> None:
    for _ in range(3):
        journal = Journal(tmp_path, "part", RUN)
        assert journal.known("a", 3) is None and journal.progress == 0
        journal.begin("a")
        journal.excuse("a")
    for _ in range(2):
        Journal(tmp_path, "part", RUN).begin("a")
    assert Journal(tmp_path, "part", RUN).known("a", 3) is not None


def test_answers_of_another_run_are_not_taken(tmp_path: Path) -> None:
    Journal(tmp_path, "part", RunName("other", "today")).finish("a", ItemAnswer({"x": 1}))
    journal = Journal(tmp_path, "part", RUN)
    assert not journal.careful and journal.known("a", 3) is None
    # As a user meets it: all is removed but what begins with a dot.
    paths = [tmp_path / "a.png"]
    paths[0].write_bytes(b"xyz")
    out = tmp_path / "out"
    map_shards(SizeJob(str(tmp_path)), paths, out)
    wrong = {"run": "other", "session": "s", "done": str(paths[0]), "value": {}, "error": None}
    (out / ".part-00000.parquet.journal").write_text(json.dumps(wrong))
    for path in out.glob("[!.]*"):
        path.unlink()
    map_shards(SizeJob(str(tmp_path)), paths, out)
    assert [answer.value for _, answer in answers_in(out)] == [{"name": "a.png", "bytes": 3}]


@pytest.mark.parametrize("torn", ['{"run": "run", "sess', "[1", "3", '"x"'])
def test_a_torn_line_takes_no_other_with_it(tmp_path: Path, torn: str) -> None:
    Journal(tmp_path, "part", RUN).attempt()
    with (tmp_path / ".part.journal").open("a") as file:
        file.write(torn)
    Journal(tmp_path, "part", RUN).attempt()
    assert Journal(tmp_path, "part", RUN).attempts == 2


def test_failures_that_count() -> None:
    begun: list[bool | None] = []
    failures = Failures(lambda task: begun.pop(0))
    begun += [True, True, True]
    assert [failures.too_many(0, "a", True) for _ in range(3)] == [False, False, True]
    # It gets somewhere each time.
    begun += [False] * 9
    assert not any(failures.too_many(1, "a", True) for _ in range(9))
    # It waits behind one that gets somewhere, and is not begun.
    begun += [False, None] * 9
    assert not any(failures.too_many(2 + number % 2, "a", True) for number in range(18))
    # Nothing moves any more, or it is not for its worker's end that it fails.
    begun += [None] * 8
    assert [failures.too_many(4, "a", True) for _ in range(4)] == [False] * 3 + [True]
    assert [failures.too_many(5, "a", False) for _ in range(3)] == [False, False, True]
