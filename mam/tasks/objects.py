"""Objects in photographs: learn them from masks, measure by IoU how well they are found."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

from mam.core.over import Over
from mam.core.programs import Stopwatch
from mam.core.progress import Advance
from mam.data import AnyRow, ObjectRow, PictureRow, layout_of, rows_of
from mam.data.read.scenes import scene_rows
from mam.tasks.report import Report
from mam.vision.elastic.photographs.detection import Detection
from mam.vision.elastic.photographs.detector import ObjectDetector
from mam.vision.elastic.photographs.object_learning import Example
from mam.vision.elastic.photographs.outline import iou

_T = TypeVar("_T")
SPLITS = ("all", "train", "test")
_SHARE = 0.7  # of the scenes are for training (paper, "Dataset")
_LARGEST = {"train": 3, "test": 5}  # frames of a scene that count, by the size of the mask (same)
_ENOUGH = 0.5  # IoU below which a row counts as an error


@dataclass(frozen=True)
class RowChoice:
    """Which rows of a data set count."""

    # Or "train", "test": the paper's choice of scenes and frames; of one scene alone, of frames.
    split: str = "all"
    depth: bool = False  # whether depth is a channel, where there is any
    limit: int | None = None
    seed: int = 0  # of the split

    def __post_init__(self) -> None:
        if self.split not in SPLITS:
            raise ValueError(f"split is one of {', '.join(SPLITS)}, not {self.split!r}")


ALL = RowChoice()


def object_rows(source: str, choice: RowChoice = ALL) -> Iterator[AnyRow]:
    """The rows that count. Nothing but the sizes of masks is kept between two looks at them."""
    wanted = chosen_rows(source, choice)
    rows = enumerate(_read(source, choice.depth))
    kept = (row for number, row in rows if wanted is None or number in wanted)
    yield from islice(kept, choice.limit)


def chosen_rows(source: str, choice: RowChoice) -> frozenset[int] | None:
    """The numbers of the rows of a split; None: all."""
    if choice.split == "all":
        return None
    sizes: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
    for number, row in enumerate(_read(source, False)):
        if not isinstance(row, ObjectRow):
            raise ValueError(f"{source}: row {number} has no scene, so it cannot be split")
        sizes[row.name, row.scene].append((-int(row.mask.sum()), number))
    return _wanted(sizes, choice)


def _read(source: str, depth: bool) -> Iterator[AnyRow]:
    if depth and layout_of(source) == "scenes":
        return scene_rows(Path(source), depth=True)
    return rows_of(source)


def _wanted(
    sizes: dict[tuple[str, str], list[tuple[int, int]]], choice: RowChoice
) -> frozenset[int]:
    """The frames with the largest masks of the scenes of a split.

    Where all are of one scene, its frames are split, and all of them count.
    """
    if len({scene for _, scene in sizes}) == 1:
        frames = {name: sorted(number for _, number in own) for (name, _), own in sizes.items()}
        return frozenset(n for own in frames.values() for n in _share(own, choice))
    chosen: list[int] = []
    for name in sorted({name for name, _ in sizes}):
        scenes = sorted(scene for other, scene in sizes if other == name)
        for scene in _share(scenes, choice):
            frames = sorted(sizes[name, scene])[: _LARGEST[choice.split]]
            chosen += [number for _, number in frames]
    return frozenset(chosen)


def _share(items: Sequence[_T], choice: RowChoice) -> list[_T]:
    """Those of some scenes, or frames, that are of a split."""
    order = np.random.default_rng(choice.seed).permutation(len(items))
    share = round(_SHARE * len(items))
    mine = order[:share] if choice.split == "train" else order[share:]
    return [items[number] for number in mine]


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


def fit(examples: Sequence[Example], detector: ObjectDetector, over: Over = map) -> ObjectDetector:
    """Learn from examples; ``over``: what searches pictures for the thresholds."""
    image, mask, names, depths, where, pictures, scenes = zip(*examples, strict=True)
    about = {"names": names, "depths": depths, "pictures": pictures, "scenes": scenes}
    return detector.fit(image, mask, where=where, over=over, **about)


class ScoredObject(NamedTuple):
    """How well the object of a row was found."""

    name: str
    outline: float  # IoU of its mask with the true one
    hull: float  # that of the convex hull
    there: bool  # whether it is said to be there
    proved: bool


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
    compiling: float = 0.0  # of them

    def add(self, number: int, found: "ScoredObject | str | None") -> None:
        if isinstance(found, str):
            self.skipped[number] = found
        if not isinstance(found, ScoredObject):
            return
        self.outlines[found.name].append(found.outline)
        self.hulls.append(found.hull)
        self.there.append(found.there)
        self.proved.append(found.proved)
        if found.outline < _ENOUGH:
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
        errors, compiling = tuple(self.errors), self.compiling
        return Report(figures, len(every), self.seconds, errors, self.skipped, compiling=compiling)

    def take(self, watch: Stopwatch) -> None:
        self.seconds += watch.seconds
        self.compiling += watch.compiling


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
    tally, finding = _Tally(), Finding(detector, source, name)
    for number, row in enumerate(object_rows(source, choice)):
        tally.add(number, finding(row))
        advance(1)
    tally.take(finding.watch)
    return tally.report()


def objects_report(found: Iterable["ScoredObject | str | None"], seconds: float) -> Report:
    """Report on what ``Finding`` says of every row."""
    tally = _Tally(seconds=seconds)
    for number, one in enumerate(found):
        tally.add(number, one)
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
        finding = Finding(detector, source)
        for number in members:
            if examples[number].name in detector.library.model.names:
                tally.add(number, finding.scored(examples[number]))
            else:
                tally.skipped[number] = f"{examples[number].name} is in no other picture"
        tally.take(finding.watch)
        advance(len(members))
    return tally.report(thresholds=False)


def _usable(examples: Sequence[Example]) -> list[Example]:
    return [example for example in examples if example.mask.any()]


class Finding:
    """Finds the object of a row; looks once at a picture that several rows share."""

    def __init__(self, detector: ObjectDetector, source: str, name: str | None = None) -> None:
        self.detector, self.source = detector, source
        self.names = detector.library.model.names
        self.name = self.names[0] if name is None and len(self.names) == 1 else name
        self.watch = Stopwatch()
        self.image: np.ndarray | None = None
        self.found: dict[str, Detection] = {}

    def __call__(self, row: AnyRow) -> ScoredObject | str | None:
        """How well it is found, or why it is not looked for; None: another object is wanted."""
        wanted = row.name if isinstance(row, ObjectRow) else self.name
        [example] = examples_of([row], self.source, wanted)
        if self.name is not None and example.name != self.name:
            return None
        if example.name not in self.names:
            return f"the model does not know {example.name}"
        return self.scored(example) if example.mask.any() else "the mask is empty"

    def scored(self, example: Example) -> ScoredObject:
        """Compare what is found with the true mask."""
        if self.image is not example.image:
            with self.watch:
                found = self.detector.find(example.image, example.depth)
            self.image, self.found = example.image, {one.name: one for one in found}
        found = self.found[example.name]
        outline, hull = (float(iou(one, example.mask)) for one in (found.mask, found.hull))
        proved = found.proof is not None
        return ScoredObject(example.name, outline, hull, bool(found.there), proved)
