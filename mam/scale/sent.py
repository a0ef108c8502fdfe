"""Functions that are sent once to each worker, and called there by name."""

import contextlib
import os
import secrets
import socket
from collections.abc import Callable, Iterator
from typing import Any

from distributed import Client, Worker, WorkerPlugin, get_worker

from mam import __version__
from mam.scale.gpus import gpu_environment


class Sent(WorkerPlugin):
    """A function on a worker. The scheduler hands it to every worker, also to those that come."""

    def __init__(self, function: Callable[[Any], Any], gpus: int) -> None:
        self.function, self.gpus, self.version = function, gpus, __version__

    def setup(self, worker: Worker) -> None:
        """Give a worker of this machine its accelerator, before anything has asked for one."""
        if self.gpus and isinstance(worker.name, int):
            for name, value in gpu_environment(worker.name, self.gpus).items():
                os.environ.setdefault(name, value)


@contextlib.contextmanager
def sent_once(client: Client, function: Callable[[Any], Any], gpus: int = 0) -> Iterator[str]:
    """Send a function to all workers; its name, for `call_sent`, until the block is left."""
    name = f"mam-{secrets.token_hex(8)}"
    try:
        _register(client, Sent(function, gpus), name)
        yield name
    finally:
        with contextlib.suppress(Exception):  # the scheduler may be gone
            client.unregister_worker_plugin(name)


def _register(client: Client, sent: Sent, name: str) -> None:
    try:
        client.register_plugin(sent, name=name)
    except OSError:  # of the network, or of the scheduler's end
        raise
    except Exception as error:  # whatever a worker met as it imported what the job is made of
        raise ValueError(
            f"a worker cannot load the job ({error}): mam {__version__} and all that the job "
            "imports must be installed on every machine"
        ) from None


def call_sent(name: str, task: Any) -> Any:
    """Call a function that was sent to this worker."""
    found: Any = get_worker().plugins[name]
    if found.version != __version__:
        raise ValueError(
            f"the worker on {socket.gethostname()} has mam {__version__}, and this run is of mam "
            f"{found.version}: install the same on all machines"
        )
    return found.function(task)
