"""The guard alone: bodies that come slowly, too many at once, or not to their end."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from mam.web.guard import Access, Guard
from mam.web.limits import WebLimits

Part = tuple[float, dict[str, Any]]  # seconds to wait, then a message


def body(content: bytes, more: bool = False) -> dict[str, Any]:
    return {"type": "http.request", "body": content, "more_body": more}


async def application(scope: Any, receive: Callable[[], Awaitable[Any]], send: Any) -> None:
    message = await receive()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": message["body"]})


async def asked(guard: Guard, parts: list[Part], headers: dict[str, str] | None = None) -> Any:
    """The status and the body of the answer to a request that comes in parts."""
    coming, sent = iter(parts), []

    async def receive() -> dict[str, Any]:
        wait, message = next(coming)
        await asyncio.sleep(wait)
        return message

    async def send(message: Any) -> None:
        sent.append(message)

    given = {"host": "localhost:1"} | (headers or {})
    pairs = [(key.encode(), value.encode()) for key, value in given.items()]
    scope = {"type": "http", "path": "/api/pictures", "method": "POST", "headers": pairs}
    await guard(scope, receive, send)
    return sent[0]["status"], sent[1]["body"]


def guarded(**limits: Any) -> Guard:
    return Guard(application, WebLimits(**limits), Access())


@pytest.mark.parametrize(
    ("parts", "status"),
    [
        ([(0.0, body(b"ab", True)), (0.0, body(b"c"))], 200),
        ([(0.0, body(b"a", True)), (5.0, body(b"b"))], 408),
        ([(0.0, body(b"a", True)), (0.0, {"type": "http.disconnect"})], 400),
        ([(0.0, body(b"x" * 60, True)), (0.0, body(b"x" * 60))], 413),
    ],
)
def test_bodies(parts: list[Part], status: int) -> None:
    guard = guarded(body_seconds=0.2, picture_bytes=100)
    found, content = asyncio.run(asked(guard, parts))
    assert found == status
    assert content == b"abc" if status == 200 else json.loads(content)["error"]


def test_all_that_arrives_has_one_limit_and_what_is_gone_does_not_count() -> None:
    guard = guarded(arriving_bytes=150, body_seconds=2.0)
    slow = [(0.0, body(b"x" * 80, True)), (0.3, body(b"x"))]

    async def crowd() -> list[int]:
        found = await asyncio.gather(*(asked(guard, list(slow)) for _ in range(3)))
        last = await asked(guard, [(0.0, body(b"x" * 80))])
        return [status for status, _ in [*found, last]]

    assert asyncio.run(crowd()) == [200, 503, 503, 200]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "127.0.0.1"}, 200),
        ({"host": "[::1]:80"}, 200),
        ({"host": "127.0.0.1.example:80"}, 403),
        ({"host": "localhost.example"}, 403),
        ({"host": ""}, 403),
        ({"origin": "http://localhost:1"}, 200),
        ({"origin": "http://localhost:2"}, 403),
        ({"origin": "null"}, 403),
    ],
)
def test_who_may_ask(headers: dict[str, str], status: int) -> None:
    assert asyncio.run(asked(guarded(), [(0.0, body(b""))], headers))[0] == status
