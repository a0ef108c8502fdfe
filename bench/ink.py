"""How much of the ink of generated pages is found, by kind of paper: `python -m bench.ink`."""

import numpy as np
from skimage.filters import threshold_otsu

from mam.data.pixels import grey
from mam.vision.images.ink import find_ink
from tests.vision.images.pages import LIGHTS, overlap, page

PAGES = 18
KINDS = {"grey": {}, "JPEG": {"quality": 60}, "four colours": {"colours": True}}


def by_one_threshold(picture: np.ndarray) -> np.ndarray:
    plain = grey(picture)
    above = plain > threshold_otsu(plain)
    return ~above if above.mean() > 0.5 else above


def main() -> None:
    for light in LIGHTS:
        cells = []
        for known in KINDS.values():
            found, plain = [], []
            for seed in range(1000, 1000 + PAGES):
                picture, truth = page(light, seed, **known)
                found.append(overlap(find_ink(picture).mask, truth))
                plain.append(overlap(by_one_threshold(picture), truth))
            cells.append(f"{np.mean(found):.3f} ({np.mean(plain):.3f})")
        print(f"| {light} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
