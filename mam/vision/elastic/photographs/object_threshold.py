"""From which score on an object is there: learned on the training pictures.

Each picture is searched with the graphs from other scenes (from other pictures, where an object has
one scene only). The best candidate on the object's mask is an example of "there"; the best one away
from it, and the best one in pictures of other objects, are examples of "not there".
"""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from mam.core.over import Over
from mam.vision.elastic.photographs.edge_evidence import evidence_of
from mam.vision.elastic.photographs.object_learning import Example, spread_out
from mam.vision.elastic.photographs.object_search import ObjectCandidates, ObjectLibrary, search
from mam.vision.elastic.photographs.outline import hull, iou

_PICTURES = 12  # looked at for an object; more change the threshold by no more than chance
_ON, _OFF = 0.3, 0.1  # IoU with the mask above, below which a candidate is on the object, is not
# A graph scores so much less in other pictures than in its own; for objects with one picture only.
_OWN = 0.7
_LOW = 0.3  # where between "not there" and "there" the threshold lies: new poses score lower
_FAINTEST = 0.5  # no threshold is lower: a picture without edges scores 0


class _Look(NamedTuple):
    """A picture to search."""

    shown: list[Example]  # its masks
    without: Int[np.ndarray, " left_out"]  # graphs that sit out
    alone: Bool[np.ndarray, " objects"]  # those of which no graph would be left


def learn_thresholds(
    examples: Sequence[Example],
    chosen: Int[np.ndarray, " graphs"],
    library: ObjectLibrary,
    over: Over = map,
) -> Float[np.ndarray, " objects"]:
    """The threshold of each object; graph k of the model was learned from example chosen[k].

    ``over``: what looks at the pictures.
    """
    looks = []
    for key in _pictures(examples):
        shown = [example for example in examples if example.key == key]
        looks.append(_Look(shown, *_left_out(shown[0], examples, chosen, library)))
    there: list[list[float]] = [[] for _ in library.model.names]
    absent: list[list[float]] = [[] for _ in library.model.names]
    for scores in over(partial(_looked, library), looks):
        for number, (on, off) in enumerate(scores):
            there[number] += [] if on is None else [on]
            absent[number] += [] if off is None else [off]
    return np.array([_between(*scores) for scores in zip(there, absent, strict=True)])


def _looked(library: ObjectLibrary, look: _Look) -> list[tuple[float | None, float | None]]:
    """The best score of each object on its mask and away from it, in one picture."""
    first, settings = look.shown[0], library.config.evidence
    evidence = evidence_of(first.image, first.depth, settings, first.where)
    found = search(evidence, library, look.without)
    masks = {example.name: example.mask for example in look.shown}
    scores = []
    for number, name in enumerate(library.model.names):
        on, off = _scores(found[number], masks.get(name), first.mask.shape)
        scores.append((on if on is None or not look.alone[number] else on * _OWN, off))
    return scores


def _pictures(examples: Sequence[Example]) -> list[str]:
    """Pictures of every object, spread over its own."""
    picked: dict[str, None] = {}
    for name in dict.fromkeys(example.name for example in examples):
        own = [example.key for example in examples if example.name == name]
        spread = spread_out(np.arange(len(own), dtype=float)[:, None], _PICTURES)
        picked |= dict.fromkeys(own[number] for number in spread)
    return list(picked)


def _left_out(
    shown: Example,
    examples: Sequence[Example],
    chosen: Int[np.ndarray, " graphs"],
    library: ObjectLibrary,
) -> tuple[Int[np.ndarray, " left_out"], Bool[np.ndarray, " objects"]]:
    """Graphs that know the picture; and of which objects there are no others."""
    scene = np.array([bool(shown.scene) and examples[n].scene == shown.scene for n in chosen])
    picture = np.array([examples[n].key == shown.key for n in chosen])
    category = library.model.graphs.category
    alone = np.zeros(len(library.model.names), bool)
    out = np.zeros(len(chosen), bool)
    for number in range(len(alone)):
        own = category == number
        known = next((some for some in (scene | picture, picture) if (own & ~some).any()), None)
        alone[number] = known is None
        out |= False if known is None else own & known
    return np.flatnonzero(out), alone


def _scores(
    found: ObjectCandidates, mask: np.ndarray | None, shape: tuple[int, ...]
) -> tuple[float | None, float | None]:
    """The best score on the object, and away from it."""
    on, off, graphs = None, None, found.graphs
    for place, there, score in zip(graphs.place, graphs.there, found.score, strict=True):
        overlap = 0.0 if mask is None else iou(hull(place[there], (shape[0], shape[1])), mask)
        if overlap >= _ON and on is None:
            on = float(score)
        elif overlap <= _OFF and off is None:
            off = float(score)
    return on, off


def _between(there: list[float], absent: list[float]) -> float:
    """The threshold with the fewest errors, in the lower part of the widest such gap.

    >>> _between([3.0, 4.0], [1.0, 2.0])
    2.3
    """
    if not there:
        return max([_FAINTEST, *absent])
    if not absent:
        return max(_FAINTEST, _OWN * min(there))
    scores = np.unique([*there, *absent])
    low, gap = np.append(scores[0] - 1, scores[:-1]), np.diff(np.append(scores[0] - 1, scores))
    cuts = low + _LOW * gap
    missed = (np.array(there) < cuts[:, None]).mean(1)
    false = (np.array(absent) >= cuts[:, None]).mean(1)
    errors = missed + false
    best = np.flatnonzero(errors == errors.min())
    return max(_FAINTEST, round(float(cuts[best[gap[best].argmax()]]), 6))
