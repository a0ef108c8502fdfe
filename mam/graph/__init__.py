"""Variables, factor groups, the builder, and compiled graphs."""

from mam.graph.compiled import CompiledGraph, compile_graphs, compile_growing, pack_evidence
from mam.graph.model import FactorGraph, GraphBuilder, VariableGroup
from mam.graph.union import GraphUnion, Scores, union_scores
from mam.graph.wiring import PortWiring, Wiring

__all__ = [
    "CompiledGraph",
    "FactorGraph",
    "GraphBuilder",
    "GraphUnion",
    "PortWiring",
    "Scores",
    "VariableGroup",
    "Wiring",
    "compile_graphs",
    "compile_growing",
    "pack_evidence",
    "union_scores",
]
