"""Strokes and links of a batch, image by image."""

from dataclasses import replace

import numpy as np
from jaxtyping import Int

from mam.vision.curves.chain_model import Links
from mam.vision.curves.strokes.poses import Poses


def sorted_by_image(poses: Poses, links: Links) -> tuple[Poses, Links]:
    """Sort by image, so that the strokes and links of each are slices."""
    order = np.argsort(poses.image, kind="stable")
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    poses, links = poses.take(order), replace(links, stroke=rank[links.stroke])
    return poses, links.take(np.argsort(poses.image[links.stroke[:, 0]], kind="stable"))


def cut_by_image(poses: Poses, links: Links) -> tuple[list[Links], Int[np.ndarray, " images"]]:
    """Return the links of each image that has strokes, and the number of its first stroke.

    Strokes and links are sorted by image; links name strokes by their number in the image.
    """
    first = np.unique(poses.image, return_index=True)[1]
    borders = np.searchsorted(poses.image[links.stroke[:, 0]], poses.image[first[1:]])
    pieces = np.split(np.arange(len(links)), borders)
    each = [
        replace(links.take(some), stroke=links.stroke[some] - start)
        for some, start in zip(pieces, first, strict=False)
    ]
    return each, first
