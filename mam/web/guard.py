"""What stands before the application: sizes, times, origins and the token of every request."""

import asyncio
import hmac
import json
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any

from mam.web.limits import WebLimits

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

LOCAL = ("127.0.0.1", "localhost", "[::1]")
UPLOAD = "/api/pictures"  # the only path that takes large bodies
# Nothing from elsewhere, nothing inline; pictures of the page's own making are blobs and data.
_HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' blob: data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


class _Refusal(Exception):
    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class Access:
    """Who may ask: anybody on this machine, or whoever knows the token."""

    token: str | None = None

    def check(self, path: str, headers: dict[str, str]) -> None:
        """Refuse a request from elsewhere."""
        host = headers.get("host", "")
        if self.token is None and host.rsplit(":", 1)[0] not in LOCAL and host not in LOCAL:
            # A page elsewhere may have its own name lead to this machine.
            raise _Refusal(403, "this server answers to localhost alone")
        origin = headers.get("origin")
        if origin is not None and origin.split("://", 1)[-1] != host:
            raise _Refusal(403, "requests come from this server's own page alone")
        if self.token is not None and path.startswith("/api"):
            given = headers.get("authorization", "").removeprefix("Bearer ")
            if not hmac.compare_digest(given.encode(), self.token.encode()):
                raise _Refusal(401, "the token is missing or wrong; open the address with #token=")


class Guard:
    """Wraps the application: it sees only requests that are small, whole and allowed."""

    def __init__(self, application: Application, limits: WebLimits, access: Access) -> None:
        self._application, self._limits, self._access = application, limits, access
        self._arriving = 0

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Check one request, then hand it on."""
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        headers = {
            key.decode("latin-1"): value.decode("latin-1") for key, value in scope["headers"]
        }
        with_headers = _with_headers(send)
        try:
            self._access.check(scope["path"], headers)
            body = await self._body(scope["path"], headers, receive)
        except _Refusal as refusal:
            await _answer(with_headers, refusal.status, str(refusal))
            return
        sent = False

        async def replay() -> Message:
            nonlocal sent
            if sent:
                return await receive()  # nothing but the end of the connection comes now
            sent = True
            return {"type": "http.request", "body": body, "more_body": False}

        await self._application(scope, replay, with_headers)

    async def _body(self, path: str, headers: dict[str, str], receive: Receive) -> bytes:
        limits = self._limits
        most = limits.picture_bytes if path == UPLOAD else limits.question_bytes
        announced = headers.get("content-length", "0")
        if not announced.isdigit():
            raise _Refusal(400, "content-length is no number")
        if int(announced) > most:
            raise _Refusal(413, f"{announced} bytes are more than {most:,}")
        parts: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(limits.body_seconds):
                more = True
                while more:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise _Refusal(400, "the request ended early")
                    part = message.get("body", b"")
                    parts.append(part)
                    size, self._arriving = size + len(part), self._arriving + len(part)
                    if size > most:
                        raise _Refusal(413, f"more than {most:,} bytes")
                    if self._arriving > limits.arriving_bytes:
                        raise _Refusal(503, "too much is arriving at once; try again in a moment")
                    more = message.get("more_body", False)
        except TimeoutError:
            raise _Refusal(408, f"the request took longer than {limits.body_seconds:g} s") from None
        finally:
            self._arriving -= size
        return b"".join(parts)


def _with_headers(send: Send) -> Send:
    async def sender(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = {key.lower() for key, _ in message.get("headers", [])}
            added = [
                (key.encode(), value.encode())
                for key, value in _HEADERS.items()
                if key.encode() not in own
            ]
            message = {**message, "headers": [*message.get("headers", []), *added]}
        await send(message)

    return sender


async def _answer(send: Send, status: int, text: str) -> None:
    body = json.dumps({"error": text}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    # What was not read of a refused request must not be taken for the next one.
    headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
