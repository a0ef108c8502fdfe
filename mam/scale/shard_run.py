"""One shard, by one worker: read, answered, written."""

import contextlib
import faulthandler
import os
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from mam.core.faults import befell_the_machine
from mam.scale.answers import ShardTold, as_json, aside, told_in, write_answers
from mam.scale.job import AnswerItems, Item, ItemAnswer, ShardJob
from mam.scale.journal import Journal, RunName
from mam.scale.shards import Shard, Unreadable

# One shard at a time in a process: more threads would share its cores, its accelerator, and the
# clock that ends it when an item takes too long.
_ALONE = threading.Lock()
# A batch may take as long as one item in so many of it, so that one without end is noticed soon.
# Where that was too little, its shard is done item by item, each in its own time.
_AT_ONCE = 16

_NamedAnswer = tuple[str, ItemAnswer]  # the name of an item, and the answer


class Run(NamedTuple):
    """What all shards of a run share."""

    job: ShardJob
    folder: Path  # of the answers, absolute, on a disk that all workers have
    name: RunName
    models: tuple[tuple[str, Path], ...]  # their files, on such a disk too
    item_seconds: float | int | None  # that an item may take; None: any time


class ShardDone(NamedTuple):
    """A shard that has its file."""

    number: int
    told: ShardTold
    seconds: float


def run_shard(run: Run, shard: Shard) -> ShardDone:
    """Answer the items of a shard and write them to its file.

    If an earlier attempt did not come to its end, it killed its worker: the items are then done one
    by one, and one that kills again is set aside.
    """
    begin, path = time.perf_counter(), run.folder / shard.file
    # A worker that dies may take with it the news of a shard that it has written.
    told = told_in(run.folder, shard, run.name.fingerprint)
    if told is None:
        with _ALONE:
            journal = Journal(run.folder, shard.file, run.name)
            careful = journal.careful
            journal.attempt()
            work = _opened(_Opening(run.name.fingerprint, run))
            found = list(
                _carefully(run, shard, work, journal) if careful else _all(run, shard, work)
            )
            names, answers = [name for name, _ in found], [answer for _, answer in found]
            told = write_answers(path, run.name.fingerprint, names, answers, shard.stamp)
            journal.remove()
    return ShardDone(shard.number, told, time.perf_counter() - begin)


def _all(run: Run, shard: Shard, work: AnswerItems) -> Iterator[_NamedAnswer]:
    items = shard.items()
    while some := list(islice(items, run.job.batch)):
        limit = None
        if run.item_seconds is not None:
            limit = run.item_seconds * max(1.0, len(some) / _AT_ONCE)
        with _in_time(limit, Path(os.devnull)):
            yield from zip((item.name for item in some), _answers(work, some), strict=True)


def _carefully(
    run: Run, shard: Shard, work: AnswerItems, journal: Journal
) -> Iterator[_NamedAnswer]:
    seconds = run.item_seconds
    for item in shard.items():
        answer = journal.known(item.name, seconds or 0.0)
        if answer is None:
            journal.begin(item.name)
            try:
                with _in_time(seconds, journal.dump):
                    [answer] = _answers(work, [item])
            except OSError:  # it befell the machine; all else has become an answer
                journal.excuse(item.name)
                raise
            journal.finish(item.name, answer)
        yield item.name, answer


def _answers(work: AnswerItems, items: list[Item]) -> list[ItemAnswer]:
    """The answers to items; one that cannot be read has its reason instead."""
    readable = [item for item in items if not isinstance(item.value, Unreadable)]
    found = iter(_tried(work, readable) if readable else [])
    return [
        ItemAnswer(None, item.value.reason) if isinstance(item.value, Unreadable) else next(found)
        for item in items
    ]


def _tried(work: AnswerItems, items: list[Item], again: bool = False) -> list[ItemAnswer]:
    """Answers of a job; where it fails as a whole, of each item alone, which may fail twice.

    What befalls the machine, such as a full disk, is no fault of an item, and goes on.
    """
    try:
        found = [as_json(answer) for answer in work(items)]
        if len(found) != len(items):
            raise RuntimeError(f"{len(found)} answers to {len(items)} items")
    except Exception as error:
        if befell_the_machine(error):
            raise
        if len(items) > 1:
            return [answer for item in items for answer in _tried(work, [item], again=True)]
        if isinstance(error, ValueError | OSError):
            return [ItemAnswer(None, str(error))]
        if not again:
            return _tried(work, items, again=True)
        return [aside(f"{type(error).__name__}: {error}, twice")]
    return found


@contextlib.contextmanager
def _in_time(seconds: float | None, dump: Path) -> Iterator[None]:
    """End this process if the work takes too long: nothing else stops compiled code."""
    if seconds is None:
        yield
        return
    with dump.open("a") as file:
        late = min(seconds, threading.TIMEOUT_MAX)  # some 292 years
        faulthandler.dump_traceback_later(late, exit=True, file=file)
        try:
            yield
        finally:
            faulthandler.cancel_dump_traceback_later()


@dataclass(frozen=True)
class _Opening:
    """A run whose job is opened, known by its fingerprint."""

    fingerprint: str
    run: Run = field(compare=False)


@lru_cache(maxsize=4)
def _opened(opening: _Opening) -> AnswerItems:
    """A job stays open: its models are loaded once, and know what was compiled for them."""
    return opening.run.job.open(dict(opening.run.models))
