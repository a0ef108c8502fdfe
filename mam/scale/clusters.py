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
import importlib
import importlib.util
import logging
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from distributed import Client

# The class of each kind of queue, and the package that has it.
_QUEUES = {
    "slurm": ("dask_jobqueue", "SLURMCluster", "dask-jobqueue"),
    "pbs": ("dask_jobqueue", "PBSCluster", "dask-jobqueue"),
    "kubernetes": ("dask_kubernetes.operator", "KubeCluster", "dask-kubernetes"),
}
_CONFIG = {
    # A shard that kills its worker is tried again until its journal shows which item does it.
    "distributed.scheduler.allowed-failures": 8,
    # A worker that says nothing for so long is given up, and its shard goes to another.
    "distributed.scheduler.worker-ttl": "60s",
    "distributed.comm.timeouts.connect": "10s",
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
        elif spec == "local" or spec.startswith("local:"):
            where = stack.enter_context(_local(_processes(spec)))
        else:
            where = stack.enter_context(_queue(spec))
        try:
            client = Client(where)
        except OSError:
            raise OSError(f"{spec}: no scheduler answers there within 10 s") from None
        yield stack.enter_context(client)


def check_cluster(spec: str) -> None:
    """Refuse a cluster that cannot be meant, before any work."""
    if importlib.util.find_spec("distributed") is None:
        raise ValueError("--cluster needs Dask: pip install markov-attention[cluster]")
    if spec == "local" or spec.startswith("local:"):
        _processes(spec)
    elif not spec.startswith(("tcp://", "tls://")):
        queue_settings(spec)


def _processes(spec: str) -> int:
    text = spec.removeprefix("local").removeprefix(":")
    if not text:
        return os.cpu_count() or 1
    if not text.isdigit() or int(text) < 1:
        raise ValueError(f"--cluster {spec}: give local, or local:N with a number of processes")
    return int(text)


def _local(processes: int) -> Any:
    from distributed import LocalCluster

    return LocalCluster(
        n_workers=processes,
        threads_per_worker=1,
        processes=True,
        dashboard_address=None,  # pyright: ignore[reportArgumentType]
        silence_logs=logging.CRITICAL,
    )


def queue_settings(spec: str) -> tuple[type, int, dict[str, Any]]:
    """The class, number of workers and settings that a file names."""
    import yaml

    try:
        about = yaml.safe_load(Path(spec).read_text())
    except FileNotFoundError:
        raise ValueError(
            f"--cluster {spec}: give local, local:N, tcp://HOST:PORT, or a YAML file that is there"
        ) from None
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ValueError(f"{spec}: cannot be read as YAML ({error})") from None
    if not isinstance(about, Mapping) or about.get("kind") not in _QUEUES:
        raise ValueError(f"{spec}: has no kind; it is one of {', '.join(_QUEUES)}")
    workers, settings = about.get("workers", 1), about.get("settings", {})
    if not isinstance(workers, int) or workers < 1:
        raise ValueError(f"{spec}: workers is a number of at least 1, not {workers!r}")
    if not isinstance(settings, Mapping):
        raise ValueError(f"{spec}: settings is a list of names and values, not {settings!r}")
    if strange := sorted(set(about) - {"kind", "workers", "settings"}):
        raise ValueError(f"{spec}: {strange[0]} is none of kind, workers, settings")
    module, name, package = _QUEUES[about["kind"]]
    try:
        found = getattr(importlib.import_module(module), name)
    except ImportError:
        raise ValueError(f"{spec}: {about['kind']} needs `pip install {package}`") from None
    return found, workers, dict(settings)


@contextlib.contextmanager
def _queue(spec: str) -> Iterator[Any]:
    kind, workers, settings = queue_settings(spec)
    try:
        cluster = kind(**settings)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{spec}: settings that {kind.__name__} does not take ({error})") from None
    with cluster:
        cluster.scale(workers)
        yield cluster


def _quiet() -> None:
    """What Dask logs of lost workers the run says itself, in a line."""
    for name in ("distributed", "distributed.nanny", "distributed.scheduler", "distributed.core"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
