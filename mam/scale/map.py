"""A job over all shards: in this process or on a cluster, skipping what is done."""

import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from mam.core.limits import ITEM_SECONDS
from mam.core.progress import Advance
from mam.scale.answers import ShardTold, told_in
from mam.scale.bags import is_bag, plan_bag
from mam.scale.clusters import check_cluster
from mam.scale.job import ShardJob
from mam.scale.journal import Journal, RunName
from mam.scale.manifest import Manifest, copied_models, fingerprint, made_of, opened
from mam.scale.shard_run import Run, ShardDone, run_shard
from mam.scale.shards import Shard, plan_shards
from mam.scale.spread import Say, spread_over

if TYPE_CHECKING:
    from dask.bag import Bag

_ROUNDS = 3  # in which shards that vanish again are done


@dataclass(frozen=True)
class Outcome:
    """What became of a run."""

    folder: Path
    items: int
    kept: int  # items whose answers were there already
    errors: int  # items with an error instead of an answer, as their rows say
    set_aside: dict[str, str]  # items that killed their workers or took too long: why
    seconds: float

    @property
    def per_second(self) -> float:
        """Items answered in a second, without those that were there."""
        return (self.items - self.kept) / self.seconds if self.seconds > 0 else 0.0


class HeldRun(NamedTuple):
    """A run that is done, and whose folder no other run may write to yet."""

    outcome: Outcome
    manifest: Manifest


def map_shards(
    job: ShardJob,
    sources: "Sequence[str | Path] | str | Path | Bag",
    out: str | Path,
    *,
    cluster: str | None = None,
    limit: int | None = None,
    shard_bytes: int | None = None,
    **settings: Any,
) -> Outcome:
    """Answer all items of pictures and data sets: ``run_shards`` of what ``plan_shards`` makes.

    ``sources``: one or several files, folders or patterns of parquet files, or a bag of Dask, of
    which each partition is a shard; its elements are paths of pictures, or whatever the job reads.
    """
    if cluster is not None:
        check_cluster(cluster)
    if is_bag(sources):
        if limit is not None:
            raise ValueError("limit: a bag is taken whole; use bag.take or bag.filter")
        shards = plan_bag(sources)
    else:
        paths = [sources] if isinstance(sources, str | Path) else sources
        shards = plan_shards(cast("Sequence[str | Path]", paths), shard_bytes, limit)
    return run_shards(job, shards, out, cluster=cluster, **settings)


def run_shards(
    job: ShardJob,
    shards: Sequence[Shard],
    out: str | Path,
    *,
    cluster: str | None = None,
    item_seconds: float | int = ITEM_SECONDS,
    advance: Advance = lambda items: None,
    say: Say = lambda line: None,
) -> Outcome:
    """Answer all items of shards, and write the answers to a folder, one file a shard.

    Run again, it does what is not done yet: the answers are the same, row for row, whatever the
    number of workers, and wherever it was stopped. ``cluster``: see ``mam.scale.clusters``; without
    one it works in this process. ``advance`` hears of answered items, ``say`` of what befalls.
    """
    settings = {"cluster": cluster, "item_seconds": item_seconds, "advance": advance, "say": say}
    with held_run(job, shards, out, **settings) as run:
        return run.outcome


@contextmanager
def held_run(
    job: ShardJob,
    shards: Sequence[Shard],
    out: str | Path,
    *,
    cluster: str | None = None,
    item_seconds: float | int = ITEM_SECONDS,
    advance: Advance = lambda items: None,
    say: Say = lambda line: None,
) -> Iterator[HeldRun]:
    """The same, for what is made of the answers: until the block ends no other run takes them."""
    if cluster is not None:
        check_cluster(cluster)
    if not item_seconds > 0:
        raise ValueError(f"item_seconds is {item_seconds}; it must be above 0")
    if job.batch < 1:
        raise ValueError(f"batch of the job is {job.batch}; it must be at least 1")
    begin, folder = time.perf_counter(), Path(out)
    shards = [shard.stamped() for shard in shards]
    made = made_of(job, shards)
    name = RunName(fingerprint(made), secrets.token_hex(8))
    with opened(folder, made, shards) as manifest:
        told = _told(folder, shards, name)
        kept = sum(one.items for one in told.values())
        advance(kept)
        with copied_models(folder, made) as models:
            seconds = None if cluster is None else item_seconds
            # Workers may be elsewhere than where this command was typed.
            there = tuple((one, path.absolute()) for one, path in models.items())
            run = Run(job, folder.absolute(), name, there, seconds)
            told = _all_done(run, shards, told, cluster, manifest, advance, say)
        for shard in shards:
            Journal(folder, shard.file, name).remove()
        manifest.set_aside = {
            item: why for shard in shards for item, why in told[shard.number].set_aside.items()
        }
        manifest.done = True
        manifest.write()
        outcome = Outcome(
            folder,
            sum(one.items for one in told.values()),
            kept,
            sum(one.errors for one in told.values()),
            manifest.set_aside,
            time.perf_counter() - begin,
        )
        yield HeldRun(outcome, manifest)


def _told(folder: Path, shards: Sequence[Shard], name: RunName) -> dict[int, ShardTold]:
    """What the shards that are done tell, by number."""
    found = ((shard.number, told_in(folder, shard, name.fingerprint)) for shard in shards)
    return {number: told for number, told in found if told is not None}


def _all_done(
    run: Run,
    shards: Sequence[Shard],
    told: dict[int, ShardTold],
    cluster: str | None,
    manifest: Manifest,
    advance: Advance,
    say: Say,
) -> dict[int, ShardTold]:
    """Do what is missing, and look at the files again: a worker of a run that was stopped may have
    written over one."""
    for _ in range(_ROUNDS):
        missing = [shard for shard in shards if shard.number not in told]
        if not missing:
            return told
        for done in _done(run, missing, cluster, say):
            advance(done.told.items)
            if done.told.set_aside:
                manifest.set_aside |= done.told.set_aside
                manifest.write()
        told = _told(run.folder, shards, run.name)
    raise OSError(f"{run.folder}: answers vanish there; does another run write to it?")


def _done(run: Run, shards: list[Shard], cluster: str | None, say: Say) -> Iterator[ShardDone]:
    if cluster is None:
        yield from (run_shard(run, shard) for shard in shards)
        return
    seen: dict[int, tuple[int, int]] = {}

    def counts(shard: Shard) -> bool | None:
        """Whether a failure counts: not where one item after the other is done or set aside.

        None where it was not even begun, but waited behind another that killed its worker.
        """
        before = seen.get(shard.number, (0, 0))
        journal = Journal(run.folder, shard.file, run.name)
        seen[shard.number] = journal.attempts, journal.progress
        if journal.attempts == before[0]:
            return None
        return journal.progress == before[1]

    with spread_over(cluster, say) as spread:
        yield from spread(partial(run_shard, run), shards, counts)
