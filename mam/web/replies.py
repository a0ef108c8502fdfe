"""How an answer goes back: as JSON, or as events while the work goes on; nobody there, no work."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from fastapi import Request
from fastapi.responses import JSONResponse, Response, StreamingResponse

from mam.web.frames import Telling
from mam.web.pool import JobError

TellingWork = Callable[[Telling], Awaitable[dict[str, Any]]]
_EVENTS = "text/event-stream"


async def reply(request: Request, work: TellingWork) -> Response:
    """Do the work and answer as the request wants it; it is cancelled when the client goes."""
    if _EVENTS in request.headers.get("accept", ""):
        return StreamingResponse(_events(request, work), media_type=_EVENTS)
    task = asyncio.ensure_future(work(lambda text: None))
    await _done_or_gone(request, task)
    try:
        return JSONResponse(task.result())
    except asyncio.CancelledError:
        return JSONResponse({"error": "cancelled"}, 499)


async def attended(request: Request, work: Awaitable[Response]) -> Response:
    """The same for an answer that is no JSON."""
    task = asyncio.ensure_future(work)
    await _done_or_gone(request, task)
    return task.result() if not task.cancelled() else Response(status_code=499)


async def _done_or_gone(request: Request, task: asyncio.Future) -> None:
    """Wait for a task; cancel it if the client goes first, or if the wait itself is cancelled."""
    gone = asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait([task, gone], return_when=asyncio.FIRST_COMPLETED)
    finally:
        gone.cancel()
        if not task.done():
            task.cancel()
            await asyncio.wait([task])


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _events(request: Request, work: TellingWork) -> AsyncIterator[str]:
    """`progress` events, then one `answer` or `error`."""
    told: asyncio.Queue[str | None] = asyncio.Queue()
    task = asyncio.ensure_future(work(told.put_nowait))
    task.add_done_callback(lambda done: told.put_nowait(None))
    watch = asyncio.ensure_future(_done_or_gone(request, task))
    try:
        while (text := await told.get()) is not None:
            yield _event("progress", {"text": text})
        try:
            yield _event("answer", task.result())
        except JobError as error:
            yield _event("error", {"error": str(error), "status": error.status})
        except asyncio.CancelledError:
            return
    finally:
        watch.cancel()
        task.cancel()


def _event(kind: str, said: dict[str, Any]) -> str:
    return f"event: {kind}\ndata: {json.dumps(said, allow_nan=False)}\n\n"
