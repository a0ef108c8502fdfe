"""Fifty people at once."""

import asyncio
import time

import httpx
import numpy as np
import pytest

from mam.data.images import encode_png
from tests.web.conftest import PATIENCE

PEOPLE, QUESTIONS = 50, 4


def drawing(seed: int) -> bytes:
    """A picture of its own for everybody."""
    picture = np.full((240, 320), 240, np.uint8)
    picture[20 + seed : 25 + seed, 20:300] = 30
    picture[20:220, 60 + 3 * seed : 65 + 3 * seed] = 30
    return encode_png(picture)


@pytest.mark.slow
def test_fifty_people_at_once(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    times: list[float] = []

    async def person(client: httpx.AsyncClient, seed: int) -> None:
        sent = await client.post("/api/pictures", content=drawing(seed))
        assert sent.status_code == 200, sent.text
        for bridging in range(QUESTIONS):
            start = time.perf_counter()
            asked = {"picture": sent.json()["picture"], "bridging": 1 + bridging / 10}
            answer = await client.post("/api/group", json=asked)
            times.append(time.perf_counter() - start)
            assert answer.status_code == 200 and len(answer.json()["curves"]) == 2

    async def everybody() -> None:
        async with httpx.AsyncClient(base_url=address, timeout=PATIENCE) as client:
            await asyncio.gather(*(person(client, seed) for seed in range(PEOPLE)))

    start = time.perf_counter()
    asyncio.run(everybody())
    spent = time.perf_counter() - start
    assert len(times) == PEOPLE * QUESTIONS
    with capsys.disabled():
        p50, p95 = np.quantile(times, [0.5, 0.95])
        rate = len(times) / spent
        print(
            f"\n{PEOPLE} people, {len(times)} questions: median {p50:.2f} s, "
            f"p95 {p95:.2f} s, {rate:.0f} a second"
        )
