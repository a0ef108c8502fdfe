"""Variables, factor groups, the builder, and compiled graphs."""

from mam.graph.compiled import CompiledGraph, compile_graphs
from mam.graph.evidence import pack_evidence
from mam.graph.model import FactorGraph, GraphBuilder, VariableGroup
from mam.graph.wiring import PortWiring, Wiring

__all__ = [
    "CompiledGraph",
    "FactorGraph",
    "GraphBuilder",
    "PortWiring",
    "VariableGroup",
    "Wiring",
    "compile_graphs",
    "pack_evidence",
]
