"""What files of elastic graphs hold."""

import numpy as np

from mam.core.schema import INTEGERS, ArraySpec, ModelFile, Schema, Setting, pieces

_FARTHEST = 1 << 14  # px from a graph's first row or column, as of pictures
GRAPHS = {
    "vertices": ArraySpec(INTEGERS, ("graphs", "vertices", 2), 0, _FARTHEST),
    "vertex_count": ArraySpec(INTEGERS, ("graphs",), 1, "vertices"),
    "ends": ArraySpec(INTEGERS, ("graphs", "edges", 2), 0, below="vertex_count"),
    "radius": ArraySpec(INTEGERS, ("graphs", "edges"), 0, _FARTHEST),
    "edge_count": ArraySpec(INTEGERS, ("graphs",), 0, "edges"),
    "category": ArraySpec(INTEGERS, ("graphs",), -1, 1 << 15),
}
ARRAYS = tuple(GRAPHS)  # those with one row a graph
MASK = {"mask": ArraySpec(("uint8",), ("side", "side"), 0, 1)}
SIZES = {"side": (1, 1023)}
SETTINGS = {
    "side": Setting(int, 1, 1 << 16, none=True, optional=True),
    "preset": Setting(str, one_of=("best", "paper"), optional=True),
}


def check_graphs(file: ModelFile) -> None:
    """Refuse edges that lead back, and graphs whose unused places hold something."""
    if not file.arrays["mask"].any():
        raise ValueError("mask has no pixels")
    for count, names in (
        ("vertex_count", ("vertices", "type")),
        ("edge_count", ("ends", "radius")),
    ):
        for name in names:
            if name in file.arrays:
                _check_unused(name, file.arrays[name], file.arrays[count])
    _check_ends(file.arrays["ends"], file.arrays["edge_count"])


def _check_ends(ends: np.ndarray, count: np.ndarray) -> None:
    numbers = _numbers(ends)
    for rows in pieces(ends):
        back = ends[rows, :, 0] >= ends[rows, :, 1]
        back &= numbers < count[rows, None]
        if back.any():
            graph, edge = np.argwhere(back)[0].tolist()
            raise ValueError(
                f"ends[{rows.start + graph}, {edge}] is {ends[rows][graph, edge].tolist()}; an "
                "edge leads from an earlier to a later vertex"
            )


def _check_unused(name: str, values: np.ndarray, count: np.ndarray) -> None:
    numbers = _numbers(values)
    for rows in pieces(values):
        filled = values[rows] != 0
        if values.ndim == 3:
            filled = filled[..., 0] | filled[..., 1]  # 10 times as fast as `any`
        filled &= numbers >= count[rows, None]
        if filled.any():
            graph, place = np.argwhere(filled)[0].tolist()
            held, graph = values[rows][graph, place].tolist(), rows.start + graph
            raise ValueError(
                f"{name}[{graph}, {place}] is {held}, but graph {graph} has only {count[graph]}; "
                "unused places hold zeros"
            )


def _numbers(values: np.ndarray) -> np.ndarray:
    return np.arange(values.shape[1], dtype=np.int32)


SCHEMA = Schema(
    "elastic graphs",
    GRAPHS | MASK,
    SETTINGS,
    "mam learn objects",
    SIZES,
    rules=[check_graphs],
)
