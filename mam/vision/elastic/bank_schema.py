"""What files of elastic graphs hold."""

import numpy as np

from mam.core.schema import INTEGERS, ArraySpec, ModelFile, Schema, Setting

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
    ends = file.arrays["ends"]
    used = _numbers(ends) < file.arrays["edge_count"][:, None]
    back = used & (ends[..., 0] >= ends[..., 1])
    if back.any():
        graph, edge = np.argwhere(back)[0].tolist()
        raise ValueError(
            f"ends[{graph}, {edge}] is {ends[graph, edge].tolist()}; an edge leads from an earlier "
            "to a later vertex"
        )


def _check_unused(name: str, values: np.ndarray, count: np.ndarray) -> None:
    filled = values != 0
    if values.ndim == 3:
        filled = filled[..., 0] | filled[..., 1]  # 10 times as fast as `any`
    filled &= _numbers(values) >= count[:, None]
    if filled.any():
        graph, place = np.argwhere(filled)[0].tolist()
        raise ValueError(
            f"{name}[{graph}, {place}] is {values[graph, place].tolist()}, but graph {graph} has "
            f"only {count[graph]}; unused places hold zeros"
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
