"""A job over all shards: in this process or on a cluster, skipping what is done."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from mam.core.limits import ITEM_SECONDS
from mam.core.progress import Advance
from mam.scale.answers import is_done
from mam.scale.clusters import check_cluster
from mam.scale.job import ShardJob
from mam.scale.journal import Journal
from mam.scale.manifest import copied_models, fingerprint, made_of, opened
from mam.scale.shard_run import Run, ShardDone, run_shard
from mam.scale.shards import SHARD_BYTES, Shard, plan_shards
from mam.scale.spread import Say, spread_over


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


def map_shards(
    job: ShardJob,
    sources: Sequence[str | Path],
    out: str | Path,
    *,
    cluster: str | None = None,
    limit: int | None = None,
    shard_bytes: int = SHARD_BYTES,
    **settings: Any,
) -> Outcome:
    """Answer all items of pictures and data sets: ``run_shards`` of what ``plan_shards`` makes."""
    if cluster is not None:
        check_cluster(cluster)
    shards = plan_shards(sources, shard_bytes, limit)
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
    if cluster is not None:
        check_cluster(cluster)
    begin, folder = time.perf_counter(), Path(out)
    made = made_of(job, shards)
    run_name = fingerprint(made)
    with opened(folder, made) as manifest:
        missing = [shard for shard in shards if not is_done(folder, shard, run_name)]
        kept = sum(map(len, shards)) - sum(map(len, missing))
        advance(kept)
        found: list[ShardDone] = []
        with copied_models(folder, made) as models:
            seconds = None if cluster is None else item_seconds
            run = Run(job, folder, run_name, tuple(models.items()), seconds)
            for done in _done(run, missing, cluster, say):
                found.append(done)
                advance(done.items)
                if done.set_aside:
                    manifest.set_aside |= done.set_aside
                    manifest.write()
        for shard in shards:
            Journal(folder, shard.file).remove()
        manifest.done = True
        manifest.write()
    errors = sum(done.errors for done in found)
    spent = time.perf_counter() - begin
    return Outcome(
        folder, kept + sum(done.items for done in found), kept, errors, manifest.set_aside, spent
    )


def _done(run: Run, shards: list[Shard], cluster: str | None, say: Say) -> Iterator[ShardDone]:
    if not shards:
        return
    if cluster is None:
        yield from (run_shard(run, shard) for shard in shards)
        return
    progress: dict[int, int] = {}

    def goes_on(shard: Shard) -> bool:
        """Whether the journal has grown: then one item after the other is done or set aside."""
        before = progress.get(shard.number, 0)
        progress[shard.number] = Journal(run.folder, shard.file).progress
        return progress[shard.number] > before

    with spread_over(cluster, say) as spread:
        yield from spread(partial(run_shard, run), shards, goes_on)
