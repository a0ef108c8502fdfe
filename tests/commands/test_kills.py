"""A command that is killed at any moment leaves what was there, and the next one makes it whole."""

import contextlib
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from mam.data import encode_png

ROOT = Path(__file__).parents[2]
COMMANDS = {
    "make": "make pathfinder --level easy --count 40 --shard-rows 5 --out easy.parquet",
    "shards": "shards",
    "learn": "learn curves --count 3 --out model.safetensors",
    "reproduce": "reproduce models --out .",
    "group": "group in --out drawn --model curves",
    "folder": "group in --out-dir answers --model curves",
}
_TIMES = ("seconds",)  # what a record says and no two runs have in common
_FEW, _MANY = 2, 20  # kills of each command


class Zygote:
    """Starts commands in processes that can be killed."""

    def __init__(self, cache: Path) -> None:
        environment = os.environ | {
            "PYTHONPATH": str(ROOT),
            "JAX_COMPILATION_CACHE_DIR": str(cache),
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
            "PYTHONWARNINGS": "ignore",
        }
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.commands.killed"],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def begin(self, folder: Path, command: str) -> int:
        """Start a command; the number of its process."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps([str(folder), *command.split()]) + "\n")
        self.process.stdin.flush()
        return self.told()

    def told(self) -> int:
        """The next number that it tells: of a process, or how that ended."""
        assert self.process.stdout is not None
        return int(self.process.stdout.readline())

    def run(self, folder: Path, command: str, kill_after: float | None = None) -> int:
        """How the command ended: 0, or -9."""
        child = self.begin(folder, command)
        if kill_after is not None:
            timer = threading.Timer(kill_after, _kill, [child])
            timer.start()
        ended = self.told()
        if kill_after is not None:
            timer.cancel()
            timer.join()
        return ended

    def close(self) -> None:
        self.process.communicate()


def _kill(process: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)


@pytest.fixture(scope="module")
def zygote(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Zygote]:
    found = Zygote(tmp_path_factory.mktemp("cache"))
    yield found
    found.close()


def prepared(folder: Path, pictures: Path) -> Path:
    """A folder with pictures, and an older model."""
    (folder / "drawn").mkdir(parents=True)
    (folder / "in").symlink_to(pictures)
    (folder / "model.safetensors").write_bytes(b"an older one")
    return folder


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("in")
    for number in range(8):
        picture = np.zeros((50, 60), np.uint8)
        picture[10 + 4 * number : 13 + 4 * number, 10:50] = 255
        (folder / f"{number}.png").write_bytes(encode_png(picture))
    return folder


def digests(folder: Path) -> dict[str, str]:
    """Of every file; pages and records without what time they took."""
    found = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        content = path.read_bytes()
        if path.suffix == ".html" or path.name.startswith("seen-"):
            continue
        if path.suffix == ".json":
            about = json.loads(content)
            content = repr({key: about[key] for key in about if key not in _TIMES}).encode()
        found[path.relative_to(folder).as_posix()] = hashlib.sha256(content).hexdigest()
    return found


@pytest.mark.parametrize("kills", [_FEW, pytest.param(_MANY, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", COMMANDS)
def test_kills_at_random_moments(
    name: str, kills: int, zygote: Zygote, pictures: Path, tmp_path: Path
) -> None:
    command, chance = COMMANDS[name], random.Random(name)
    first, calm, folder = (
        prepared(tmp_path / one, pictures) for one in ("first", "calm", "killed")
    )
    before = digests(calm)
    zygote.run(first, command)  # which compiles
    began = time.monotonic()
    assert zygote.run(calm, command) == 0
    took, expected, killed = time.monotonic() - began, digests(calm), 0
    for _ in range(kills):
        killed += zygote.run(folder, command, chance.uniform(0, 0.6 * took)) == -signal.SIGKILL
        for file, digest in digests(folder).items():
            # What has its name is as it was, or whole; `manifest.json` tells what is done.
            if file in expected and not file.endswith("manifest.json"):
                assert digest in (before.get(file), expected[file]), file
    assert zygote.run(folder, command) == 0
    assert killed > 0 and digests(folder) == expected


@pytest.mark.parametrize(
    ("name", "times"),
    [("shards", 1), *(pytest.param(name, 3, marks=pytest.mark.slow) for name in COMMANDS)],
)
def test_two_at_once_with_one_output(
    name: str, times: int, zygote: Zygote, pictures: Path, tmp_path: Path
) -> None:
    """Both end, or one says that the other is at it; what is there in the end is whole."""
    folder, calm = (prepared(tmp_path / one, pictures) for one in ("both", "calm"))
    other = Zygote(tmp_path / "cache")
    for _ in range(times):
        for one in (zygote, other):
            one.begin(folder, COMMANDS[name])
        assert 0 in (zygote.told(), other.told())
    other.close()
    assert zygote.run(folder, COMMANDS[name]) == zygote.run(calm, COMMANDS[name]) == 0
    assert digests(folder) == digests(calm)
