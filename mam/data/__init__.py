"""Data sets: generators (pathfinder, cABC, curves, objects), readers of every layout, the store."""

from mam.data.generate.cabc import CabcConfig, make_cabc
from mam.data.generate.curves import CurvesConfig, make_courses, make_curves
from mam.data.generate.dashes import DashConfig
from mam.data.generate.make import LEVELS, Recipe, make_row, recipe
from mam.data.generate.objects import ObjectsConfig, make_objects
from mam.data.generate.pathfinder import PathfinderConfig, make_pathfinder
from mam.data.generate.write import StoreConfig, write_dataset
from mam.data.images import encode_png, read_picture
from mam.data.pixels import grey
from mam.data.read.markers import find_discs, find_rings
from mam.data.read.published import PublishedPathfinderRow
from mam.data.read.readers import AnyRow, batches_of, layout_of, rows_of, select_rows
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
from mam.data.store.parquet import count_rows

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
    "encode_png",
    "find_discs",
    "find_rings",
    "grey",
    "layout_of",
    "make_cabc",
    "make_courses",
    "make_curves",
    "make_objects",
    "make_pathfinder",
    "make_row",
    "read_picture",
    "recipe",
    "rows_of",
    "schema_of",
    "select_rows",
    "write_dataset",
]
