"""Worker processes for jobs: a queue, a time limit for each, a new worker for a lost one."""

import asyncio
import contextlib
import logging
import os
import sys
from collections.abc import Sequence
from typing import Any

from mam.web.frames import Telling, WebFrame, frame_bytes, next_frame
from mam.web.limits import WebLimits
from mam.web.worker import STOP

_LOG = logging.getLogger("mam.web")
_PAUSE = 2.0  # seconds before a worker that could not start is started again


class JobError(Exception):
    """A job that has no answer; ``status`` is the code of HTTP for it."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class WebWorker:
    """One worker process."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Start the process and wait until it is warm."""
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "mam.web.worker",
            self.kind,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env=os.environ | {"OMP_NUM_THREADS": "1"},
            start_new_session=True,  # Ctrl-C reaches the server alone
        )
        await self._next()

    async def ask(self, job: str, arguments: dict[str, Any], blobs: Sequence[bytes]) -> None:
        """Send a job."""
        process = self._process
        assert process is not None and process.stdin is not None
        process.stdin.write(frame_bytes({"job": job, "arguments": arguments}, blobs))
        await process.stdin.drain()

    async def answer(self, tell: Telling) -> WebFrame:
        """Await the end of the job; progress is told on the way."""
        while (frame := await self._next()).said["kind"] == "progress":
            tell(frame.said["text"])
        return frame

    async def _next(self) -> WebFrame:
        assert self._process is not None and self._process.stdout is not None
        return await next_frame(self._process.stdout)

    async def stop_job(self, seconds: float) -> bool:
        """Ask the worker to leave its job; whether it did so in time."""
        assert self._process is not None
        if STOP is not None:
            with contextlib.suppress(ProcessLookupError):
                self._process.send_signal(STOP)
        try:
            async with asyncio.timeout(seconds):
                await self.answer(lambda text: None)
        except (TimeoutError, asyncio.IncompleteReadError, ConnectionError):
            return False
        return True

    async def end(self) -> None:
        """End the process."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()


class WorkerPool:
    """Workers of one kind. A worker that is stuck, or lost, is replaced by a fresh one."""

    def __init__(self, kind: str, size: int, limits: WebLimits) -> None:
        self.kind, self.size, self._limits = kind, size, limits
        self.ready = 0  # workers that have warmed up, for people who wait for them
        self.waiting = 0
        self._idle: asyncio.Queue[WebWorker] = asyncio.Queue()
        self._tasks: set[asyncio.Task] = set()
        self._workers: set[WebWorker] = set()

    def start(self) -> None:
        """Start all workers; jobs may come at once and wait for them."""
        for _ in range(self.size):
            self._keep(self._add())

    async def stop(self) -> None:
        """End all workers."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*(worker.end() for worker in self._workers))

    async def run(
        self,
        job: str,
        arguments: dict[str, Any],
        blobs: Sequence[bytes],
        tell: Telling,
        seconds: float,
    ) -> WebFrame:
        """Run a job in the next free worker; `JobError` says why there is no answer."""
        worker = await self._free_worker(tell)
        done = False
        try:
            async with asyncio.timeout(seconds):
                tell("working")
                await worker.ask(job, arguments, blobs)
                frame = await worker.answer(tell)
                done = True
        except TimeoutError:
            raise JobError(503, f"this took longer than {seconds:g} s and was stopped") from None
        except (asyncio.IncompleteReadError, ConnectionError):
            raise JobError(500, "the worker process ended unexpectedly; try again") from None
        finally:
            # What is cancelled must be tidied up by somebody who is not.
            self._keep(self._put_back(worker, done))
        if frame.said["kind"] == "refused":
            raise JobError(422, frame.said["error"])
        if frame.said["kind"] != "answer":
            raise JobError(500, "this failed; the server's log says why")
        return frame

    async def _free_worker(self, tell: Telling) -> WebWorker:
        if self.waiting >= self._limits.waiting:
            raise JobError(503, f"{self.waiting} others are waiting already; try again in a moment")
        self.waiting += 1
        try:
            if self._idle.empty():
                before = self.waiting - 1
                tell(f"waiting, {before} before you" if self.ready else "warming up")
            async with asyncio.timeout(self._limits.long_seconds):
                return await self._idle.get()
        except TimeoutError:
            raise JobError(503, "no worker was free in time; try again in a moment") from None
        finally:
            self.waiting -= 1

    async def _put_back(self, worker: WebWorker, done: bool) -> None:
        if done or await worker.stop_job(self._limits.grace_seconds):
            self._idle.put_nowait(worker)
            return
        await worker.end()
        self._workers.discard(worker)
        self.ready -= 1
        await self._add()

    async def _add(self) -> None:
        worker = WebWorker(self.kind)
        self._workers.add(worker)
        while True:
            try:
                await worker.start()
                break
            except (asyncio.IncompleteReadError, ConnectionError):
                _LOG.error("a worker for %s could not start; trying again", self.kind)
                await worker.end()
                await asyncio.sleep(_PAUSE)
        self.ready += 1
        self._idle.put_nowait(worker)

    def _keep(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
