"""Rivals and pictures small enough for tests: convolutions of 15 x 15 are slow on a CPU."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mam.data import CabcRow, PathfinderRow, encode_png, schema_of
from mam.data.read.labelled import LabelledPictures
from mam.rivals import networks
from mam.rivals.hcnn import Hcnn

SIDE = 16


class TinyHcnn:
    """An H-CNN of two steps with kernels of 3 x 3."""

    @staticmethod
    def of(key: Any) -> Hcnn:
        return Hcnn.of(key, kernel=3, steps=2)


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(networks.NETWORKS, "h-cnn", TinyHcnn)  # type: ignore[arg-type]


def images(count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Noise; those with label 1 have a bright square."""
    labels = np.arange(count) % 2
    pixels = np.random.default_rng(seed).integers(0, 120, (count, SIDE, SIDE)).astype(np.uint8)
    pixels[labels > 0, 5:9, 5:9] = 255
    return pixels, labels.astype(np.uint8)


def pictures(count: int, seed: int = 0) -> LabelledPictures:
    pixels, labels = images(count, seed)
    return LabelledPictures("toy", "pathfinder", [encode_png(one) for one in pixels], labels)


def write_set(path: Path, count: int, kind: type = PathfinderRow, seed: int = 0) -> Path:
    """A parquet file with the columns of a task; only pictures and labels mean something."""
    pixels, labels = images(count, seed)
    png = [{"bytes": encode_png(one), "path": None} for one in pixels]
    points = [[[1, 1], [2, 2]]] * count
    columns: dict[str, list] = {"image": png, "label": labels.tolist(), "markers": points}
    if kind is CabcRow:
        columns |= {"letters": png, "categories": [[0, 1]] * count}
    else:
        columns |= {"clean": png, "contours": png, "segments": ["[]"] * count}
    pq.write_table(pa.table(columns, schema=schema_of(kind)), path)
    return path
