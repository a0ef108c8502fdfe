"""Requests that mean no good: each gets a clear code, and the server goes on."""

import contextlib
import io
import socket
import struct
import time
import zlib
from urllib.parse import urlsplit

import httpx
import pytest
from PIL import Image

from tests.web.conftest import PATIENCE, served

KEY = "0" * 64


def chunk(kind: bytes, content: bytes) -> bytes:
    crc = zlib.crc32(kind + content)
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", crc)


def bomb(rows: int, cols: int) -> bytes:
    """A PNG of a few bytes that announces very many pixels."""
    header = struct.pack(">IIBBBBB", cols, rows, 8, 0, 0, 0, 0)
    data = zlib.compress(b"\0" * 1000)
    parts = [chunk(b"IHDR", header), chunk(b"IDAT", data), chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def uploads(cross: bytes) -> list[bytes]:
    """What is no picture, or too much of one."""
    cut = [cross[:length] for length in range(0, len(cross), max(len(cross) // 40, 1))]
    flipped = [cross[:at] + bytes([cross[at] ^ 0xFF]) + cross[at + 1 :] for at in range(0, 100, 4)]
    sizes = [(100_000, 100_000), (2**31 - 1, 2**31 - 1), (1, 60_000_000), (4000, 4000), (0, 5)]
    pages, other = io.BytesIO(), Image.new("L", (3, 3), 9)
    Image.new("L", (3, 3)).save(pages, "GIF", save_all=True, append_images=[other])
    wrong = [b"\0", b"<svg onload=alert(1)>", b"%PDF-1.7", b"PK\3\4", b"\x93NUMPY\1\0v\0{'a':1}"]
    return cut + flipped + [bomb(*size) for size in sizes] + [*wrong, pages.getvalue()]


def questions() -> list[tuple[str, object]]:
    """Bodies of wrong types, sizes and names."""
    values: list[object] = [None, 5, "x", [], {}, -1, 1e308, True, "../../etc/passwd", [[1]]]
    fields = ["picture", "model", "threshold", "ink", "bridging", "markers"]
    fields += ["forbid", "demand"]
    found: list[tuple[str, object]] = [
        ("/api/group", {"picture": KEY, field: value})
        for field in fields
        for value in values
        if not (field in ("threshold", "markers") and value is None)
    ]
    found += [("/api/group", body) for body in (None, [], "x", 3, {"extra": 1, "picture": KEY})]
    paths = ["../" * 9 + "etc/passwd", "/etc/passwd", "file:///etc/passwd", "letters\0", "x" * 300]
    found += [("/api/find", {"picture": KEY, "model": path}) for path in paths]
    found += [("/api/find", {"picture": path}) for path in paths]
    found += [("/api/model", {"name": path}) for path in paths]
    found += [("/api/model", {"name": "gene-network", "given": {"A": v}}) for v in (2, -1, "x", [])]
    found += [("/api/model", {"name": "gene-network", "given": {"no such": 1}})]
    found += [("/api/learn", {"picture": KEY, "mask": m}) for m in ("!", "", "A" * 1_999_000, 7)]
    found += [("/api/group/file", {"picture": KEY, "ending": e}) for e in (".exe", "", None, 3)]
    many = [[[1, 1], [2, 2]]] * 201
    return [*found, ("/api/group", {"picture": KEY, "forbid": many})]


def test_every_wrong_request_has_a_code_and_words(client: httpx.Client, cross: bytes) -> None:
    asked = 0
    for content in uploads(cross):
        answer = client.post("/api/pictures", content=content)
        assert answer.status_code == 422, answer.text
        assert answer.json()["error"]
        asked += 1
    for path, body in questions():
        answer = client.post(path, json=body)
        assert answer.status_code in (404, 422), (path, body, answer.text)
        assert "Traceback" not in answer.text and answer.json()["error"]
        asked += 1
    for method, path, code in [
        ("GET", "/static/../server.py", 404),
        ("GET", "/static/%2e%2e%2fserver.py", 404),
        ("GET", "/etc/passwd", 404),
        ("GET", "/api/pictures/../../etc/passwd", 404),
        ("GET", f"/api/pictures/{KEY}", 404),
        ("GET", f"/api/models/{KEY}", 404),
        ("GET", "/api/group", 405),
        ("DELETE", "/api/pictures", 405),
        ("POST", "/api/samples/..%2f..%2fx", 404),
    ]:
        assert client.request(method, path).status_code == code, path
        asked += 1
    for raw in (b"{", b"\xff\xfe", b"[" * 100_000, b'{"picture": NaN}', b"1" * 1000):
        headers = {"content-type": "application/json"}
        assert client.post("/api/group", content=raw, headers=headers).status_code in (400, 422)
        asked += 1
    assert asked >= 200
    assert client.post("/api/pictures", content=cross).status_code == 200


def spoken(address: str, text: bytes, wait: float = 20.0) -> bytes:
    """The first answer to raw bytes."""
    parts = urlsplit(address)
    with socket.create_connection((parts.hostname or "", parts.port or 0), wait) as line:
        line.sendall(text)
        line.settimeout(wait)
        return line.recv(4000)


def test_a_gigabyte_is_refused_before_it_comes(address: str, client: httpx.Client) -> None:
    head = b"POST /api/pictures HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: %d\r\n\r\n"
    start = time.perf_counter()
    assert b" 413 " in spoken(address, head % (1 << 30))
    assert time.perf_counter() - start < 5
    question = b"POST /api/group HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: %d\r\n\r\n"
    assert b" 413 " in spoken(address, question % (3 << 20))
    for length in (b"-5", b"x", b"1e9"):
        wrong = b"POST /api/pictures HTTP/1.1\r\nhost: a\r\ncontent-length: " + length
        assert b" 400 " in spoken(address, wrong + b"\r\n\r\n")
    pieces = (b"x" * 65536 for _ in range(400))  # 25 MB, announced by nobody
    with contextlib.suppress(httpx.TransportError):  # it may hang up while more is coming
        assert client.post("/api/pictures", content=pieces).status_code == 413
    assert client.get("/api/about").status_code == 200


def test_slow_senders_hold_up_nobody(address: str, client: httpx.Client, cross: bytes) -> None:
    parts = urlsplit(address)
    head = b"POST /api/pictures HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 5000\r\n\r\n"
    lines = []
    for number in range(60):
        line = socket.create_connection((parts.hostname or "", parts.port or 0))
        line.sendall(head + b"x" if number % 2 else head[:20])
        lines.append(line)
    start = time.perf_counter()
    assert client.post("/api/pictures", content=cross).status_code == 200
    assert time.perf_counter() - start < 10
    for line in lines:
        line.close()


def test_other_origins_and_hosts_are_refused(address: str, client: httpx.Client) -> None:
    foreign = {"origin": "http://elsewhere.example"}
    assert client.post("/api/samples/ropes", headers=foreign).status_code == 403
    assert client.get("/", headers={"host": "rebound.example"}).status_code == 403
    own = {"origin": address.rstrip("/")}
    assert client.post("/api/samples/ropes", headers=own).status_code == 200


@pytest.mark.slow
def test_another_address_needs_the_token() -> None:
    with served("--host", "0.0.0.0", "--workers", "1") as address:
        base, token = address.split("#token=")
        base = base.replace("0.0.0.0", "127.0.0.1")
        with httpx.Client(base_url=base, timeout=PATIENCE) as client:
            assert client.get("/").status_code == 200
            for given in ({}, {"authorization": "Bearer no"}, {"authorization": token[:-1]}):
                assert client.get("/api/about", headers=given).status_code == 401
                assert client.post("/api/pictures", headers=given).status_code == 401
            right = {"authorization": f"Bearer {token}"}
            assert client.get("/api/about", headers=right).status_code == 200
