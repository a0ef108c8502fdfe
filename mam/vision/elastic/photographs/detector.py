"""Find objects in photographs by elastic graphs learned from photographs with masks."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from jaxtyping import Bool, Float

from mam.core.defaults import OBJECT_GRAPHS
from mam.core.estimator import Estimator
from mam.core.over import Over
from mam.core.programs import forget_old_programs
from mam.core.resize import Pixels, scale_to, scaled
from mam.data.images import PictureSource, read_picture
from mam.data.pixels import grey
from mam.vision.elastic.found import in_own_pixels
from mam.vision.elastic.photographs.detection import Detection, Frame
from mam.vision.elastic.photographs.edge_evidence import SIDE, evidence_of
from mam.vision.elastic.photographs.object_bank import ObjectBank
from mam.vision.elastic.photographs.object_learning import (
    Example,
    learn_graphs,
    reduced_example,
)
from mam.vision.elastic.photographs.object_search import (
    ObjectCandidates,
    ObjectLibrary,
    ObjectSearchConfig,
    places_apart,
    scored,
    search,
)
from mam.vision.elastic.photographs.object_threshold import learn_thresholds
from mam.vision.elastic.photographs.outline import filled, growth, hull, iou, moved_along
from mam.vision.elastic.search import certify, sizes_between
from mam.vision.images.photo_edges import check_picture

MASKS = ("outline", "hull")


class ObjectDetector(Estimator):
    """Learn typed elastic graphs of objects from photographs with masks; find them in others.

    ``model_`` is what was learned: by ``fit``, or read from a file by ``load``. ``graphs``
    says how many graphs of each object are searched for: the learned ones, and turned and scaled
    copies of them up to that number, drawn with ``seed``. ``mask`` is "outline" (the learned
    outline moved along with the parts) or "hull" (their convex hull, as in the paper). ``fit``
    puts vertices about ``distance`` px apart, in pictures reduced to ``side`` px at most, and
    learns from which score on an object is there, unless ``thresholds`` is False. ``scales`` are
    the least and the greatest size of objects that are looked for, 1 being that of those learned
    from. ``bound`` spends time on a bound for the places of every detection. Images are arrays,
    or whatever else ``mam.data.read_picture`` reads.

    >>> from mam.data import make_row, recipe
    >>> rows = [make_row(recipe("objects", "easy", 0), row) for row in range(2)]
    >>> detector = ObjectDetector(graphs=30).fit([rows[0].image], [rows[0].mask])
    >>> [found] = detector.find(rows[0].image)
    >>> found.there, bool((found.mask & rows[0].mask).sum() > 0.8 * rows[0].mask.sum())
    (True, True)
    """

    model_: ObjectBank

    def __init__(
        self,
        *,
        graphs: int = OBJECT_GRAPHS,
        mask: str = "outline",
        distance: float | int = 12.0,
        side: int = SIDE,
        thresholds: bool = True,
        scales: tuple[float | int, float | int] = (1, 1),
        bound: bool = False,
        seed: int = 0,
    ) -> None:
        self.graphs = graphs
        self.mask = mask
        self.distance = distance
        self.side = side
        self.thresholds = thresholds
        self.scales = scales
        self.bound = bound
        self.seed = seed

    def fit(
        self,
        images: Sequence[PictureSource],
        y: Sequence[PictureSource],
        *,
        names: Sequence[str] | None = None,
        depths: Sequence[Pixels | None] | None = None,
        pictures: Sequence[str] | None = None,
        scenes: Sequence[str] | None = None,
        where: Sequence[str] | None = None,
        over: Over = map,
    ) -> "ObjectDetector":
        """Learn from images with the mask of one object each (``y``); depths are in metres.

        ``pictures`` are equal for masks of one picture, ``scenes`` for pictures of one scene:
        thresholds are learned on others. ``where`` is what errors call the images. ``over``: what
        searches pictures for these thresholds, see ``mam.core.over``.
        """
        count = len(images)
        columns = {
            "names": ["object"] * count if names is None else names,
            "depths": [None] * count if depths is None else depths,
            "where": [f"image {n}" for n in range(count)] if where is None else where,
            "pictures": [""] * count if pictures is None else pictures,
            "scenes": [""] * count if scenes is None else scenes,
        }
        for name, values in {"masks": y, **columns}.items():
            if len(values) != count:
                raise ValueError(f"{count} images need as many {name}, not {len(values)}")
        masks = [_mask(mask, f"mask {n}") for n, mask in enumerate(y)]
        read = [_pixels(*one) for one in zip(images, columns["where"], strict=True)]
        given = zip(read, masks, *columns.values(), strict=True)
        examples = [reduced_example(Example(*one), self.side) for one in given]
        distance = float(self.distance)
        model, chosen = learn_graphs(examples, distance, self.seed)
        about = {"pictures": count, "seed": self.seed, "distance": distance}
        # Pictures to search are reduced as those learned from.
        graphs = replace(model.graphs, config={"side": self.side})
        model = replace(model, graphs=graphs, provenance=about)
        if self.thresholds:
            library = ObjectLibrary.of(model, self.config, self.seed)
            model = replace(model, threshold=learn_thresholds(examples, chosen, library, over))
        self.model_ = model
        return self

    def find(
        self, image: PictureSource, depth: Pixels | None = None, copies: int = 1
    ) -> list[Detection]:
        """The best ``copies`` places of every object, those that are there first, by score."""
        if copies < 1:
            raise ValueError(f"copies must be 1 or more, not {copies}")
        forget_old_programs()
        pixels = _pixels(image, "the image")
        check_picture(pixels)
        searched = list(self._searched(pixels, depth))
        found = [
            one
            for number in range(len(self.library.model.names))
            for one in self._detections(
                number, [(own[number], frame) for own, frame in searched], copies
            )
        ]
        return sorted(found, key=lambda one: (not one.there, -one.score))

    def _searched(
        self, pixels: Pixels, depth: Pixels | None
    ) -> Iterator[tuple[list[ObjectCandidates], Frame]]:
        """The candidates at every size, with the picture at the scale that makes it that of 1."""
        library, shape = self.library, (pixels.shape[0], pixels.shape[1])
        fitting = scale_to(shape, library.model.graphs.config.get("side", self.side))
        sizes = list(sizes_between(*self.scales))
        for size in sizes:
            scale = fitting / size
            far = None if depth is None else scaled(depth, scale)
            # Two canvases serve all sizes: programs are compiled for each.
            largest = fitting / (min(sizes) if size < 1 else max(1.0, min(sizes)))
            least = round(shape[0] * largest), round(shape[1] * largest)
            settings = library.config.evidence
            evidence = evidence_of(scaled(pixels, scale), far, settings, least=least)
            images = scored(evidence, library) if self.bound else None
            yield search(evidence, library), Frame(shape, scale, size, images)

    def predict(
        self, images: Sequence[PictureSource], depths: Sequence[Pixels | None] | None = None
    ) -> list[list[Detection]]:
        """What ``find`` finds in each image."""
        known = depths or [None] * len(images)
        return [self.find(*one) for one in zip(images, known, strict=True)]

    def score(
        self,
        images: Sequence[PictureSource],
        y: Sequence[PictureSource],
        *,
        names: Sequence[str] | None = None,
    ) -> float:
        """The mean IoU of the true masks and those found: of the named objects, or the best."""
        self._check_beside(images, y)
        wanted = names or [None] * len(images)
        overlaps = [
            iou(next(one.mask for one in found if name in (None, one.name)), _mask(mask, "a mask"))
            for found, mask, name in zip(self.predict(images), y, wanted, strict=True)
        ]
        return float(np.mean(overlaps))

    def _detections(
        self, number: int, searched: Sequence[tuple[ObjectCandidates, Frame]], copies: int
    ) -> list[Detection]:
        """The best candidates of an object at all sizes, each in a place of its own."""
        boxes = np.concatenate([_boxes(found, frame) for found, frame in searched])
        scores = np.concatenate([found.score for found, _ in searched])
        counts = [len(found.score) for found, _ in searched]
        where = [(n, one) for n, count in enumerate(counts) for one in range(count)]
        order = np.argsort(-scores, kind="stable")
        apart = order[places_apart(boxes[order])]  # the best candidate of each place
        made = []
        for rank, best in enumerate(apart[:copies]):
            rival = scores[apart[rank + 1]] if rank + 1 < len(apart) else -np.inf
            (found, frame), one = searched[where[best][0]], where[best][1]
            made.append(self._detection(number, found, one, frame, float(scores[best] - rival)))
        return made

    def _detection(
        self,
        number: int,
        candidates: ObjectCandidates,
        one: int,
        frame: Frame,
        margin: float,
    ) -> Detection:
        library, graphs = self.library, candidates.graphs
        model, graph = library.model, int(library.source[graphs.graph[one]])
        bank = model.graphs
        assert bank.type is not None
        count = int(bank.vertex_count[graph])
        places = graphs.place[one][graphs.there[one]]
        rest = bank.vertices[graph, :count]
        moved = moved_along(model.outline[graph], rest, places)
        vertices = np.rint(in_own_pixels(places, frame.scale)).astype(np.int64)
        hulled = hull(vertices, frame.shape)
        score, threshold = float(candidates.score[one]), float(model.threshold[number])
        return Detection(
            model.names[number],
            score >= threshold,
            score,
            threshold,
            margin,
            filled(in_own_pixels(moved, frame.scale), frame.shape)
            if self.mask == "outline"
            else hulled,
            hulled,
            vertices,
            bank.type[graph, :count].astype(np.int64),
            bank.ends[graph, : bank.edge_count[graph]].astype(np.int64),
            graph,
            bool(((vertices < 0) | (vertices >= frame.shape)).any()),
            certify(graphs.take(np.array([one])), frame.images)[0],
            frame.size * growth(rest, places),
        )

    @property
    def config(self) -> ObjectSearchConfig:
        """The settings that the parameters amount to."""
        if self.mask not in MASKS:
            raise ValueError(f"mask is one of {', '.join(MASKS)}, not {self.mask!r}")
        if self.graphs < 1:
            raise ValueError(f"graphs must be 1 or more, not {self.graphs}")
        return replace(ObjectSearchConfig(), graphs=self.graphs)

    @property
    def library(self) -> ObjectLibrary:
        """The model, prepared for the search; prepared again only when a parameter changed."""
        key = (self._model(), self.graphs, self.mask, self.seed)
        kept: tuple[object, ObjectLibrary] | None = vars(self).get("_prepared")
        if kept is None or kept[0] != key:
            self._prepared = kept = key, ObjectLibrary.of(self._model(), self.config, self.seed)
        return kept[1]

    def _model(self) -> ObjectBank:
        return self._learned("model_")

    def save(self, path: str | Path) -> None:
        """Write the model to a file."""
        self._model().save(path)

    @classmethod
    def load(cls, source: str | Path, **parameters: object) -> "ObjectDetector":
        """Read a model from a file, or by its bundled name."""
        detector = cls(**parameters)  # type: ignore[arg-type]
        detector.model_ = ObjectBank.load(source)
        return detector


def _boxes(found: ObjectCandidates, frame: Frame) -> Float[np.ndarray, "candidates 4"]:
    """First row and column, last row and column of each candidate's parts, in own pixels."""
    graphs = found.graphs
    placed = [
        in_own_pixels(place[there], frame.scale)
        for place, there in zip(graphs.place, graphs.there, strict=True)
    ]
    return np.stack([np.concatenate([own.min(0), own.max(0)]) for own in placed])


def _pixels(image: PictureSource, name: str) -> Pixels:
    """An array as it is, and what else can be read."""
    return image if isinstance(image, np.ndarray) else read_picture(image, name)


def _mask(mask: PictureSource, name: str) -> Bool[np.ndarray, "rows cols"]:
    pixels = _pixels(mask, name)
    return (pixels if pixels.ndim == 2 else grey(pixels)) > 0
