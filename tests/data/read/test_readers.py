"""Every layout is read, and bad files are named with row and column."""

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from made_layouts import published_cabc, published_pathfinder, save, shelf_scene, write_parquet

from mam.data import (
    CabcRow,
    CurvesRow,
    ObjectRow,
    PathfinderRow,
    PictureRow,
    PublishedPathfinderRow,
    batches_of,
    count_rows,
    layout_of,
    make_row,
    recipe,
    rows_of,
    schema_of,
    select_rows,
)
from mam.data.schema import COLUMNS, to_record

KINDS = ["pathfinder", "cabc", "curves"]


def _same(one, two) -> bool:
    def equal(a, b) -> bool:
        return np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b

    names = [name for name in COLUMNS[type(one)] if name != "segments"]
    return all(equal(getattr(one, name), getattr(two, name)) for name in names)


@pytest.mark.parametrize("kind", KINDS)
def test_parquet_round_trip(tmp_path: Path, kind: str) -> None:
    rows = [make_row(recipe(kind, "easy", 0), k) for k in range(5)]
    path = write_parquet(tmp_path / "a.parquet", rows)
    found = list(rows_of(str(path)))
    assert all(_same(a, b) for a, b in zip(rows, found, strict=True))
    assert count_rows(str(path)) == 5
    assert [len(batch) for batch in batches_of(str(path), size=2)] == [2, 2, 1]
    assert _same(select_rows(str(path), [3])[0], rows[3])
    assert list(map(_same, rows_of(path.as_uri()), rows)) == [True] * 5


def test_segments_survive(tmp_path: Path) -> None:
    row = make_row(recipe("pathfinder", "easy", 0), 0)
    found = next(rows_of(str(write_parquet(tmp_path / "a.parquet", [row]))))
    for a, b in zip(row.segments, found.segments, strict=True):
        assert [(s.row, s.col) for s in a] == [(s.row, s.col) for s in b]
        assert [s.angle for s in a] == pytest.approx([s.angle for s in b], abs=1e-4)


def test_schema_carries_hugging_face_features() -> None:
    features = json.loads(schema_of(PathfinderRow).metadata[b"huggingface"])["info"]["features"]
    assert features["image"] == {"_type": "Image"}
    assert features["markers"]["feature"]["feature"]["dtype"] == "int64"
    assert set(features) == set(COLUMNS[PathfinderRow])


def test_extra_columns_and_shards_are_read(tmp_path: Path) -> None:
    rows = [make_row(recipe("curves", "easy", 0), k) for k in range(4)]
    for number in range(2):
        path = write_parquet(tmp_path / f"part-{number}.parquet", rows[2 * number :][:2])
        table = pq.read_table(path).append_column("name", pa.array(["a", "b"]))
        pq.write_table(table, path)
    found = list(rows_of(str(tmp_path)))
    assert [_same(a, b) for a, b in zip(rows, found, strict=True)] == [True] * 4
    picked = select_rows(str(tmp_path), [3, 0])
    assert _same(picked[0], rows[3]) and _same(picked[1], rows[0])
    with pytest.raises(ValueError, match="has no row 4"):
        select_rows(str(tmp_path), [4])


def test_only_row_groups_with_wanted_rows_are_read(tmp_path: Path) -> None:
    rows = [make_row(recipe("curves", "easy", 0), k) for k in range(6)]
    path = write_parquet(tmp_path / "a.parquet", rows)
    pq.write_table(pq.read_table(path), path, row_group_size=2)
    first = pq.read_metadata(path).row_group(0)
    start, length = first.column(0).data_page_offset, first.total_byte_size
    with path.open("r+b") as file:
        file.seek(start)
        file.write(b"\xff" * (length // 2))
    found = select_rows(str(path), [5, 2])
    assert _same(found[0], rows[5]) and _same(found[1], rows[2])
    with pytest.raises(ValueError, match="row 1 or a row soon after is corrupt"):
        select_rows(str(path), [1])


def _damage(tmp_path: Path, **changes) -> str:
    """A file of two curves rows whose second row is changed."""
    rows = [to_record(make_row(recipe("curves", "easy", 0), k)) for k in range(2)]
    rows[1].update(changes)
    path = tmp_path / "bad.parquet"
    pq.write_table(pa.Table.from_pylist(rows, schema=schema_of(CurvesRow)), path)
    return str(path)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"bytes": b"junk", "path": None}, "not a picture"),
        ({"bytes": b"", "path": None}, "no bytes"),
        ({"bytes": None, "path": "x.png"}, "no bytes"),
        (None, "null"),
    ],
    ids=["junk", "empty", "no bytes", "null"],
)
def test_a_bad_image_names_file_row_and_column(tmp_path: Path, value, words: str) -> None:
    source = _damage(tmp_path, labels=value)
    with pytest.raises(ValueError, match=rf"bad\.parquet: row 1, column 'labels': .*{words}"):
        list(rows_of(source))


def test_sizes_and_markers_must_agree(tmp_path: Path) -> None:
    record = to_record(make_row(recipe("cabc", "easy", 0), 0))
    record["markers"] = [[0, 0], [400, 1]]
    path = tmp_path / "m.parquet"
    pq.write_table(pa.Table.from_pylist([record], schema=schema_of(CabcRow)), path)
    with pytest.raises(ValueError, match=r"row 0, column 'markers'.*outside"):
        list(rows_of(str(path)))
    small = to_record(make_row(recipe("curves", "easy", 0), 0))["mask"]
    large = to_record(make_row(recipe("curves", "hard", 0), 0))["labels"]
    with pytest.raises(ValueError, match=r"row 1, column 'labels': size"):
        list(rows_of(_damage(tmp_path, mask=small, labels=large)))


def test_missing_column_and_wrong_type(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "a.parquet", [make_row(recipe("cabc", "easy", 0), 0)])
    table = pq.read_table(path)
    pq.write_table(table.drop_columns(["markers"]), path)
    with pytest.raises(ValueError, match=r"a\.parquet: missing column 'markers'"):
        list(rows_of(str(path)))
    strings = table.set_column(2, "label", pa.array(["one"]))
    pq.write_table(strings, path)
    with pytest.raises(ValueError, match=r"a\.parquet: column 'label' has type string"):
        list(rows_of(str(path)))


def test_bad_segments_and_markers(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    for column, value in (("segments", "[[[1, 2]]]"), ("markers", [[1, 2]])):
        record = to_record(make_row(recipe("pathfinder", "easy", 0), 0)) | {column: value}
        pq.write_table(pa.Table.from_pylist([record], schema=schema_of(PathfinderRow)), path)
        with pytest.raises(ValueError, match=rf"row 0, column '{column}'"):
            list(rows_of(str(path)))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[[1e999, 0, 0]]]", "inf is no number from"),
        ("[[[5, NaN, 0]]]", "nan is no number from"),
        ("[[[5, 6, 1e23]]]", "1e[+]23 is no number from"),
        ("[[[5, 6, true]]]", "True is no number"),
        ('[[[5, 6, "7"]]]', "'7' is no number"),
        ("[[[5, 300, 0.5]]]", r"5, 300\] lies outside \(300, 300\)"),
        ("[" * 100_000 + "]" * 100_000, "100000 brackets deep, and 32 are the most"),
        ("[" * 100_000, "100000 brackets deep"),
        ("[" + " " * (16 << 20) + "]", "16777218 characters, and"),
    ],
)
def test_strokes_that_are_none(tmp_path: Path, text: str, said: str) -> None:
    record = to_record(make_row(recipe("pathfinder", "easy", 0), 0)) | {"segments": text}
    path = tmp_path / "a.parquet"
    pq.write_table(pa.Table.from_pylist([record], schema=schema_of(PathfinderRow)), path)
    with pytest.raises(ValueError, match=rf"a\.parquet: row 0, column 'segments': .*{said}"):
        list(rows_of(str(path)))


def test_truncated_and_corrupt_parquet(tmp_path: Path) -> None:
    path = write_parquet(
        tmp_path / "a.parquet", [make_row(recipe("curves", "easy", 0), k) for k in range(3)]
    )
    whole = path.read_bytes()
    for torn in (whole[:-20], whole[: len(whole) // 2], b"", b"PAR1"):
        path.write_bytes(torn)
        with pytest.raises(ValueError, match=r"a\.parquet: not a readable parquet file"):
            list(rows_of(str(path)))
    # Page headers overwritten: the footer is whole, the data is not.
    path.write_bytes(whole[:4] + b"\xff" * 600 + whole[604:])
    with pytest.raises(ValueError, match=r"a\.parquet: .*row"):
        list(rows_of(str(path)))


def test_published_pathfinder(tmp_path: Path) -> None:
    root = published_pathfinder(tmp_path / "curv_contour_length_14")
    for source in (root, tmp_path):
        assert layout_of(str(source)) == "published"
        found = list(rows_of(str(source)))
        assert len(found) == 3
        for k, row in enumerate(found):
            truth = make_row(recipe("pathfinder", "hard", 0), k)
            assert isinstance(row, PublishedPathfinderRow)
            assert np.array_equal(row.image, truth.image) and row.label == truth.label
            wanted = sorted(truth.markers.tolist())
            assert np.abs(np.array(sorted(row.markers.tolist())) - wanted).max() <= 1


def test_published_cabc(tmp_path: Path) -> None:
    root = published_cabc(tmp_path / "ix2")
    for k, row in enumerate(rows_of(str(root))):
        truth = make_row(recipe("cabc", "hard", 0), k)
        assert isinstance(row, CabcRow)
        assert np.array_equal(row.letters, truth.letters)
        assert row.label == truth.label and np.array_equal(row.categories, truth.categories)
        assert np.abs(np.sort(row.markers, axis=0) - np.sort(truth.markers, axis=0)).max() <= 1


def test_published_folders_with_faults(tmp_path: Path) -> None:
    root = published_pathfinder(tmp_path / "set")
    metadata = root / "metadata/1.npy"
    table = np.load(metadata)

    def refused(words: str) -> None:
        with pytest.raises((ValueError, OSError), match=words):
            list(rows_of(str(root)))

    outside = table.copy()
    outside[1, 0] = "../../etc"
    np.save(metadata, outside)
    refused("row 1: the path .* leads out of")
    wrong = table.copy()
    wrong[2, 3] = "maybe"
    np.save(metadata, wrong)
    refused("row 2, label: a number from 0 to 1")
    np.save(metadata, table[:, :5])
    refused("5 columns")
    np.save(metadata, table.astype(object), allow_pickle=True)
    refused(r"1\.npy: not a readable .npy table.*object arrays are refused")
    metadata.write_bytes(b"junk")
    refused(r"1\.npy")
    np.save(metadata, table)
    (root / "imgs/1/sample_1.png").unlink()
    refused(r"sample_1\.png")


def test_shelf_scenes(tmp_path: Path) -> None:
    root = shelf_scene(tmp_path)
    for source in (root, root / "scene-0000"):
        assert layout_of(str(source)) == "scenes"
        found = list(rows_of(str(source)))
        assert all(isinstance(row, ObjectRow) for row in found)
        # Numbers are alphabetical: 8 is the apple, 19 the book.
        assert [(row.frame, row.name) for row in found] == [
            (frame, name) for frame in (0, 1) for name in ("apple", "book")
        ]
        assert found[0].mask.sum() == 15 * 15 and found[1].mask.sum() == 15 * 30


def test_shelf_scenes_with_masks(tmp_path: Path) -> None:
    scene = shelf_scene(tmp_path / "apple") / "scene-0000"
    (scene / "segm").rename(scene / "old")
    with pytest.raises(FileNotFoundError, match="neither segm/ nor masks/"):
        list(rows_of(str(scene)))
    mask = np.zeros((48, 64), np.uint8)
    mask[:10, :10] = 255
    save(scene / "masks/frame-000000.mask.png", mask)
    save(scene / "masks/frame-000001.cup.mask.png", mask)
    assert [row.name for row in rows_of(str(scene))] == ["apple", "cup"]
    save(scene / "masks/frame-000000.mask.png", mask[:5])
    with pytest.raises(ValueError, match=r"frame-000000\.mask\.png: size"):
        list(rows_of(str(scene)))


def test_plain_folders_and_single_images(tmp_path: Path) -> None:
    image = np.full((8, 9, 3), 7, np.uint8)
    mask = np.zeros((8, 9), np.uint8)
    mask[2, 3] = 1
    for name in ("b2", "b10"):
        save(tmp_path / "set/images" / f"{name}.png", image)
        save(tmp_path / "set/masks" / f"{name}.png", mask)
    found = list(rows_of(str(tmp_path / "set")))
    assert [row.name for row in found] == ["b2.png", "b10.png"]
    assert all(isinstance(row, PictureRow) and row.mask.sum() == 1 for row in found)
    (tmp_path / "set/masks/b2.png").unlink()
    with pytest.raises(FileNotFoundError, match=r"no mask for b2\.png"):
        list(rows_of(str(tmp_path / "set")))

    save(tmp_path / "flat/a.jpg", image)
    save(tmp_path / "flat/a_mask.png", mask)
    save(tmp_path / "flat/c.tif", mask)
    found = list(rows_of(str(tmp_path / "flat")))
    assert [(row.name, row.mask is not None) for row in found] == [
        ("a.jpg", True),
        ("c.tif", False),
    ]
    single = list(rows_of(str(tmp_path / "flat/a.jpg")))
    assert len(single) == 1 and single[0].mask is None


def test_unreachable_urls_are_named(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(ValueError, match=r"moon://a\.parquet: .* needs `pip install fsspec`"):
        list(rows_of("moon://a.parquet"))

    def no_network(source: str) -> None:
        raise OSError("no network")

    offline = SimpleNamespace(FileSystem=SimpleNamespace(from_uri=no_network))
    monkeypatch.setattr("mam.data.store.parquet.pa_fs", offline)
    with pytest.raises(OSError, match=r"s3://b/a\.parquet: cannot be reached \(no network\)"):
        list(rows_of("s3://b/a.parquet"))


def test_other_schemes_go_through_fsspec(tmp_path: Path, monkeypatch) -> None:
    """A stand-in for fsspec with just what the reader calls: the real one is optional."""
    rows = [make_row(recipe("curves", "easy", 0), 0)]
    path = write_parquet(tmp_path / "a.parquet", rows)

    class Fake:
        protocol = "moon"

        def info(self, name: str) -> dict:
            return {"name": name, "size": path.stat().st_size, "type": "file"}

        def isfile(self, name: str) -> bool:
            return True

        def open(self, name: str, mode: str = "rb"):
            assert name == "here/a.parquet"
            return path.open(mode)

    core = SimpleNamespace(url_to_fs=lambda url: (Fake(), url.removeprefix("moon://")))
    monkeypatch.setitem(sys.modules, "fsspec", SimpleNamespace(core=core))
    found = list(rows_of("moon://here/a.parquet"))
    assert len(found) == 1 and _same(found[0], rows[0])


def test_unknown_sources(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"):
        list(rows_of(str(tmp_path / "nowhere")))
    with pytest.raises(ValueError, match="no known layout"):
        list(rows_of(str(tmp_path)))
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(ValueError, match=r"notes\.txt: not a readable parquet"):
        list(rows_of(str(tmp_path / "notes.txt")))
    with pytest.raises(ValueError, match="rows"):
        select_rows(str(tmp_path), [-1])
