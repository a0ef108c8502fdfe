"""Worker processes: a stuck one is replaced, one that nobody waits for goes on to the next job."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import numpy as np
import pytest

from mam.data.images import encode_png
from mam.web.frames import WebFrame
from mam.web.limits import WebLimits
from mam.web.pool import JobError, WorkerPool

PIXELS = 1 << 26
QUICK = {"model": "gene-network", "given": {}}


def large() -> bytes:
    """A mesh that takes a few seconds, and has fewer holes than would be refused."""
    line = (np.arange(720) % 24 < 2).astype(np.uint8)
    return encode_png(255 * np.maximum(line[:, None], line))


def with_pool(limits: WebLimits, work: Callable[[WorkerPool], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        pool = WorkerPool("curves", 1, limits)
        pool.start()
        try:
            return await work(pool)
        finally:
            await pool.stop()

    return asyncio.run(run())


async def solved(pool: WorkerPool, seconds: float = 60.0) -> WebFrame:
    return await pool.run("toy", QUICK, [], lambda text: None, seconds)


async def grouped(pool: WorkerPool, seconds: float) -> WebFrame:
    asked = {"name": "large", "pixels": PIXELS, "question": {}}
    return await pool.run("group", asked, [large()], lambda text: None, seconds)


def test_a_job_that_takes_too_long_is_stopped() -> None:
    async def work(pool: WorkerPool) -> None:
        await solved(pool)
        with pytest.raises(JobError, match=r"longer than 0\.3 s") as caught:
            await grouped(pool, 0.3)
        assert caught.value.status == 503
        assert (await solved(pool)).said["answer"]["possible"]

    with_pool(WebLimits(grace_seconds=20.0), work)


def test_a_worker_that_does_not_stop_is_replaced() -> None:
    async def work(pool: WorkerPool) -> None:
        await solved(pool)
        [worker] = pool._workers
        with pytest.raises(JobError, match="longer than"):
            await grouped(pool, 0.3)
        assert (await solved(pool)).said["answer"]["possible"]
        [other] = pool._workers
        assert other is not worker and pool.ready == 1

    with_pool(WebLimits(grace_seconds=0.0), work)


def test_what_nobody_waits_for_is_stopped_and_errors_stay_with_their_job() -> None:
    async def work(pool: WorkerPool) -> None:
        await solved(pool)
        [worker] = pool._workers
        going = asyncio.create_task(grouped(pool, 60.0))
        await asyncio.sleep(0.5)
        going.cancel()
        loop = asyncio.get_running_loop()
        start = loop.time()
        assert (await solved(pool)).said["answer"]["possible"]
        assert loop.time() - start < 15 and pool._workers == {worker}
        with pytest.raises(JobError, match="no such model"):
            await pool.run("toy", {"model": "x", "given": {}}, [], lambda text: None, 9.0)
        with pytest.raises(JobError, match="log says why"):
            await pool.run("toy", {}, [], lambda text: None, 9.0)
        assert worker._process is not None
        worker._process.kill()
        with pytest.raises(JobError, match="ended unexpectedly"):
            await solved(pool)
        assert (await solved(pool)).said["answer"]["possible"]

    with_pool(WebLimits(grace_seconds=20.0), work)


def test_too_many_are_sent_away() -> None:
    async def work(pool: WorkerPool) -> list[object]:
        told: list[str] = []
        jobs = [pool.run("toy", QUICK, [], told.append, 60.0) for _ in range(4)]
        answers = await asyncio.gather(*jobs, return_exceptions=True)
        assert "warming up" in told
        return list(answers)

    answers = with_pool(WebLimits(waiting=3), work)
    refused = [one for one in answers if isinstance(one, JobError)]
    assert len(refused) == 1 and refused[0].status == 503
    assert sum(isinstance(one, WebFrame) for one in answers) == 3
