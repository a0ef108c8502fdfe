"""Files of any format that went wrong: bytes and, in texts, words."""

import re

import numpy as np

WORDS = [b"-1", b"0", b"1e999", b"nan", b"inf", b"99999999999", b"4294967296", b"0.5", b"x", b""]
WORDS += [b"\xff\xfe", b"<script>", b"../../x", b"null", b"[[[[", b"{}", b'"', b"1 1 1 1", b"\x00"]
WORDS += [b"NaN", b"Infinity", b"1e23", b"[" * 100_000]
_MOST = 8  # changes of one file


def mutated(content: bytes, rng: np.random.Generator, text: bool) -> bytes:
    """The content with some changes, often one, sometimes many."""
    for _ in range(1 + rng.integers(_MOST) * rng.integers(2)):
        content = _other_words(content, rng) if text and rng.random() < 0.6 else _torn(content, rng)
    return content


def _other_words(content: bytes, rng: np.random.Generator) -> bytes:
    """Another word instead of one of the text, or two that change places."""
    words = re.split(rb"(\s+|[\[\]{},:])", content)
    here, there = rng.integers(len(words), size=2)
    if rng.random() < 0.3:
        words[here], words[there] = words[there], words[here]
    else:
        words[here] = WORDS[rng.integers(len(WORDS))]
    return b"".join(words)


def _torn(content: bytes, rng: np.random.Generator) -> bytes:
    """Bytes flipped, gone, twice there, or not of this file."""
    found = bytearray(content)
    first, last = sorted(rng.integers(len(found) + 1, size=2))
    last = min(last, first + int(2 ** rng.uniform(0, 12)))
    match rng.integers(5):
        case 0:
            return bytes(found[:first])
        case 1:
            return bytes(found[:first] + found[last:])
        case 2:
            return bytes(found[:last] + found[first:last] + found[last:])
        case 3:
            return bytes(found[:first] + rng.bytes(last - first) + found[last:])
    for at in rng.integers(len(found), size=1 + rng.integers(4)) if found else ():
        found[at] ^= 1 << rng.integers(8)
    return bytes(found)
