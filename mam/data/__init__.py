"""Data sets: generators (pathfinder, cABC, curves, objects), readers of every layout, the store."""

from mam.data.cabc import CabcConfig, make_cabc
from mam.data.curves import CurvesConfig, make_curves
from mam.data.dashes import DashConfig
from mam.data.images import decode, encode_png, grey
from mam.data.make import LEVELS, Recipe, make_row, recipe
from mam.data.markers import find_discs, find_rings
from mam.data.objects import ObjectsConfig, make_objects
from mam.data.parquet import count_rows
from mam.data.pathfinder import PathfinderConfig, make_pathfinder
from mam.data.published import PublishedPathfinderRow
from mam.data.readers import AnyRow, batches_of, layout_of, rows_of, select_rows
from mam.data.schema import (
    CabcRow,
    CurvesRow,
    ObjectRow,
    PathfinderRow,
    PictureRow,
    Row,
    Stroke,
    schema_of,
)
from mam.data.store import StoreConfig, write_dataset

__all__ = [
    "LEVELS",
    "AnyRow",
    "CabcConfig",
    "CabcRow",
    "CurvesConfig",
    "CurvesRow",
    "DashConfig",
    "ObjectRow",
    "ObjectsConfig",
    "PathfinderConfig",
    "PathfinderRow",
    "PictureRow",
    "PublishedPathfinderRow",
    "Recipe",
    "Row",
    "StoreConfig",
    "Stroke",
    "batches_of",
    "count_rows",
    "decode",
    "encode_png",
    "find_discs",
    "find_rings",
    "grey",
    "layout_of",
    "make_cabc",
    "make_curves",
    "make_objects",
    "make_pathfinder",
    "make_row",
    "recipe",
    "rows_of",
    "schema_of",
    "select_rows",
    "write_dataset",
]
