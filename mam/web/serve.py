"""Serve the page until somebody ends it."""

import secrets
import socket
from collections.abc import Callable
from pathlib import Path

import uvicorn

from mam.web.guard import Access
from mam.web.server import WebSettings, make_app

LOOPBACK = ("127.0.0.1", "localhost", "::1")
_CONNECTIONS = 1000
_KEEP_ALIVE = 20  # seconds that a connection may be idle


def serve(
    host: str, port: int, models: Path | None, workers: int, announce: Callable[[str], None]
) -> None:
    """Serve; ``announce`` is told the address, with its token where one is needed."""
    token = None if host in LOOPBACK else secrets.token_urlsafe(24)
    settings = WebSettings(access=Access(token), models=models_in(models), workers=workers)
    with _bound(host, port) as listener:
        shown = f"[{host}]" if ":" in host else host
        address = f"http://{shown}:{listener.getsockname()[1]}/"
        announce(address if token is None else f"{address}#token={token}")
        config = uvicorn.Config(
            make_app(settings),
            log_level="warning",
            access_log=False,
            server_header=False,
            limit_concurrency=_CONNECTIONS,
            timeout_keep_alive=_KEEP_ALIVE,
            timeout_graceful_shutdown=1,
        )
        uvicorn.Server(config).run(sockets=[listener])


def models_in(folder: Path | None) -> dict[str, Path]:
    """The model files of a folder, by the name that people see."""
    if folder is None:
        return {}
    if not folder.is_dir():
        raise NotADirectoryError(f"--models {folder}: give a folder that is there")
    return {path.stem: path.resolve() for path in sorted(folder.glob("*.safetensors"))}


def _bound(host: str, port: int) -> socket.socket:
    """A listening socket, so that a port in use is said before anything starts."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(_CONNECTIONS)  # who comes before the server is up waits for it
    except OSError as error:
        listener.close()
        raise OSError(f"{host} port {port}: {error.strerror}; choose another --port") from None
    return listener
