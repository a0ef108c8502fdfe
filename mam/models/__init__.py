"""Markov Attention Models proper: builders, the three rules, independence, worked examples."""

from mam.models.independence import independent
from mam.models.mam import MamBuilder, MarkovAttentionModel
from mam.models.parts import PartKind, part_attention_model
from mam.models.rules import AttentionVariables, check_rules

__all__ = [
    "AttentionVariables",
    "MamBuilder",
    "MarkovAttentionModel",
    "PartKind",
    "check_rules",
    "independent",
    "part_attention_model",
]
