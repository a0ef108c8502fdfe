"""One shard, by one worker: read, answered, written."""

import contextlib
import faulthandler
import threading
import time
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from mam.scale.answers import answers_of, is_done, write_answers
from mam.scale.job import AnswerItems, Item, ItemAnswer, ShardJob
from mam.scale.journal import Journal
from mam.scale.shards import Shard

# One shard at a time in a process: more threads would share its cores, its accelerator, and the
# clock that ends it when an item takes too long.
_ALONE = threading.Lock()


class Run(NamedTuple):
    """What all shards of a run share."""

    job: ShardJob
    folder: Path  # of the answers, on a disk that all workers have
    fingerprint: str
    models: tuple[tuple[str, Path], ...]  # their files, on such a disk too
    item_seconds: float | int | None  # that an item may take; None: any time


class ShardDone(NamedTuple):
    """What became of a shard."""

    number: int
    items: int
    errors: int
    set_aside: dict[str, str]  # item: reason
    seconds: float


def run_shard(run: Run, shard: Shard) -> ShardDone:
    """Answer the items of a shard and write them to its file.

    If an earlier attempt did not come to its end, it killed its worker: the items are then done one
    by one, and one that kills again is set aside.
    """
    begin, path = time.perf_counter(), run.folder / shard.file
    # A worker that dies may take with it the news of a shard that it has written.
    if is_done(run.folder, shard, run.fingerprint):
        return _summary(shard, [answer for _, answer in answers_of(path)], begin)
    with _ALONE:
        journal = Journal(run.folder, shard.file)
        work = _opened(run.job, run.models)
        careful = journal.attempts > 0
        journal.attempt()
        one_by_one = _carefully(run, shard, work, journal) if careful else _all(run, shard, work)
        answers = list(one_by_one)
        write_answers(path, run.fingerprint, shard.names(), answers)
        journal.remove()
    return _summary(shard, answers, begin)


def _summary(shard: Shard, answers: Sequence[ItemAnswer], begin: float) -> ShardDone:
    aside = {
        name: answer.error.removeprefix("set aside: ")
        for name, answer in zip(shard.names(), answers, strict=True)
        if answer.error is not None and answer.error.startswith("set aside: ")
    }
    errors = sum(answer.error is not None for answer in answers) - len(aside)
    spent = time.perf_counter() - begin
    return ShardDone(shard.number, len(answers), errors, aside, spent)


def _all(run: Run, shard: Shard, work: AnswerItems) -> Iterator[ItemAnswer]:
    items = shard.items()
    while some := list(islice(items, run.job.batch)):
        with _in_time(run.item_seconds, len(some), None):
            yield from _answers(work, some)


def _carefully(run: Run, shard: Shard, work: AnswerItems, journal: Journal) -> Iterator[ItemAnswer]:
    seconds = run.item_seconds
    for item in shard.items():
        answer = journal.known(item.name, seconds or 0.0)
        if answer is None:
            journal.begin(item.name)
            with _in_time(seconds, 1, journal.dump):
                [answer] = _answers(work, [item])
            journal.finish(item.name, answer)
        yield answer


def _answers(work: AnswerItems, items: list[Item]) -> list[ItemAnswer]:
    """Answers of a job; where it fails as a whole, of each item alone."""
    try:
        return work(items)
    except ValueError as error:
        if len(items) == 1:
            return [ItemAnswer(None, str(error))]
        return [answer for item in items for answer in _answers(work, [item])]


@contextlib.contextmanager
def _in_time(seconds: float | None, items: int, dump: Path | None) -> Iterator[None]:
    """End this process if the work takes too long: nothing else stops compiled code."""
    if seconds is None:
        yield
        return
    with contextlib.ExitStack() as stack:
        file = stack.enter_context((dump or Path("/dev/null")).open("a"))
        faulthandler.dump_traceback_later(seconds * items, exit=True, file=file)
        stack.callback(faulthandler.cancel_dump_traceback_later)
        yield


@lru_cache(maxsize=4)
def _opened(job: ShardJob, models: tuple[tuple[str, Path], ...]) -> AnswerItems:
    """A job stays open: its models are loaded once, and know what was compiled for them."""
    return job.open(dict(models))
