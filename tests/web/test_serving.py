"""`mam show` as a process: how it begins, ends, and lets go of work that nobody waits for."""

import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from mam.cli import app
from tests.web.conftest import PATIENCE, served
from tests.web.test_pool import large


def said(*options: object) -> str:
    with pytest.raises((ValueError, OSError)) as caught:
        CliRunner().invoke(app, ["show", *map(str, options)], catch_exceptions=False)
    return str(caught.value)


def test_mistakes_are_named_before_anything_starts(address: str, tmp_path: Path) -> None:
    port = httpx.URL(address).port
    assert f"127.0.0.1 port {port}" in said("--port", port)
    assert "give a folder" in said("--port", 0, "--models", tmp_path / "none")


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith(("mam.web", "uvicorn"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert "markov-attention[web]" in said("--port", 0)


def children(parent: int) -> list[int]:
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(parent)], capture_output=True)
    return [int(line) for line in found.stdout.split()]


@pytest.mark.skipif(not Path("/proc").exists(), reason="processes are looked up by ps")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_soon_and_takes_its_workers_along(number: signal.Signals) -> None:
    command = [sys.executable, "-m", "mam", "show", "--port", "0", "--workers", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        address = process.stdout.readline().split()[0].decode()
        with httpx.Client(base_url=address, timeout=PATIENCE) as client:
            assert client.post("/api/model", json={"name": "gene-network"}).status_code == 200
        workers = children(process.pid)
        assert workers
        process.send_signal(number)
        start = time.monotonic()
        assert process.wait(15) == 128 + number
        assert time.monotonic() - start < 5
    deadline = time.monotonic() + 15
    while any(Path(f"/proc/{worker}").exists() for worker in workers):
        assert time.monotonic() < deadline, "a worker lives on"
        time.sleep(0.1)


@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
def test_work_that_nobody_waits_for_is_given_up(client: httpx.Client, accept: str) -> None:
    key = client.post("/api/pictures", content=large()).json()["picture"]
    for _ in range(6):
        with (
            suppress(httpx.ReadTimeout),
            client.stream(
                "POST",
                "/api/group",
                json={"picture": key},
                headers={"accept": accept},
                timeout=httpx.Timeout(PATIENCE, read=0.4),
            ) as answer,
        ):
            # Who is told of the progress hangs up then: each word would be waited for anew.
            assert "event: progress" in next(answer.iter_text())
    start = time.monotonic()
    assert client.post("/api/model", json={"name": "gene-network"}).status_code == 200
    # Six such pictures would take longer than this.
    assert time.monotonic() - start < 12


def test_models_of_a_folder_are_offered(tmp_path: Path) -> None:
    (tmp_path / "mug.safetensors").write_bytes(b"x")
    (tmp_path / "notes.txt").write_text("x")
    with served("--models", str(tmp_path), "--workers", "1") as address:
        about = httpx.get(f"{address}api/about", timeout=PATIENCE).json()
    assert about["models"] == ["letters", "mug"]
