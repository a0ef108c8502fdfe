"""Objects in photographs: learn them from masks, measure by IoU how well they are found."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import numpy as np

from mam.core.progress import Advance
from mam.data import AnyRow, ObjectRow, PictureRow, layout_of, rows_of
from mam.data.read.scenes import scene_rows
from mam.tasks.report import Report
from mam.vision.elastic.photographs.detection import Detection
from mam.vision.elastic.photographs.detector import ObjectDetector
from mam.vision.elastic.photographs.object_learning import Example
from mam.vision.elastic.photographs.outline import iou

SPLITS = ("all", "train", "test")
_SHARE = 0.7  # of the scenes are for training (paper, "Dataset")
_LARGEST = {"train": 3, "test": 5}  # frames of a scene that count, by the size of the mask (same)
_ENOUGH = 0.5  # IoU below which a row counts as an error


@dataclass(frozen=True)
class RowChoice:
    """Which rows of a data set count."""

    split: str = "all"  # or "train", "test": the paper's choice of scenes and frames
    depth: bool = False  # whether depth is a channel, where there is any
    limit: int | None = None
    seed: int = 0  # of the split

    def __post_init__(self) -> None:
        if self.split not in SPLITS:
            raise ValueError(f"split is one of {', '.join(SPLITS)}, not {self.split!r}")


ALL = RowChoice()


def object_rows(source: str, choice: RowChoice = ALL) -> Iterator[AnyRow]:
    """The rows that count. Nothing but the sizes of masks is kept between two looks at them."""
    if choice.split == "all":
        yield from islice(_read(source, choice.depth), choice.limit)
        return
    sizes: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
    for number, row in enumerate(_read(source, False)):
        if not isinstance(row, ObjectRow):
            raise ValueError(f"{source}: row {number} has no scene, so it cannot be split")
        sizes[row.name, row.scene].append((-int(row.mask.sum()), number))
    wanted = _wanted(sizes, choice)
    kept = (row for number, row in enumerate(_read(source, choice.depth)) if number in wanted)
    yield from islice(kept, choice.limit)


def _read(source: str, depth: bool) -> Iterator[AnyRow]:
    if depth and layout_of(source) == "scenes":
        return scene_rows(Path(source), depth=True)
    return rows_of(source)


def _wanted(
    sizes: dict[tuple[str, str], list[tuple[int, int]]], choice: RowChoice
) -> frozenset[int]:
    """The frames with the largest masks of the scenes of a split."""
    chosen: list[int] = []
    for name in sorted({name for name, _ in sizes}):
        scenes = sorted(scene for other, scene in sizes if other == name)
        order = np.random.default_rng(choice.seed).permutation(len(scenes))
        share = round(_SHARE * len(scenes))
        mine = order[:share] if choice.split == "train" else order[share:]
        for scene in mine:
            frames = sorted(sizes[name, scenes[scene]])[: _LARGEST[choice.split]]
            chosen += [number for _, number in frames]
    return frozenset(chosen)


def examples_of(rows: Iterable[AnyRow], source: str, name: str | None = None) -> list[Example]:
    """What is learned from: of an object's name only, where rows have names."""
    examples, known = [], set()
    for number, row in enumerate(rows):
        where = f"{source}: row {number}"
        if isinstance(row, ObjectRow):
            known.add(row.name)
            if name in (None, row.name):
                about = f"{where} ({row.scene}, frame {row.frame}, {row.name})"
                frame = f"{row.scene}/{row.frame}"
                examples.append(
                    Example(row.image, row.mask, row.name, row.depth, about, frame, row.scene)
                )
        elif isinstance(row, PictureRow) and row.mask is not None:
            called = name or Path(source).resolve().stem
            examples.append(Example(row.image, row.mask, called, None, f"{where} ({row.name})"))
        else:
            raise ValueError(f"{where} has no mask to learn an object from")
    if not examples:
        seen = f"; it has {', '.join(sorted(known))}" if known else ""
        wanted = "rows" if name is None else f"rows of {name}"
        raise ValueError(f"{source}: no {wanted}, so there is nothing to learn from{seen}")
    return examples


def fit(examples: Sequence[Example], detector: ObjectDetector) -> ObjectDetector:
    """Learn from examples."""
    image, mask, names, depths, where, pictures, scenes = zip(*examples, strict=True)
    about = {"names": names, "depths": depths, "pictures": pictures, "scenes": scenes}
    return detector.fit(image, mask, where=where, **about)


@dataclass
class _Tally:
    """Figures while they are gathered."""

    outlines: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    hulls: list[float] = field(default_factory=list)
    there: list[bool] = field(default_factory=list)
    proved: list[bool] = field(default_factory=list)
    errors: list[int] = field(default_factory=list)
    skipped: dict[int, str] = field(default_factory=dict)
    seconds: float = 0.0

    def add(self, number: int, example: Example, found: Detection) -> None:
        score = iou(found.mask, example.mask)
        self.outlines[example.name].append(score)
        self.hulls.append(iou(found.hull, example.mask))
        self.there.append(found.there)
        self.proved.append(found.certificate.proof is not None)
        if score < _ENOUGH:
            self.errors.append(number)

    def report(self, thresholds: bool = True) -> Report:
        every = [score for scores in self.outlines.values() for score in scores]
        by_object = {name: float(np.median(own)) for name, own in sorted(self.outlines.items())}
        figures: dict[str, float | dict[str, float]] = {
            "median_iou": float(np.median(every)) if every else 0.0,
            "median_iou_hull": float(np.median(self.hulls)) if every else 0.0,
            "iou": by_object,
            "proved": float(np.mean(self.proved)) if every else 0.0,
        }
        if thresholds:
            figures["there"] = float(np.mean(self.there)) if every else 0.0
        return Report(figures, len(every), self.seconds, tuple(self.errors), self.skipped)


def evaluate(
    source: str,
    detector: ObjectDetector,
    choice: RowChoice = ALL,
    name: str | None = None,
    advance: Advance = lambda count: None,
) -> Report:
    """Find the object of every row; IoU of its mask with the true one. Below .5 is an error.

    ``there`` is the share of rows whose object is said to be there. IoU is that of the best place,
    said to be there or not. ``proved`` is the share of rows whose parts have the best places of
    their graph, in the model of ``mam.vision.elastic.search.certify``.
    """
    tally = _Tally()
    names = detector.library.model.names
    if name is None and len(names) == 1:
        name = names[0]
    finding = _Finding(detector, tally)
    for number, row in enumerate(object_rows(source, choice)):
        advance(1)
        [example] = examples_of([row], source, row.name if isinstance(row, ObjectRow) else name)
        if name is not None and example.name != name:
            continue
        if example.name not in names:
            tally.skipped[number] = f"the model does not know {example.name}"
        elif not example.mask.any():
            tally.skipped[number] = "the mask is empty"
        else:
            tally.add(number, example, finding(example))
    return tally.report()


def leave_out(
    source: str,
    make: Callable[[], ObjectDetector],
    choice: RowChoice = ALL,
    advance: Advance = lambda count: None,
) -> Report:
    """Learn each object on all frames but one, find it in that one; for every frame."""
    examples = examples_of(object_rows(source, choice), source)
    frames: dict[str, list[int]] = defaultdict(list)  # rows of the same picture
    for number, example in enumerate(examples):
        frames[example.key].append(number)
    if len(frames) < 2:
        raise ValueError(f"{source}: one picture only; leaving it out leaves nothing to learn from")
    tally = _Tally()
    for members in frames.values():
        rest = [example for n, example in enumerate(examples) if n not in members]
        detector = fit(_usable(rest), make().set_params(thresholds=False))
        finding = _Finding(detector, tally)
        for number in members:
            if examples[number].name in detector.library.model.names:
                tally.add(number, examples[number], finding(examples[number]))
            else:
                tally.skipped[number] = f"{examples[number].name} is in no other picture"
        advance(len(members))
    return tally.report(thresholds=False)


def _usable(examples: Sequence[Example]) -> list[Example]:
    return [example for example in examples if example.mask.any()]


class _Finding:
    """Look once at a picture that several rows share."""

    def __init__(self, detector: ObjectDetector, tally: _Tally) -> None:
        self.detector, self.tally = detector, tally
        self.image: np.ndarray | None = None
        self.found: dict[str, Detection] = {}

    def __call__(self, example: Example) -> Detection:
        if self.image is not example.image:
            begin = time.perf_counter()
            found = self.detector.find(example.image, example.depth)
            self.tally.seconds += time.perf_counter() - begin
            self.image, self.found = example.image, {one.name: one for one in found}
        return self.found[example.name]
