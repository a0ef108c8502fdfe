"""Files with a single bit flipped: what a tired disk or a bad cable makes of them."""

import itertools
import random
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any


def flipped(content: bytes, count: int, seed: int = 0) -> Iterator[tuple[int, bytes]]:
    """Some places of a content, and the content with that bit flipped: half of them near the end.

    There a small file has its footer, and there a flip is least likely to hit plain pixels.
    """
    chance = random.Random(seed)
    bits = 8 * len(content)
    near = chance.sample(range(bits - bits // 10, bits), min(count // 2, bits // 10))
    anywhere = chance.sample(range(bits), min(count - len(near), bits))
    for place in itertools.chain(near, anywhere):
        torn = bytearray(content)
        torn[place // 8] ^= 1 << (place % 8)
        yield place, bytes(torn)


def outcomes(path: Path, count: int, read: Callable[[], Any], seed: int = 0) -> Counter[str]:
    """How often a flipped bit was refused by an error naming the file, harmless, or silent.

    The counts of anything else are under the place of the bit and what happened.
    """
    content, right = path.read_bytes(), read()
    found: Counter[str] = Counter()
    for place, torn in flipped(content, count, seed):
        path.write_bytes(torn)
        try:
            found["harmless" if read() == right else f"bit {place}: silent"] += 1
        except (ValueError, OSError) as error:
            named = str(error).startswith(str(path))
            found["refused" if named else f"bit {place}: {error!r}"] += 1
        except Exception as error:
            found[f"bit {place}: {error!r}"] += 1
    path.write_bytes(content)
    return found
