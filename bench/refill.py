"""Letters explained by tearing out and refilling, beside max-product from eight starts.

``python -m bench.refill 8``: score and seconds of the processor for so many letters, each one large
island of the sparsifier. The first call of max-product compiles.
"""

import sys
import time

import numpy as np

from mam.data import make_row, recipe
from mam.vision.parts.sparsifier import Sparsifier


def main(count: int = 8) -> None:
    made = recipe("cabc", "hard", 5)
    letters = [make_row(made, row).letters & 1 > 0 for row in range(count)]
    print(f"{count} letters, each one island:")
    for name, settings in (
        ("refilling", {}),
        ("max-product, eight starts", {"method": "messages", "restarts": 8}),
    ):
        sparsifier = Sparsifier("cabc-parts", **settings)
        begin = time.process_time()
        first = sparsifier.transform(letters[:1])
        then = time.process_time()
        found = first + sparsifier.transform(letters[1:])
        spent = time.process_time() - then
        score = np.mean([one.score for one in found])
        print(
            f"  {name}: mean score {score:.1f}, first letter {then - begin:.2f} s, "
            f"others {spent / max(count - 1, 1):.2f} s each"
        )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
