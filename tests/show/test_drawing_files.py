"""What `mam group` writes, read back by readers of others."""

import csv
import io
import json
from xml.etree import ElementTree

import numpy as np
import pytest
import tifffile
from hypothesis import given
from hypothesis import strategies as st

from mam.data.pixel_size import PixelSize
from mam.show.drawing_files import FILES
from mam.show.mask_files import run_lengths
from mam.show.tree_file import grown_tree
from mam.tasks.drawing import Drawing, group_drawing
from mam.vision.curves.facts import CurveFacts

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def drawing() -> Drawing:
    """Two bars that cross, and a ring."""
    picture = np.full((120, 220), 235, np.uint8)
    picture[57:63, 10:150] = picture[10:110, 77:83] = 40
    rows, cols = np.mgrid[:120, :220]
    picture[np.abs(np.hypot(rows - 60, cols - 185) - 25) < 2.5] = 40
    return group_drawing(picture, pixel_size=PixelSize(0.5, "um"))


def written(drawing: Drawing, ending: str) -> bytes:
    return FILES[ending].write(drawing, "cross.png")


def test_masks_overlap_in_a_tiff(drawing: Drawing) -> None:
    with tifffile.TiffFile(io.BytesIO(written(drawing, ".tif"))) as file:
        pages = np.stack([page.asarray() for page in file.pages])
        assert file.pages[0].description == "3 curves, one a page"
    assert pages.dtype == np.uint8 and set(np.unique(pages)) == {0, 255}
    np.testing.assert_array_equal(pages > 0, drawing.masks)
    shared = (pages > 0).sum(0) == 2
    assert 20 < shared.sum() < 60 and shared[58:62, 78:82].all()
    assert ((pages > 0).any(0) == drawing.ink.mask).mean() > 0.995


def decoded(rle: dict) -> np.ndarray:
    """Run lengths as pycocotools reads them: columns first, OFF first."""
    rows, cols = rle["size"]
    values = np.arange(len(rle["counts"])) % 2
    return np.repeat(values, rle["counts"]).reshape(cols, rows).T.astype(bool)


def test_masks_as_coco(drawing: Drawing) -> None:
    about = json.loads(written(drawing, ".coco.json"))
    [image] = about["images"]
    assert (image["file_name"], image["height"], image["width"]) == ("cross.png", 120, 220)
    masks = np.stack([decoded(one["segmentation"]) for one in about["annotations"]])
    np.testing.assert_array_equal(masks, drawing.masks)
    for one, mask in zip(about["annotations"], masks, strict=True):
        left, top, width, height = one["bbox"]
        assert one["area"] == mask.sum() == mask[top : top + height, left : left + width].sum()
        assert mask[top].any() and mask[:, left + width - 1].any()


@given(st.integers(0, 2**31), st.integers(1, 6), st.integers(1, 6), st.sampled_from([0, 0.5, 1]))
def test_run_lengths_come_back(seed: int, rows: int, cols: int, share: float) -> None:
    mask = np.random.default_rng(seed).uniform(size=(rows, cols)) < share
    np.testing.assert_array_equal(
        decoded({"size": [rows, cols], "counts": run_lengths(mask)}), mask
    )


def test_paths_of_an_svg_are_smooth_and_as_wide_as_curves(drawing: Drawing) -> None:
    root = ElementTree.fromstring(written(drawing, ".svg"))
    paths = list(root.iter(f"{SVG}path"))
    assert [path.get("id") for path in paths] == ["curve-1", "curve-2", "curve-3"]
    closed = [path.get("d", "").endswith("Z") for path in paths]
    assert closed == [one.closed for one in drawing.facts] and sum(closed) == 1
    widths = [float(path.get("stroke-width", 0)) for path in paths]
    assert widths == pytest.approx([one.width for one in drawing.facts], abs=0.01)
    for path, one in zip(paths, drawing.facts, strict=True):
        count = path.get("d", "").count(",")
        assert count == len(one.line) - one.closed
        assert count < (40 if one.closed else 6)


def test_tables_have_units(drawing: Drawing) -> None:
    rows = list(csv.DictReader(io.StringIO(written(drawing, ".csv").decode())))
    assert [row["curve"] for row in rows] == ["1", "2", "3"]
    assert {row["unit"] for row in rows} == {"um"}
    ring = next(row for row in rows if row["closed"] == "True")
    assert float(ring["length"]) == pytest.approx(0.5 * 2 * np.pi * 25, rel=0.03)
    bars = [row for row in rows if row is not ring]
    assert [row["crossings"] for row in bars] == ["1", "1"] and ring["crossings"] == "0"
    assert all(row["certificate"] == "exact" and float(row["margin"]) > 0 for row in bars)
    assert [float(row["width"]) for row in bars] == pytest.approx([3, 3], abs=0.4)
    points = list(csv.DictReader(io.StringIO(written(drawing, ".points.csv").decode())))
    assert len(points) == sum(len(line) for line in drawing.lines)
    first = next(row for row in points if (row["curve"], row["point"]) == ("1", "1"))
    assert [first["row"], first["column"]] == [f"{value:.2f}" for value in drawing.lines[0][0]]
    assert rows[0]["start_row"] == str(round(float(drawing.lines[0][0, 0]), 2))


def test_geojson_and_json_say_the_same(drawing: Drawing) -> None:
    features = json.loads(written(drawing, ".geojson"))["features"]
    about = json.loads(written(drawing, ".json"))
    assert about["pixel_size"] == {"length": 0.5, "unit": "um"}
    for feature, curve in zip(features, about["curves"], strict=True):
        turned = [[x, y] for y, x in curve.pop("points")]
        assert feature["geometry"] == {"type": "LineString", "coordinates": turned}
        name = f"curve {curve.pop('number')}"
        assert feature["properties"] == {"name": name, **curve}


def swc(content: bytes) -> np.ndarray:
    return np.loadtxt(io.BytesIO(content), ndmin=2)


def test_swc_is_a_forest(drawing: Drawing) -> None:
    nodes = swc(written(drawing, ".swc"))
    number, parent = nodes[:, 0].astype(int), nodes[:, 6].astype(int)
    assert (number == np.arange(1, len(nodes) + 1)).all() and (parent < number).all()
    assert (parent == -1).sum() == 3  # bars that cross do not end on each other
    inner = parent > 0
    steps = np.linalg.norm(nodes[inner, 2:4] - nodes[parent[inner] - 1, 2:4], axis=1)
    assert steps.max() <= 0.5 * 2.01
    total = sum(one.length for one in drawing.facts)
    assert steps.sum() == pytest.approx(0.5 * total, rel=0.02)


def curve(number: int, line: list[list[float]], width: float = 4.0) -> CurveFacts:
    points = np.array(line, float)
    length = float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())
    return CurveFacts(number, points, False, length, width, 0, 1, None, None)


def test_branches_of_a_tree_start_at_their_trunk() -> None:
    trunk = curve(1, [[50, 0], [50, 100]])
    branch = curve(2, [[10, 40], [47, 40]])  # it ends on the trunk, so it is turned round
    twig = curve(3, [[30, 43], [30, 60]])
    alone = curve(4, [[90, 0], [90, 10]])
    place, _, parent = grown_tree([alone, twig, branch, trunk])
    roots = np.flatnonzero(parent < 0)
    assert place[roots].tolist() == [[50, 0], [90, 0]]
    forks = np.flatnonzero((parent >= 0) & (parent != np.arange(len(parent)) - 1))
    assert place[forks].tolist() == [[47, 40], [30, 43]]
    assert place[parent[forks]].tolist() == [[50, 40], pytest.approx([30, 40], abs=1)]


def test_a_picture_without_curves_has_files_too() -> None:
    empty = Drawing(np.zeros((8, 9), np.uint8))
    for ending, (_, write) in FILES.items():
        assert write(empty, "empty.png"), ending
    with tifffile.TiffFile(io.BytesIO(written(empty, ".tif"))) as file:
        assert [page.shape for page in file.pages] == [(8, 9)]
