"""Which accelerator a worker of this machine uses, where there are some."""

from pathlib import Path


def count_gpus(devices: Path = Path("/dev")) -> int:
    """How many GPUs of NVIDIA this machine has, told without waking them."""
    return len([path for path in devices.glob("nvidia*") if path.name[6:].isdigit()])


def gpu_environment(worker: int, gpus: int) -> dict[str, str]:
    """What makes a process use the GPU of its turn, and leave others their share of its memory.

    >>> gpu_environment(5, 4)["CUDA_VISIBLE_DEVICES"]
    '1'
    """
    return {
        "CUDA_VISIBLE_DEVICES": str(worker % gpus),
        "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
    }
