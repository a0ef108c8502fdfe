"""Strokes and links of a batch, image by image."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from mam.core.devices import by_device
from mam.vision.curves.chain_model import Links, Presence
from mam.vision.curves.courses import Contour
from mam.vision.curves.strokes.poses import Poses

BySeed = tuple[Poses, ...]  # the poses of one image, from several sparsifications of it
CoursesByImage = Sequence[Sequence[Contour]]  # the contours of each image


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


def links_and_strokes(
    poses: Poses, links: Links, of_strokes: Presence
) -> tuple[list[Links], list[np.ndarray]]:
    """The links of each image that has strokes, and what is known of these; all is sorted."""
    cuts = cut_by_image(poses, links, int(poses.image.max(initial=-1)) + 1)
    cuts = [cut for cut in cuts if cut.strokes.start < cut.strokes.stop]
    return [cut.own for cut in cuts], [of_strokes[cut.strokes] for cut in cuts]


def batches(images: int) -> list[slice]:
    """Images whose attention variables are decided at once."""
    size = by_device(128, 512)
    return [slice(start, start + size) for start in range(0, images, size)]


def by_image(several: Sequence[Poses], images: int) -> list[BySeed]:
    """Of each image of a batch, as if it were alone, its poses in several lists."""
    return list(zip(*(_alone(poses, images) for poses in several), strict=True))


def _alone(poses: Poses, images: int) -> list[Poses]:
    order = np.argsort(poses.image, kind="stable")
    borders = np.searchsorted(poses.image[order], np.arange(1, images))
    alone = replace(poses, image=np.zeros(len(poses), np.int64))
    return [alone.take(own) for own in np.split(order, borders)]


def as_lessons(
    strokes: Sequence[BySeed], contours: CoursesByImage
) -> list[tuple[list[Poses], CoursesByImage]]:
    """The strokes of single images as those of batches, seed by seed, with all contours."""
    if not strokes:
        raise ValueError("no images: contours are learned from at least one")
    return [
        ([_together(poses) for poses in zip(*strokes[some], strict=True)], contours[some])
        for some in batches(len(strokes))
    ]


def _together(several: Sequence[Poses]) -> Poses:
    image = np.repeat(np.arange(len(several)), [len(poses) for poses in several])
    return replace(Poses.joined(several), image=image)
