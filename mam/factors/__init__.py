"""Kinds of factors. To add one: write its file, then add it to the list below."""

from mam.factors.and_ import And
from mam.factors.any_of import AnyOf
from mam.factors.base import Block, Factors, Listing, Plan, Port
from mam.factors.choice import Choice
from mam.factors.count import Count
from mam.factors.or_ import Or
from mam.factors.padding import Padding
from mam.factors.pairwise import Pairwise
from mam.factors.pattern import Pattern
from mam.factors.patterns import PatternSet
from mam.factors.ragged import Ragged
from mam.factors.table import Table
from mam.factors.window import Window

KINDS: tuple[type[Factors], ...] = (
    Table,
    Pairwise,
    Pattern,
    Or,
    And,
    Window,
    Choice,
    AnyOf,
    Count,
)

__all__ = [
    "KINDS",
    "And",
    "AnyOf",
    "Block",
    "Choice",
    "Count",
    "Factors",
    "Listing",
    "Or",
    "Padding",
    "Pairwise",
    "Pattern",
    "PatternSet",
    "Plan",
    "Port",
    "Ragged",
    "Table",
    "Window",
]
