"""The process of toulbar2 keeps its limit, and nothing of it is left behind."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryFile

import numpy as np
import pytest

from mam.infer import enumerate_exactly
from mam.infer.toulbar import ToulbarAnswer, network_of, process, solve_in_process, solve_many
from mam.infer.toulbar.costs import Costs
from tests.infer.toulbar_answers import in_order
from tests.models.graphs import factor_scores
from tests.oracles import random_models

pytest.importorskip("pytoulbar2")

GRAPH, EVIDENCE = random_models.potts(np.random.default_rng(0), 30)
HARD = network_of(GRAPH, EVIDENCE)
EASY = network_of(*random_models.potts(np.random.default_rng(1), 5))


@pytest.fixture
def children(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen]:
    """The processes that the test starts."""
    started = []

    class Popen(subprocess.Popen):
        def __init__(self, *arguments: object, **settings: object) -> None:
            super().__init__(*arguments, **settings)
            started.append(self)

    monkeypatch.setattr(subprocess, "Popen", Popen)
    return started


def true_score(values: np.ndarray) -> float:
    [(_, factors)] = GRAPH.factors
    evidence = np.asarray(EVIDENCE["x"]).reshape(len(values), -1)
    pairs = factor_scores(factors, GRAPH.states, values[None])[0]
    return float(pairs + evidence[np.arange(len(values)), values].sum())


def check_incomplete(answer: ToulbarAnswer) -> None:
    assert not answer.proved and answer.values is not None
    score = true_score(answer.values)
    assert score == pytest.approx(answer.score, abs=1e-9)
    assert score < answer.bound < 1.1 * score


def gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def soon(happened: Callable[[], bool], seconds: float = 20.0) -> bool:
    until = time.monotonic() + seconds
    while not happened() and time.monotonic() < until:
        time.sleep(0.02)
    return happened()


@pytest.mark.parametrize("notice", [0.1, 0.0])
def test_the_limit_holds_and_the_best_so_far_is_told(
    notice: float,
    monkeypatch: pytest.MonkeyPatch,
    children: list[subprocess.Popen],
    capfd: pytest.CaptureFixture,
) -> None:
    """Also without notice: then the child is killed, and what it said until then is read."""
    monkeypatch.setattr(process, "_NOTICE", notice)
    start = time.monotonic()
    answer = solve_in_process(HARD, 2.0)
    assert time.monotonic() - start < 4.0
    check_incomplete(answer)
    [child] = children
    # Given notice it may end by itself before it is killed.
    assert child.returncode in (-signal.SIGKILL, *([0] if notice else []))
    with pytest.raises(ProcessLookupError):
        os.killpg(child.pid, 0)
    assert capfd.readouterr() == ("", "")


def test_a_limit_too_short_for_anything_holds_as_well() -> None:
    answer = solve_in_process(HARD, 1e-3)
    assert answer.values is None and not answer.proved and not answer.impossible
    assert answer.score == -np.inf and 1000 < answer.bound < 2000


def test_time_that_easy_networks_leave_goes_to_the_hard(children: list[subprocess.Popen]) -> None:
    start = time.monotonic()
    first, hard, last = in_order(solve_many([EASY, HARD, EASY], 3.0))
    assert time.monotonic() - start < 5.0
    assert first.proved and last.proved and first.score == last.score
    check_incomplete(hard)
    assert hard.seconds > 1.5 > first.seconds + last.seconds
    assert len(children) == 1


def test_an_interrupt_ends_the_child(children: list[subprocess.Popen]) -> None:
    here = threading.get_ident()

    def interrupt() -> None:
        assert soon(lambda: bool(children), 60)
        time.sleep(0.1)
        signal.pthread_kill(here, signal.SIGINT)

    # A shell that runs the tests in the background lets them ignore interrupts.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        solve_in_process(HARD, 120)
    thread.join()
    signal.signal(signal.SIGINT, before)
    assert children[0].returncode == -signal.SIGKILL


def test_who_gives_up_does_not_wait(children: list[subprocess.Popen]) -> None:
    given_up = threading.Event()
    threading.Timer(0.5, given_up.set).start()
    start = time.monotonic()
    [answer] = in_order(solve_many([HARD], 60, given_up))
    assert time.monotonic() - start < 3
    check_incomplete(answer)
    assert children[0].returncode is not None


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_killed_parent_leaves_no_child() -> None:
    code = "from tests.infer.test_toulbar_process import *; solve_in_process(HARD, 60)"
    with subprocess.Popen([sys.executable, "-c", code]) as parent:
        children = Path(f"/proc/{parent.pid}/task/{parent.pid}/children")
        assert soon(lambda: bool(children.read_text().split()))
        child = int(children.read_text().split()[0])
        # It is at work when it says something: then it has loaded all and holds its lock.
        assert soon(lambda: Path(f"/proc/{child}/fd/2").stat().st_size > 0)
        parent.kill()
    assert soon(lambda: gone(child))


def test_the_child_ends_when_its_pipe_is_closed() -> None:
    costs = Costs.of(HARD)
    assert costs is not None
    with TemporaryFile() as data, TemporaryFile() as said:
        costs.write(data, 3)
        data.seek(0)
        with process._worker(data, said) as child:
            assert soon(lambda: os.fstat(said.fileno()).st_size > 0)
            assert child.stdin is not None
            child.stdin.close()
            assert child.wait(10) == -signal.SIGIO


@pytest.fixture
def worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A script that stands in for the worker."""
    script = tmp_path / "worker.py"
    monkeypatch.setattr(process, "_WORKER", script)
    return script


def test_a_child_that_fails_is_an_error(worker: Path) -> None:
    worker.write_text("1 / 0")
    with pytest.raises(RuntimeError, match="failed with code 1: ZeroDivisionError"):
        solve_in_process(EASY, 10)


FALSE = {"values": [0] * 25, "cost": 0.0, "bound": 0.0, "stopped": False}


@pytest.mark.parametrize(
    ("code", "seconds"),
    [
        ("import os; os.kill(os.getpid(), 9)", 10.0),
        ("import time; time.sleep(60)", 0.5),
        (f"import json; print(json.dumps({FALSE}))", 10.0),
    ],
    ids=["crashed", "stuck", "lied"],
)
def test_a_child_that_does_not_answer_leaves_the_networks_open(
    worker: Path, code: str, seconds: float
) -> None:
    worker.write_text(code)
    start = time.monotonic()
    answers = in_order(solve_many([EASY, EASY], seconds))
    assert time.monotonic() - start < seconds + 2
    assert all(answer.values is None and not answer.proved for answer in answers)


@pytest.mark.parametrize("seed", [10622, 31268])
def test_networks_at_which_toulbar2_crashes_are_solved_all_the_same(seed: int) -> None:
    """Version 1.4.0 does, if it may eliminate variables with two neighbours."""
    graph, evidence = random_models.medley(np.random.default_rng(seed))
    answers = in_order(solve_many([EASY, network_of(graph, evidence), EASY], 20))
    assert all(answer.proved for answer in answers)
    assert answers[1].score == pytest.approx(enumerate_exactly(graph, evidence).score)


def test_the_worker_loads_little() -> None:
    code = (
        f"import runpy, sys; runpy.run_path({str(process._WORKER)!r}); import pytoulbar2; "
        "print([name for name in ('mam', 'jax', 'numpy') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "[]"
