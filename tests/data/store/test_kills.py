"""A writer that is killed at any moment leaves what was there, and the next run makes it whole."""

import hashlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
_MAKE = """
from pathlib import Path
from mam.data import StoreConfig, recipe, write_dataset
print("begun", flush=True)
made = recipe("pathfinder", "easy", 7)
write_dataset(made, 60, Path("easy.parquet"), StoreConfig(shard_rows=5))
"""
_GROUP = """
from pathlib import Path
import sys
from mam.scale import map_shards
from tests.scale.jobs import SizeJob
print("begun", flush=True)
pictures = sorted(Path("in").iterdir())
map_shards(SizeJob(".", slow=0.005), pictures, "out", shard_bytes=50)
"""


def started(code: str, folder: Path) -> subprocess.Popen:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout is not None and process.stdout.readline() == b"begun\n"
    return process


def digests(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*.parquet"))
    }


def kill_often(code: str, tmp_path: Path, kills: int, fill: bool) -> None:
    """Kill it again and again, let it finish, and compare with a run that nobody disturbed."""
    for name in ("calm", "killed"):
        (tmp_path / name).mkdir()
    (tmp_path / "calm" / "in").mkdir()
    for number in range(120 if fill else 0):
        (tmp_path / "calm" / "in" / f"{number:03d}.png").write_bytes(bytes([number]) * 10)
    (tmp_path / "killed" / "in").symlink_to(tmp_path / "calm" / "in")
    begin = time.monotonic()
    with started(code, tmp_path / "calm") as calm:
        assert calm.wait() == 0
    took, chance = time.monotonic() - begin, random.Random(kills)
    folder = tmp_path / "killed"
    for _ in range(kills):
        process = started(code, folder)
        time.sleep(chance.uniform(0, 0.3 * took))
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    with started(code, folder) as last:
        assert last.wait() == 0
    expected = digests(tmp_path / "calm")
    assert expected and digests(folder) == expected
    strays = [path for path in folder.rglob("*") if path.suffix in (".tmp", ".journal", ".late")]
    assert strays == []


@pytest.mark.parametrize(("code", "fill"), [(_MAKE, False), (_GROUP, True)], ids=["make", "shards"])
def test_ten_kills(code: str, fill: bool, tmp_path: Path) -> None:
    kill_often(code, tmp_path, 5, fill)


@pytest.mark.slow
@pytest.mark.parametrize(("code", "fill"), [(_MAKE, False), (_GROUP, True)], ids=["make", "shards"])
def test_a_hundred_kills(code: str, fill: bool, tmp_path: Path) -> None:
    kill_often(code, tmp_path, 50, fill)
