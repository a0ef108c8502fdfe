"""The API gives the answers of the command line, as JSON, as events and as files."""

import base64
import io
import json
import shlex
from pathlib import Path

import httpx
import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from mam.cli import app
from mam.data import ObjectRow, make_row, recipe
from mam.data.images import encode_png
from mam.show.drawing_files import FILES
from mam.web.described_answers import FindAnswer, GroupAnswer, LearnAnswer, PictureAnswer, ToyAnswer
from mam.web.page_files import static_files

MOST_BYTES = 200_000  # of the first load


def sent(client: httpx.Client, content: bytes, name: str = "cross.png") -> str:
    answer = client.post("/api/pictures", params={"name": name}, content=content)
    assert answer.status_code == 200, answer.text
    return answer.json()["picture"]


def test_the_first_load_is_small(client: httpx.Client) -> None:
    page = client.get("/")
    assert page.headers["content-type"].startswith("text/html")
    rule = page.headers["content-security-policy"]
    assert "script-src 'self'" in rule and "unsafe" not in rule and "http" not in rule
    loaded = len(page.content) + sum(
        len(client.get(f"/static/{name}").content) for name in static_files()
    )
    assert loaded < MOST_BYTES
    assert client.get("/static/nothing.js").status_code == 404
    for name, file in static_files().items():
        text = file.content.decode().replace("http://www.w3.org/", "")
        assert "://" not in text.replace("http://${", ""), f"{name} names another server"
        assert "innerHTML" not in text and "style=" not in text and "onclick=" not in text


@pytest.mark.parametrize("ending", sorted(FILES))
def test_files_are_those_of_the_command_line(
    client: httpx.Client,
    cross: bytes,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    ending: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("my cross.png").write_bytes(cross)
    question = {
        "picture": sent(client, cross, "my cross.png"),
        "threshold": 100,
        "ink": "dark",
        "bridging": 1.5,
        "forbid": [[[60, 72], [60, 88.25]]],
        "markers": [[60, 20], [60, 140]],
    }
    taken = client.post("/api/group/file", json={**question, "ending": ending})
    command = client.post("/api/group", json=question).json()["command"]
    words = shlex.split(command)
    assert words[:3] == ["mam", "group", "my cross.png"]
    words[-1] = f"out{ending}"
    found = CliRunner().invoke(app, words[1:], catch_exceptions=False)
    assert found.exit_code == 0
    assert Path(words[-1]).read_bytes() == taken.content


def test_an_answer_as_json_and_as_events(client: httpx.Client, cross: bytes) -> None:
    key = sent(client, cross)
    question = {"picture": key, "markers": [[60, 20], [20, 80]]}
    answer = client.post("/api/group", json=question).json()
    assert GroupAnswer.model_validate(answer)
    assert len(answer["curves"]) == 2 and answer["proof"] == "exact" and answer["dark"]
    assert answer["markers"]["same"] is False and answer["alternative"]["cost"] > 0
    assert [curve["crossings"] for curve in answer["curves"]] == [1, 1]
    with Image.open(io.BytesIO(base64.b64decode(answer["ink"]))) as ink:
        assert ink.size == (160, 120)
    headers = {"accept": "text/event-stream"}
    text = client.post("/api/group", json=question, headers=headers).text
    events = [part.split("\n")[0] for part in text.strip().split("\n\n")]
    assert events[-1] == "event: answer" and set(events[:-1]) == {"event: progress"}
    assert json.loads(text.strip().split("data: ")[-1]) == answer
    wrong = {**question, "markers": [[60, 20], [5, 5]]}
    assert client.post("/api/group", json=wrong).status_code == 422
    assert "event: error" in client.post("/api/group", json=wrong, headers=headers).text


def test_what_is_known_of_a_link_changes_the_answer(client: httpx.Client, cross: bytes) -> None:
    key = sent(client, cross)
    free = client.post("/api/group", json={"picture": key}).json()
    on = [link for link in free["links"] if link[2]]
    ends = [free["ends"][end] for end in on[0][:2]]
    forbidden = client.post("/api/group", json={"picture": key, "forbid": [ends]}).json()
    state = {tuple(sorted(link[:2])): link[2] for link in forbidden["links"]}
    assert state[tuple(sorted(on[0][:2]))] is False
    assert free["score"] - forbidden["score"] == pytest.approx(on[0][3], abs=1e-2)


def test_names_are_words_and_never_paths(client: httpx.Client, cross: bytes) -> None:
    name = "../../etc/<img src=x onerror=alert(1)>$(reboot).png"
    answer = client.post("/api/group", json={"picture": sent(client, cross, name)}).json()
    assert answer["picture"] == name
    assert shlex.split(answer["command"])[2] == name
    assert "<img" not in client.get("/").text


def test_pictures_that_no_browser_shows(client: httpx.Client) -> None:
    deep = np.full((40, 50), 60000, np.uint16)
    deep[20, 5:45] = 100
    out = io.BytesIO()
    Image.fromarray(deep).save(out, "TIFF")
    key = sent(client, out.getvalue(), "deep.tif")
    view = client.get(f"/api/pictures/{key}")
    with Image.open(io.BytesIO(view.content)) as shown:
        assert (shown.format, shown.size, shown.mode) == ("PNG", (50, 40), "L")


def test_samples_and_small_models(client: httpx.Client) -> None:
    about = client.get("/api/about").json()
    for sample in about["samples"]:
        assert PictureAnswer.model_validate(client.post(f"/api/samples/{sample}").json()).rows > 100
    ask = {"name": "gene-network", "given": {"A": 1, "C": 1}}
    model = client.post("/api/model", json=ask).json()
    assert ToyAnswer.model_validate(model)
    state = {one["label"]: one["state"] for one in model["variables"]}
    assert (state["AB"], state["AD"], state["D"]) == (0, 1, 1)
    assert model["joined"] == [["B", "D"]]
    free = client.post("/api/model", json={"name": "gene-network", "given": {"C": 1}}).json()
    assert ["A", "B", True] in free["independent"] and ["A", "D", False] in free["independent"]
    impossible = {"name": "gene-network", "given": {"A": 0, "AB": 1}}
    assert client.post("/api/model", json=impossible).json()["possible"] is False
    lines = {"name": "two-lines", "given": {"part[0]": 1, "part[1]": 1}}
    model = client.post("/api/model", json=lines).json()
    on = {one["name"] for one in model["variables"] if one["state"] and "between" not in one}
    assert {"left 1", "right 1"} < on and model["proof"]


def test_the_api_describes_itself(client: httpx.Client) -> None:
    paths = client.get("/api/openapi.json").json()["paths"]
    assert {"/api/group", "/api/group/file", "/api/find", "/api/learn", "/api/model"} <= set(paths)


@pytest.mark.slow
def test_find_and_learn(client: httpx.Client) -> None:
    letters = client.post("/api/samples/letters").json()["picture"]
    found = client.post("/api/find", json={"picture": letters, "copies": 2}).json()
    assert FindAnswer.model_validate(found)
    assert len(found["found"]) == 2 and all(one["there"] for one in found["found"])
    dashes = client.post("/api/samples/dashes").json()["picture"]
    nothing = client.post("/api/find", json={"picture": dashes, "copies": 1}).json()["found"]
    assert [one["there"] for one in nothing] == [False]
    first, second = (make_row(recipe("objects", "easy", 3), row) for row in (0, 1))
    assert isinstance(first, ObjectRow) and isinstance(second, ObjectRow)
    key = sent(client, encode_png(first.image), "first.png")
    mask = base64.b64encode(encode_png(first.mask.astype(np.uint8) * 255)).decode()
    learned = client.post("/api/learn", json={"picture": key, "mask": mask, "name": "plate"})
    assert learned.status_code == 200, learned.text
    model = LearnAnswer.model_validate(learned.json()).model
    other = sent(client, encode_png(second.image), "second.png")
    ask = {"picture": other, "model": model, "copies": 1}
    [there] = client.post("/api/find", json=ask).json()["found"]
    assert there["name"] == "plate" and there["there"]
    with Image.open(io.BytesIO(base64.b64decode(there["mask"]))) as shown:
        overlap = (np.asarray(shown) > 0) & second.mask
    assert overlap.sum() > 0.5 * second.mask.sum()
    assert client.get(f"/api/models/{model}").content[8:9] == b"{"
    empty = base64.b64encode(encode_png(np.zeros(first.mask.shape, np.uint8))).decode()
    refused = client.post("/api/learn", json={"picture": key, "mask": empty})
    assert refused.status_code == 422 and "paint" in refused.json()["error"]
