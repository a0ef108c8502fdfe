"""How the steps of grouping contours are done: the best way known here, and the paper's own."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from jaxtyping import Bool

from mam.core.schema import ArraySpec, ModelFile, Schema, Setting, floats
from mam.infer import Options
from mam.vision.curves.chain_model import POTENTIALS, ContourPotentials
from mam.vision.curves.courses import Contour
from mam.vision.curves.strokes import co_occurrences, continuation
from mam.vision.curves.strokes.co_occurrences import CoOccurrences, check_keys, learn_co_occurrences
from mam.vision.curves.strokes.continuation import (
    SETTINGS,
    SmoothContinuation,
    Smoothing,
    check_table,
    learn_smooth,
)
from mam.vision.curves.strokes.poses import Poses, find_poses, part_poses
from mam.vision.curves.strokes.stroke_pairs import Pairs, find_pairs
from mam.vision.curves.strokes.stroke_truth import following, neighbours_on_contours
from mam.vision.parts.masks import MASKS, NOISE, PATHFINDER_PAPER, SIZES, Noise, Parts, read_parts
from mam.vision.parts.placements import Placements

Continuation = SmoothContinuation | CoOccurrences
# The strokes of some images, for one seed after another, and the contours in each of them.
Lesson = tuple[Sequence[Poses], Sequence[Sequence[Contour]]]
Pictures = Sequence[np.ndarray]
Unknown = Sequence[Bool[np.ndarray, "_ _"]] | None


@dataclass(frozen=True)
class ContourPreset:
    """How contours are learned and grouped."""

    # The strokes of images, from their weights, their placements and what is unknown.
    strokes: Callable[[Pictures, Sequence[Placements], Parts, Unknown], Poses]
    # What continues what, and how many neighbours were seen.
    learn: Callable[[Sequence[Lesson], Parts, Smoothing], tuple[Continuation, int]]
    read: Callable[[Mapping[str, np.ndarray], Smoothing], Continuation]
    arrays: Mapping[str, ArraySpec]  # what is read
    potentials: ContourPotentials
    sparsifications: int  # of every training image, each from its own seed
    restarts: int  # of the sparsifier
    sparsifier: Mapping[str, Any] = field(default_factory=dict)  # its other settings
    noise: Noise | None = None  # None: that of the parts
    messages: Options | None = None  # by which links are decided; None: exactly
    alone: bool = False  # contours are learned one by one, each in a picture of its own
    by_overlap: bool = False  # a marker is at the part that covers most of its disc


def _smooth_lessons(
    lessons: Sequence[Lesson], parts: Parts, smoothing: Smoothing
) -> tuple[SmoothContinuation, int]:
    known, pairs = [np.zeros(0, bool)], []
    for poses, contours in ((one, known) for by_seed, known in lessons for one in by_seed):
        pairs.append(find_pairs(poses, smoothing.reach))
        known.append(neighbours_on_contours(poses, pairs[-1], contours))
    neighbours = np.concatenate(known)
    return learn_smooth(Pairs.joined(pairs), neighbours, smoothing), int(neighbours.sum())


def _counted_lessons(
    lessons: Sequence[Lesson], parts: Parts, smoothing: Smoothing
) -> tuple[CoOccurrences, int]:
    joined, pairs, start = [], [], 0
    for by_seed, contours in lessons:
        poses = Poses.joined(by_seed)
        seed = np.repeat(np.arange(len(by_seed)), [len(one) for one in by_seed])
        pairs.append(following(poses, contours, seed) + start)
        joined.append(poses)
        start += len(poses)
    neighbours = np.concatenate(pairs)
    return learn_co_occurrences(Poses.joined(joined), neighbours, parts), len(neighbours)


def _parts_alone(
    weights: Pictures, placements: Sequence[Placements], parts: Parts, unknown: Unknown
) -> Poses:
    if unknown is not None:
        raise ValueError(
            "counts of parts say nothing about strokes that are covered: use a model of the preset "
            "best, or images without markers"
        )
    return part_poses(placements, parts)


PRESETS = {
    "best": ContourPreset(
        find_poses,
        _smooth_lessons,
        lambda arrays, smoothing: SmoothContinuation(arrays["table"], smoothing),
        continuation.ARRAYS,
        ContourPotentials(),
        sparsifications=1,
        restarts=8,
        sparsifier={"method": "quick", "iterations": 10, "damping": 0.5, "exclusive": True},
    ),
    # The paper, "Details for the pathfinder challenge", and facts on it. The sparsifier's messages
    # go through random blocks of factors, where the authors took factors in random order.
    "paper": ContourPreset(
        _parts_alone,
        _counted_lessons,
        lambda arrays, smoothing: CoOccurrences(arrays["key"], arrays["count"], arrays["side"]),
        co_occurrences.ARRAYS,
        replace(ContourPotentials(), presence=1000.0),
        sparsifications=10,
        restarts=1,  # the authors started again only where messages did not come to rest
        sparsifier={"method": "messages", "iterations": 300, "damping": 0.1, "exclusive": False},
        noise=PATHFINDER_PAPER,
        messages=Options(
            method="max-product",
            iterations=30,
            damping=0.5,
            noise=0.01,
            tolerance=0.0,
            decoding="ties on",
            repair=False,
        ),
        alone=True,
        by_overlap=True,
    ),
}


def preset_of(name: str) -> ContourPreset:
    """Return a preset by its name."""
    if name not in PRESETS:
        raise ValueError(f"preset is one of {', '.join(PRESETS)}, not {name!r}")
    return PRESETS[name]


def _refuse_others(file: ModelFile) -> None:
    """Refuse arrays that are not those of the preset."""
    if file.config.get("continuation", "smooth") != "smooth":
        raise ValueError("written before presets; learn it anew with preset='paper'")
    name = file.config.get("preset", "best")
    wanted = {"masks", *PRESETS[name].arrays}
    for array in sorted(wanted ^ set(file.arrays)):
        what = "no array" if array in wanted else "an array"
        raise ValueError(f"{what} {array} in it, and its preset is {name}")


def _check_continuation(file: ModelFile) -> None:
    parts = read_parts(file, file.config["noise"])
    if "table" in file.arrays:
        check_table(file.arrays["table"], Smoothing(**floats(file.config["smoothing"])))
    if "key" in file.arrays:
        check_keys(file.arrays["key"], len(parts))


SCHEMA = Schema(
    "contours",
    MASKS | {name: spec for preset in PRESETS.values() for name, spec in preset.arrays.items()},
    {
        "noise": NOISE,
        "preset": Setting(str, one_of=tuple(PRESETS), optional=True),
        "potentials": POTENTIALS,
        "smoothing": SETTINGS,
        "threshold": Setting(float, none=True),
        "restarts": Setting(int, 1, 10_000),
        "continuation": Setting(str, optional=True),  # before presets
    },
    "mam learn contours",
    SIZES,
    rules=[_refuse_others, _check_continuation],
)
