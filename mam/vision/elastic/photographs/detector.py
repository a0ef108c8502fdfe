"""Find objects in photographs by elastic graphs learned from photographs with masks."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int, Shaped

from mam.core.estimator import Estimator
from mam.core.programs import forget_old_programs
from mam.core.resize import Pixels, scale_to, scaled
from mam.core.svg import as_svg
from mam.infer.certificate import Certificate
from mam.vision.elastic.photographs.edge_evidence import evidence_of
from mam.vision.elastic.photographs.object_bank import ObjectBank
from mam.vision.elastic.photographs.object_learning import (
    Example,
    LearnConfig,
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
from mam.vision.elastic.photographs.outline import filled, hull, iou, moved_along
from mam.vision.elastic.search import ScoredImages, certify
from mam.vision.images.photo_edges import check_picture

MASKS = ("outline", "hull")


@dataclass(frozen=True, eq=False)
class Detection:
    """The best place for an object, and whether it is there.

    ``certificate`` is about the places of its parts: score, bound, gap and proof in the model of
    its graph in its windows (``mam.vision.elastic.search.certify``), not about the choice of the
    graph. Its score is the evidence summed over the parts.
    """

    name: str
    there: bool  # the score reaches the object's threshold
    score: float
    threshold: float
    margin: float  # to the best candidate in another place
    mask: Bool[np.ndarray, "rows cols"]
    hull: Bool[np.ndarray, "rows cols"]  # of the placed parts: the paper's mask
    vertices: Int[np.ndarray, "vertices 2"]  # (row, column) of each part
    types: Int[np.ndarray, " vertices"]  # directions of their edges, in 16ths of a turn
    edges: Int[np.ndarray, "edges 2"]
    graph: int  # number of the graph in the model
    cut: bool  # parts lie beyond the picture: its border cuts the object
    certificate: Certificate

    def __repr__(self) -> str:
        where = f"at {self.vertices.min(0).tolist()}" if self.there else "not there"
        score = f"score {self.score:.3g} (there from {self.threshold:.3g} on)"
        return f"<Detection: {self.name} {where}, {score}, {int(self.mask.sum())} px>"

    def _repr_svg_(self) -> str:
        """What a notebook shows: the edges of the graph where it was found."""
        rows, cols = self.mask.shape
        return as_svg((rows, cols), list(self.vertices[self.edges].astype(float)), repr(self))


class _Frame(NamedTuple):
    """A picture's own pixels, the scale at which it was searched, and its score maps."""

    shape: tuple[int, int]
    scale: float
    images: ScoredImages | None  # to spend time on bounds; None: none is spent

    def own(self, points: Shaped[np.ndarray, "points 2"]) -> Float[np.ndarray, "points 2"]:
        """Points of the reduced picture in its own pixels."""
        return (points + 0.5) / self.scale - 0.5


class ObjectDetector(Estimator):
    """Learn typed elastic graphs of objects from photographs with masks; find them in others.

    ``model_`` is what was learned: by ``fit``, or read from a file by ``load``. ``graphs``
    says how many graphs of each object are searched for: the learned ones, and turned and scaled
    copies of them up to that number, drawn with ``seed``. ``mask`` is "outline" (the learned
    outline moved along with the parts) or "hull" (their convex hull, as in the paper). ``fit``
    puts vertices about ``distance`` px apart, in pictures reduced to ``side`` px at most, and
    learns from which score on an object is there, unless ``thresholds`` is False. ``bound`` spends
    time on a bound for the places of every detection.

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
        graphs: int = 200,
        mask: str = "outline",
        distance: float | int = 12.0,
        side: int = 640,
        thresholds: bool = True,
        bound: bool = False,
        seed: int = 0,
    ) -> None:
        self.graphs = graphs
        self.mask = mask
        self.distance = distance
        self.side = side
        self.thresholds = thresholds
        self.bound = bound
        self.seed = seed

    def fit(
        self,
        images: Sequence[Pixels],
        y: Sequence[Pixels],
        *,
        names: Sequence[str] | None = None,
        depths: Sequence[Pixels | None] | None = None,
        pictures: Sequence[str] | None = None,
        scenes: Sequence[str] | None = None,
        where: Sequence[str] | None = None,
    ) -> "ObjectDetector":
        """Learn from images with the mask of one object each (``y``); depths are in metres.

        ``pictures`` are equal for masks of one picture, ``scenes`` for pictures of one scene:
        thresholds are learned on others. ``where`` is what errors call the images.
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
        masks = [np.asarray(mask) > 0 for mask in y]
        given = zip(map(np.asarray, images), masks, *columns.values(), strict=True)
        examples = [reduced_example(Example(*one), self.side) for one in given]
        learning = replace(LearnConfig(), distance=float(self.distance))
        model, chosen = learn_graphs(examples, learning, self.seed)
        about = {"pictures": count, "seed": self.seed, "distance": float(self.distance)}
        # Pictures to search are reduced as those learned from.
        graphs = replace(model.graphs, config={"side": self.side})
        model = replace(model, graphs=graphs, provenance=about)
        if self.thresholds:
            library = ObjectLibrary.of(model, self.config, self.seed)
            model = replace(model, threshold=learn_thresholds(examples, chosen, library))
        self.model_ = model
        return self

    def find(self, image: Pixels, depth: Pixels | None = None, copies: int = 1) -> list[Detection]:
        """The best ``copies`` places of every object, those that are there first, by score."""
        if copies < 1:
            raise ValueError(f"copies must be 1 or more, not {copies}")
        forget_old_programs()
        library = self.library
        check_picture(image)
        scale = scale_to(image.shape, library.model.graphs.config.get("side", self.side))
        far = None if depth is None else scaled(depth, scale)
        evidence = evidence_of(scaled(image, scale), far, library.config.evidence)
        images = scored(evidence, library) if self.bound else None
        frame = _Frame((image.shape[0], image.shape[1]), scale, images)
        found = [
            one
            for number, candidates in enumerate(search(evidence, library))
            for one in self._detections(number, candidates, frame, copies)
        ]
        return sorted(found, key=lambda one: (not one.there, -one.score))

    def predict(
        self, images: Sequence[Pixels], depths: Sequence[Pixels | None] | None = None
    ) -> list[list[Detection]]:
        """What ``find`` finds in each image."""
        known = depths or [None] * len(images)
        return [self.find(*one) for one in zip(images, known, strict=True)]

    def score(
        self, images: Sequence[Pixels], y: Sequence[Pixels], *, names: Sequence[str] | None = None
    ) -> float:
        """The mean IoU of the true masks and those found: of the named objects, or the best."""
        self._check_truth(images, y)
        wanted = names or [None] * len(images)
        overlaps = [
            iou(next(one.mask for one in found if name in (None, one.name)), np.asarray(mask) > 0)
            for found, mask, name in zip(self.predict(images), y, wanted, strict=True)
        ]
        return float(np.mean(overlaps))

    def _detections(
        self, number: int, candidates: ObjectCandidates, frame: "_Frame", copies: int
    ) -> list[Detection]:
        graphs = candidates.graphs
        boxes = np.stack([_box(*one) for one in zip(graphs.place, graphs.there, strict=True)])
        apart = places_apart(boxes)  # the best candidate of each place
        made = []
        for rank, one in enumerate(apart[:copies]):
            rival = apart[rank + 1] if rank + 1 < len(apart) else None
            margin = np.inf if rival is None else candidates.score[one] - candidates.score[rival]
            made.append(self._detection(number, candidates, one, frame, float(margin)))
        return made

    def _detection(
        self,
        number: int,
        candidates: ObjectCandidates,
        one: int,
        frame: "_Frame",
        margin: float,
    ) -> Detection:
        library, graphs = self.library, candidates.graphs
        model, graph = library.model, int(library.source[graphs.graph[one]])
        bank = model.graphs
        assert bank.type is not None
        count = int(bank.vertex_count[graph])
        places = graphs.place[one][graphs.there[one]]
        moved = moved_along(model.outline[graph], bank.vertices[graph, :count], places)
        vertices = np.rint(frame.own(places)).astype(np.int64)
        hulled = hull(vertices, frame.shape)
        score, threshold = float(candidates.score[one]), float(model.threshold[number])
        return Detection(
            model.names[number],
            score >= threshold,
            score,
            threshold,
            margin,
            filled(frame.own(moved), frame.shape) if self.mask == "outline" else hulled,
            hulled,
            vertices,
            bank.type[graph, :count].astype(np.int64),
            bank.ends[graph, : bank.edge_count[graph]].astype(np.int64),
            graph,
            bool(((vertices < 0) | (vertices >= frame.shape)).any()),
            certify(graphs.take(np.array([one])), frame.images)[0],
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


def _box(
    place: Int[np.ndarray, "vertices 2"], there: Bool[np.ndarray, " vertices"]
) -> Float[np.ndarray, "4"]:
    """First row and column, last row and column of a candidate's parts."""
    own = place[there]
    return np.concatenate([own.min(0), own.max(0)]).astype(np.float64)
