"""Strands without a picture: straight, apart, and joined as wanted."""

import numpy as np

from mam.vision.curves.strands.strands import Strands


def strands_of(courses: list[np.ndarray], node: np.ndarray, width: np.ndarray) -> Strands:
    """Strands along given points, row and column."""
    steps = [np.append(0.0, np.linalg.norm(np.diff(one, axis=0), axis=1)) for one in courses]
    along = [np.cumsum(one) for one in steps]
    strand = np.repeat(np.arange(len(courses)), [len(one) for one in courses])
    return Strands(
        points=np.concatenate([np.zeros((0, 2)), *courses]),
        strand=strand,
        along=np.concatenate([np.zeros(0), *along]),
        radius=width[strand] / 2,
        length=np.array([one[-1] for one in along]),
        width=width,
        node=node,
    )


def straight_strands(node: np.ndarray, length: np.ndarray, width: np.ndarray) -> Strands:
    """One strand below the other; their places mean nothing."""
    courses = [np.array([[10.0 * k, 0.0], [10.0 * k, far]]) for k, far in enumerate(length)]
    return strands_of(courses, node, width)
