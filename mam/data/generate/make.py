"""Recipes: what a generated data set is made of. Row k depends only on (recipe, k)."""

import dataclasses
import json
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Any

from mam import __version__
from mam.core.workers import Workers
from mam.data.generate import cabc, curves, objects, pathfinder, wild
from mam.data.schema import CabcRow, CurvesRow, ObjectRow, PathfinderRow, Row, to_record

CurveRecipe = curves.CurvesConfig | wild.WildConfig
Config = pathfinder.PathfinderConfig | cabc.CabcConfig | CurveRecipe | objects.ObjectsConfig

LEVELS: Mapping[str, Mapping[str, Any]] = {
    "pathfinder": pathfinder.LEVELS,
    "cabc": cabc.LEVELS,
    "curves": {**curves.LEVELS, "wild": wild.WILD},
    "objects": objects.LEVELS,
}
ROW_TYPES: Mapping[str, type] = {
    "pathfinder": PathfinderRow,
    "cabc": CabcRow,
    "curves": CurvesRow,
    "objects": ObjectRow,
}


def _make_curves(config: CurveRecipe, seed: int, row: int) -> CurvesRow:
    make = wild.make_wild if isinstance(config, wild.WildConfig) else curves.make_curves
    return make(config, seed, row)  # type: ignore[arg-type]


_MAKERS: Mapping[str, Callable[[Any, int, int], Row]] = {
    "pathfinder": pathfinder.make_pathfinder,
    "cabc": cabc.make_cabc,
    "curves": _make_curves,
    "objects": objects.make_objects,
}


@dataclass(frozen=True)
class Recipe:
    """A kind of data set, its configuration and the seed: an endless, reproducible data set."""

    kind: str
    config: Config
    seed: int

    def __post_init__(self) -> None:
        if self.kind not in _MAKERS:
            raise ValueError(f"{self.kind}: no such data set; known are {', '.join(_MAKERS)}")
        if self.seed < 0:
            raise ValueError(f"seed {self.seed}: it must be 0 or more")

    @property
    def columns(self) -> tuple[str, ...]:
        """The optional columns that its rows have."""
        return getattr(self.config, "columns", ())

    def describe(self) -> str:
        """The recipe as JSON, written into every shard so that a resumed run can compare.

        >>> Recipe("curves", LEVELS["curves"]["easy"], 1).describe()[:30]
        '{"kind": "curves", "seed": 1, '
        """
        config = dataclasses.asdict(self.config)
        made_by = {"kind": self.kind, "seed": self.seed, "version": __version__}
        return json.dumps({**made_by, "config": config})


def recipe(kind: str, level: str, seed: int) -> Recipe:
    """The recipe of a published level.

    >>> recipe("pathfinder", "hard", 7).config.long
    (14, 14)
    """
    levels = LEVELS.get(kind, {})
    if level not in levels:
        known = ", ".join(levels) or f"none, the data sets are {', '.join(LEVELS)}"
        raise ValueError(f"{kind} has no level {level!r}; known are {known}")
    return Recipe(kind, levels[level], seed)


def make_row(recipe: Recipe, row: int) -> Row:
    """One row of the recipe's data set.

    >>> make_row(recipe("pathfinder", "easy", 0), 5).markers.shape
    (2, 2)
    """
    return _MAKERS[recipe.kind](recipe.config, recipe.seed, row)


def make_records(recipe: Recipe, start: int, stop: int) -> list[dict[str, Any]]:
    """Rows start..stop-1 as parquet records: the unit of work of one worker."""
    return [to_record(make_row(recipe, row)) for row in range(start, stop)]


def chunk_records(
    recipe: Recipe, chunks: list[tuple[int, int]], workers: int
) -> Generator[list[dict[str, Any]], None, None]:
    """The records of each chunk of rows, made here or by worker processes a little ahead."""
    calls = ((recipe, *chunk) for chunk in chunks)
    if workers == 1 or len(chunks) <= 1:
        yield from (make_records(*call) for call in calls)
        return
    yield from Workers(workers).each(make_records, calls)
