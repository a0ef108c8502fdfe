"""toulbar2 works beside messages: in one go, heard as it answers, given up when nobody waits."""

import subprocess
import time

import numpy as np
import pytest

from mam.graph import FactorGraph
from mam.infer import Options, hard_components
from mam.infer.hard_components import solve_rest
from mam.infer.leftovers import Rest
from mam.infer.solution import Solution
from mam.infer.toulbar_search import Search
from tests.oracles import random_models

pytest.importorskip("pytoulbar2")


def component(seed: int, size: int) -> Rest:
    graph, evidence = random_models.potts(np.random.default_rng(seed), size)
    count = len(graph.states)
    return Rest(graph, evidence, np.arange(count), np.ones(count, bool), 0)


EASY, HARD = component(1, 5), component(0, 30)


def test_answers_are_there_as_they_come() -> None:
    with Search([HARD, EASY], 60) as search:
        end = time.monotonic() + 40  # on a busy machine the process is slow to start
        while search.wait(0.1)[1] is None and time.monotonic() < end:
            pass
        start = time.monotonic()
        hard_one, easy = search.wait(1)
        assert 0.9 < time.monotonic() - start < 3
    assert hard_one is None and easy is not None and easy.proof is not None
    assert not search.proved.is_set()


def test_all_proofs_are_told() -> None:
    with Search([EASY, EASY], 60) as search:
        first, second = search.wait()
        assert search.proved.is_set()
    assert first is not None and second is not None and first.score == second.score


def test_nothing_is_begun_for_nobody() -> None:
    with Search([], 60) as search:
        assert search.wait() == [] and not search.proved.is_set()


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    calls = []

    class Popen(subprocess.Popen):
        def __init__(self, command: list[str], **settings: object) -> None:
            calls.append(command)
            super().__init__(command, **settings)

    monkeypatch.setattr(subprocess, "Popen", Popen)
    return calls


def test_a_search_goes_on_beside_messages(started: list[list[str]]) -> None:
    options = Options(bound=True, seconds=4.0, message_seconds=1.0, bound_steps=5, iterations=5)
    start = time.monotonic()
    hard_one, easy = solve_rest([HARD, EASY], options)
    assert time.monotonic() - start > 3.5
    assert len(started) == 1  # one process of toulbar2 for the whole time
    assert easy.proof is not None and hard_one.proof is None
    assert hard_one.bound is not None and hard_one.score <= hard_one.bound < np.inf
    assert list(hard_one.ways) == ["toulbar2 and max-product"]


def test_messages_end_when_the_search_has_proved_all(monkeypatch: pytest.MonkeyPatch) -> None:
    heard = []

    def slow(graphs: list[FactorGraph], *_: object) -> list[Solution]:
        proved = _[-1]
        heard.append(proved.wait(60))
        return messages(graphs, *_)

    messages = hard_components.max_product
    monkeypatch.setattr(hard_components, "max_product", slow)
    monkeypatch.setattr(hard_components, "_FIRST", 0.0001)
    [answer] = solve_rest([EASY], Options(bound=True, seconds=30.0))
    assert heard == [True] and answer.proof is not None
