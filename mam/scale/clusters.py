"""Clusters by a word: processes on this machine, a running scheduler, or a file that says more.

``local`` or ``local:N`` starts N processes here. ``tcp://host:port`` (or ``tls://``) is a scheduler
that runs already. A YAML file names a queue:

.. code-block:: yaml

    kind: slurm         # or pbs, kubernetes
    workers: 20
    settings:           # of dask-jobqueue's SLURMCluster, or dask-kubernetes' KubeCluster
      queue: normal
      cores: 8
      memory: 16GB
"""

import contextlib
import importlib.util
import logging
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from mam.core.workers import cores
from mam.scale.queues import opened_queue, queue_settings

if TYPE_CHECKING:
    from distributed import Client

_CONFIG = {
    # A shard that kills its worker is tried again until its journal shows which item does it.
    "distributed.scheduler.allowed-failures": 8,
    # A worker that says nothing for so long is given up, and its shard goes to another.
    "distributed.scheduler.worker-ttl": "60s",
    # A worker that was killed starts anew, which takes some time on a busy machine.
    "distributed.deploy.lost-worker-timeout": "60s",
    "distributed.comm.timeouts.connect": "10s",
    # What a worker does besides the work takes the interpreter from it, a fifth of the time:
    # looking at it a hundred times a second, and at itself fifty times.
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    # Nor need the machine be looked at twice, and memory ten times a second.
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.worker.memory.monitor-interval": "1s",
    # Dask's own also gives every freed megabyte back to the system, which costs a tenth. So does a
    # heap of any thread but the main one, which costs a twentieth: all share one heap.
    "distributed.nanny.pre-spawn-environ": {
        "MALLOC_TRIM_THRESHOLD_": None,
        "MALLOC_ARENA_MAX": 1,
        **dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), 1),
    },
    # The program that ends says so itself.
    "distributed.admin.log-format": "%(message)s",
}


@contextlib.contextmanager
def opened_cluster(spec: str) -> Iterator["Client"]:
    """A client of a cluster, which goes when the block is left; a running scheduler stays."""
    check_cluster(spec)
    from dask import config
    from distributed import Client

    _quiet()
    with config.set(_CONFIG), contextlib.ExitStack() as stack:
        if spec.startswith(("tcp://", "tls://")):
            where: Any = spec
        elif is_local(spec):
            where = stack.enter_context(_local(_processes(spec)))
        else:
            where = stack.enter_context(opened_queue(spec, _CONFIG))
        try:
            client = Client(where)
        except OSError:
            raise OSError(f"{spec}: no scheduler answers there within 10 s") from None
        yield stack.enter_context(client)


def check_cluster(spec: str) -> None:
    """Refuse a cluster that cannot be meant, before any work."""
    if importlib.util.find_spec("distributed") is None:
        raise ValueError("--cluster needs Dask: pip install markov-attention[cluster]")
    if is_local(spec):
        _processes(spec)
    elif not spec.startswith(("tcp://", "tls://")):
        queue_settings(spec)
    elif not re.fullmatch(r"t(cp|ls)://.+:\d+", spec):
        raise ValueError(f"--cluster {spec}: give a host and a port, such as tcp://head:8786")


def is_local(spec: str) -> bool:
    """Whether a cluster is processes of this machine."""
    return spec == "local" or spec.startswith("local:")


def asked_workers(spec: str) -> int | None:
    """How many workers we started or asked a queue for; None where others see to them."""
    if is_local(spec):
        return _processes(spec)
    if spec.startswith(("tcp://", "tls://")):
        return None
    kind, _, workers, _ = queue_settings(spec)
    return None if kind == "kubernetes" else workers


def _processes(spec: str) -> int:
    text = spec.removeprefix("local").removeprefix(":")
    if not text:
        return cores()
    if not text.isdecimal() or int(text) < 1:
        raise ValueError(f"--cluster {spec}: give local, or local:N with a number of processes")
    return int(text)


def _local(processes: int) -> Any:
    from distributed import LocalCluster

    return LocalCluster(
        n_workers=processes,
        threads_per_worker=1,
        processes=True,
        dashboard_address="127.0.0.1:0",  # for nobody else, and not at a port that another has
        silence_logs=logging.CRITICAL,
    )


def _quiet() -> None:
    """What Dask logs of lost workers the run says itself, in a line."""
    for name in ("distributed", "distributed.nanny", "distributed.scheduler", "distributed.core"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
