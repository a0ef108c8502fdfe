"""Strokes and links of a batch, image by image."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from mam.vision.curves.chain_model import Links
from mam.vision.curves.strokes.poses import Poses


def sorted_by_image(poses: Poses, links: Links) -> tuple[Poses, Links]:
    """Sort by image, so that the strokes and links of each are slices."""
    order = np.argsort(poses.image, kind="stable")
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    poses, links = poses.take(order), replace(links, stroke=rank[links.stroke])
    return poses, links.take(np.argsort(poses.image[links.stroke[:, 0]], kind="stable"))


class ImageCut(NamedTuple):
    """Where the strokes and the links of one image stand in its batch."""

    strokes: slice
    links: slice
    own: Links  # these links, with strokes numbered from 0


def cut_by_image(poses: Poses, links: Links, images: int) -> list[ImageCut]:
    """Cut a batch into its images; strokes and links are sorted by image."""
    borders = np.arange(images + 1)
    first = np.searchsorted(poses.image, borders).tolist()
    first_link = np.searchsorted(poses.image[links.stroke[:, 0]], borders).tolist()
    cuts = []
    for image in range(images):
        some = slice(first_link[image], first_link[image + 1])
        own = links.take(some)
        own = replace(own, stroke=own.stroke - first[image])
        cuts.append(ImageCut(slice(first[image], first[image + 1]), some, own))
    return cuts
