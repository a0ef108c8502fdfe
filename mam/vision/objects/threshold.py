"""From which score on an object is there: learned on the training pictures.

Each picture is searched with the graphs of the others. The best candidate on the object's mask is
an example of "there"; the best one away from it, and the best one in pictures of other objects, are
examples of "not there".
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int

from mam.vision.objects.evidence import evidence_of
from mam.vision.objects.learn import Example, spread_out
from mam.vision.objects.outline import hull, iou
from mam.vision.objects.search import Candidates, Library, search

_PICTURES = 12  # looked at for an object; more change the threshold by no more than chance
_ON, _OFF = 0.3, 0.1  # IoU with the mask above, below which a candidate is on the object, is not
# A graph scores so much less in other pictures than in its own; for objects with one picture only.
_OWN = 0.7
_FAINTEST = 0.5  # no threshold is lower: a picture without edges scores 0


def learn_thresholds(
    examples: Sequence[Example], chosen: Int[np.ndarray, " graphs"], library: Library
) -> Float[np.ndarray, " objects"]:
    """The threshold of each object; graph k of the model was learned from example chosen[k]."""
    names = library.model.names
    there: list[list[float]] = [[] for _ in names]
    absent: list[list[float]] = [[] for _ in names]
    shown = np.array([names.index(example.name) for example in examples])
    for number in _pictures(shown):
        example = examples[number]
        same = [k for k, n in enumerate(chosen) if examples[n].key == example.key]
        alone = len(np.setdiff1d(np.flatnonzero(shown == shown[number]), chosen[same])) == 0
        evidence = evidence_of(example.image, example.depth, library.config.evidence, example.where)
        found = search(evidence, library, None if alone else np.array(same, np.int64))
        truth = {
            examples[n].name: examples[n].mask
            for n in range(len(examples))
            if examples[n].key == example.key
        }
        for one, name in enumerate(names):
            on, off = _scores(found[one], truth.get(name), example.mask.shape)
            there[one] += [on * (_OWN if alone else 1.0)] if on is not None else []
            absent[one] += [off] if off is not None else []
    return np.array([_between(*scores) for scores in zip(there, absent, strict=True)])


def _pictures(shown: Int[np.ndarray, " examples"]) -> list[int]:
    """Examples of every object, spread over its own."""
    picked = []
    for one in np.unique(shown):
        own = np.flatnonzero(shown == one)
        picked += own[spread_out(np.arange(len(own), dtype=float)[:, None], _PICTURES)].tolist()
    return picked


def _scores(
    found: Candidates, mask: np.ndarray | None, shape: tuple[int, ...]
) -> tuple[float | None, float | None]:
    """The best score on the object, and away from it."""
    on, off = None, None
    for place, there, score in zip(found.place, found.there, found.score, strict=True):
        overlap = 0.0 if mask is None else iou(hull(place[there], (shape[0], shape[1])), mask)
        if overlap >= _ON and on is None:
            on = float(score)
        elif overlap <= _OFF and off is None:
            off = float(score)
    return on, off


def _between(there: list[float], absent: list[float]) -> float:
    """The threshold with the fewest errors, in the middle of the best gap.

    >>> _between([3.0, 4.0], [1.0, 2.0])
    2.5
    """
    if not there:
        return max([_FAINTEST, *absent])
    if not absent:
        return max(_FAINTEST, _OWN * min(there))
    scores = np.unique([*there, *absent])
    cuts = np.concatenate([[scores[0] - 1], (scores[1:] + scores[:-1]) / 2])
    missed = (np.array(there) < cuts[:, None]).mean(1)
    false = (np.array(absent) >= cuts[:, None]).mean(1)
    errors = missed + false
    best = np.flatnonzero(errors == errors.min())
    widest = best[np.argmax(np.diff(np.append(scores[0] - 2, scores))[best])]
    return max(_FAINTEST, float(cuts[widest]))
