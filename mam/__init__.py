"""Markov Attention Models: discrete MRFs with attention variables, solved by max-product.

The names below are loaded when they are first used, so that ``import mam`` costs nothing.

>>> import mam
>>> builder = mam.GraphBuilder()
>>> x = builder.variables("x", 2)
>>> builder.add("agree", mam.Pairwise.of([x], [[1, 0], [0, 1]]))
>>> mam.solve(builder.build(), {"x": [2, 0]})["x"].tolist()
[1, 1]
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from mam.factors import And, Choice, Or, Pairwise, Pattern, PatternSet, Table, Window
    from mam.graph import FactorGraph, GraphBuilder, compile_graphs
    from mam.infer import (
        Options,
        Solution,
        enumerate_exactly,
        log_partition,
        marginals,
        propagate,
        sample,
        solve,
    )
    from mam.models import MamBuilder, MarkovAttentionModel, PartKind, part_attention_model
    from mam.vision.curves.strands.curve_grouper import CurveGrouper
    from mam.vision.curves.strokes.contour_answer import Grouping
    from mam.vision.curves.strokes.contour_grouper import ContourGrouper
    from mam.vision.elastic.letters.finder import Match, ObjectFinder
    from mam.vision.elastic.photographs.detector import Detection, ObjectDetector
    from mam.vision.parts.learning import learn_parts
    from mam.vision.parts.masks import Parts
    from mam.vision.parts.sparsifier import Placements, Sparsifier

_HOME = {
    "mam.factors": ("And", "Choice", "Or", "Pairwise", "Pattern", "PatternSet", "Table", "Window"),
    "mam.graph": ("FactorGraph", "GraphBuilder", "compile_graphs"),
    "mam.infer": (
        "Options",
        "Solution",
        "enumerate_exactly",
        "log_partition",
        "marginals",
        "propagate",
        "sample",
        "solve",
    ),
    "mam.models": ("MamBuilder", "MarkovAttentionModel", "PartKind", "part_attention_model"),
    "mam.vision.elastic.photographs.detector": ("Detection", "ObjectDetector"),
    "mam.vision.elastic.letters.finder": ("Match", "ObjectFinder"),
    "mam.vision.curves.strokes.contour_grouper": ("ContourGrouper",),
    "mam.vision.curves.strands.curve_grouper": ("CurveGrouper",),
    "mam.vision.curves.strokes.contour_answer": ("Grouping",),
    "mam.vision.parts.learning": ("learn_parts",),
    "mam.vision.parts.masks": ("Parts",),
    "mam.vision.parts.sparsifier": ("Placements", "Sparsifier"),
}

__all__ = [
    "And",
    "Choice",
    "ContourGrouper",
    "CurveGrouper",
    "Detection",
    "FactorGraph",
    "GraphBuilder",
    "Grouping",
    "MamBuilder",
    "MarkovAttentionModel",
    "Match",
    "ObjectDetector",
    "ObjectFinder",
    "Options",
    "Or",
    "Pairwise",
    "PartKind",
    "Parts",
    "Pattern",
    "PatternSet",
    "Placements",
    "Solution",
    "Sparsifier",
    "Table",
    "Window",
    "compile_graphs",
    "enumerate_exactly",
    "learn_parts",
    "log_partition",
    "marginals",
    "part_attention_model",
    "propagate",
    "sample",
    "solve",
]


def __getattr__(name: str) -> Any:
    for module, names in _HOME.items():
        if name in names:
            return getattr(import_module(module), name)
    raise AttributeError(f"module 'mam' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
