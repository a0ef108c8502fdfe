"""Readers of data answer anything: what is in it, or an error that names the file."""

import json
import resource
import time
import zlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import tifffile
from PIL import Image

from mam.data import CurvesConfig, Recipe, make_row, read_picture, recipe, rows_of, write_dataset
from mam.data.pixel_size import read_pixel_size
from mam.models.uai import read_uai, read_uai_evidence
from mam.reproduce.rivals import read_rivals
from mam.scale import ItemAnswer, answers_in
from mam.scale.answers import write_answers
from mam.scale.journal import Journal, RunName
from mam.scale.manifest import opened
from mam.scale.queues import queue_settings
from tests.data.made_layouts import published_cabc, published_pathfinder, shelf_scene, write_parquet
from tests.fuzz.mad_bytes import mutated

_MOST_SECONDS = 2.0
_MOST_BYTES = 500e6
_FEW, _MANY = 15, 200  # of each of the 26 kinds: with the model files 550 and 10,320

UAI = b"""MARKOV
3
2 2 3
3
1 0
2 0 1
2 1 2

2
 0.436 0.564

4
 0.128 0.872
 0.920 0.080

6
 0.210 0.333 0.457
 0.811 0.000 0.189
"""


class Kind(NamedTuple):
    """Files of a reader, one of which is changed."""

    make: Callable[[Path], list[Path]]  # in a folder; those that may be changed
    read: Callable[[Path], Any]  # of the folder
    text: bool = False
    mend: Callable[[bytes], bytes] = bytes  # what makes a changed file look whole again
    refuses: bool = True  # rather than pass over what it does not understand


def _right_sums(content: bytes) -> bytes:
    """A PNG whose chunks have right check sums, whatever they hold."""
    found, at = content[:8], 8
    while at + 12 <= len(content):
        length = int.from_bytes(content[at : at + 4], "big")
        body = content[at + 4 : at + 8 + length]
        found += len(body[4:]).to_bytes(4, "big") + body + zlib.crc32(body).to_bytes(4, "big")
        at += 12 + length
    return found


def _file(name: str, content: bytes) -> Callable[[Path], list[Path]]:
    def make(folder: Path) -> list[Path]:
        (folder / name).write_bytes(content)
        return [folder / name]

    return make


def _picture(name: str, **options: Any) -> Callable[[Path], list[Path]]:
    def make(folder: Path) -> list[Path]:
        pixels = np.random.default_rng(0).integers(0, 256, (40, 30, 3), np.uint8)
        Image.fromarray(pixels).save(folder / name, **options)
        return [folder / name]

    return make


def _parquet(kind: str) -> Callable[[Path], list[Path]]:
    def make(folder: Path) -> list[Path]:
        if kind == "curves":
            made = Recipe("curves", CurvesConfig(rows=64, cols=64), 0)
            return [write_dataset(made, 2, folder / "rows.parquet")]
        return [write_parquet(folder / "rows.parquet", [make_row(recipe(kind, "easy", 0), 0)])]

    return make


def _layout(make: Callable[..., Path], count: int) -> Callable[[Path], list[Path]]:
    def files(folder: Path) -> list[Path]:
        make(folder, count)
        return sorted(path for path in folder.rglob("*") if path.is_file())

    return files


def _rows(folder: Path) -> None:
    for _ in rows_of(str(folder)):
        pass


def _evidence(folder: Path) -> Any:
    (folder / "model.uai").write_bytes(UAI)
    return read_uai_evidence(folder / "some.evid", read_uai(folder / "model.uai"))


_RIVAL = {"network": "h-cnn", "task": "pathfinder", "images": 10}
_RUN = {"settings": _RIVAL, "images_seen": 20, "accuracy": {"easy": 0.5}}
_MADE = {"mam": "1", "job": "A", "settings": {"a": 1}, "models": {"m": "0"}}
_MADE |= {"input": {"items": 1, "shards": 1, "digest": "0"}}
_MANIFEST = {"made_of": _MADE, "done": False, "set_aside": [{"item": "a", "reason": "b"}]}


def _manifest(folder: Path) -> None:
    with opened(folder, _MADE):
        pass


def _npy(folder: Path) -> list[Path]:
    np.save(folder / "a.npy", np.zeros((9, 7), np.uint8))
    return [folder / "a.npy"]


def _ome(folder: Path) -> list[Path]:
    """A TIFF that says how large a pixel is, in XML."""
    known = {"axes": "YX", "PhysicalSizeX": 0.5, "PhysicalSizeXUnit": "um"}
    known |= {"PhysicalSizeY": 0.5, "PhysicalSizeYUnit": "um"}
    tifffile.imwrite(folder / "a.tif", np.zeros((9, 7), np.uint8), ome=True, metadata=known)
    return [folder / "a.tif"]


def _answers(folder: Path) -> list[Path]:
    path = folder / "part-00000.parquet"
    write_answers(path, "run", ["a", "b"], [ItemAnswer({"x": 1}), ItemAnswer(None, "why")])
    return [path]


_RUN_NAME = RunName("run", "today")


def _journal(folder: Path) -> list[Path]:
    journal = Journal(folder, "part", _RUN_NAME)
    journal.attempt()
    journal.begin("a")
    journal.finish("a", ItemAnswer({"x": 1}))
    return [journal.path]


def _known(folder: Path) -> None:
    Journal(folder, "part", _RUN_NAME).known("a", 1.0)


_SMALL = Recipe("curves", CurvesConfig(rows=64, cols=64, curves=(1, 1), width=(2, 4)), 0)


def _shards(folder: Path) -> list[Path]:
    write_dataset(_SMALL, 1, folder / "set")
    return [folder / "set" / ".mam-make.json", folder / "set" / "part-00000.parquet"]


def _made_again(folder: Path) -> None:
    write_dataset(_SMALL, 1, folder / "set")


KINDS = {
    "uai": Kind(_file("model.uai", UAI), lambda f: read_uai(f / "model.uai"), True),
    "evidence": Kind(_file("some.evid", b"2 0 1 2 2\n"), _evidence, True),
    "png": Kind(_picture("a.png"), lambda f: read_picture(f / "a.png")),
    "png with right sums": Kind(
        _picture("a.png"), lambda f: read_picture(f / "a.png"), mend=_right_sums
    ),
    "jpeg": Kind(_picture("a.jpg"), lambda f: read_picture(f / "a.jpg")),
    "tiff": Kind(_picture("a.tif", compression="tiff_lzw"), lambda f: read_picture(f / "a.tif")),
    "webp": Kind(_picture("a.webp"), lambda f: read_picture(f / "a.webp")),
    "gif": Kind(_picture("a.gif"), lambda f: read_picture(f / "a.gif")),
    "bmp": Kind(_picture("a.bmp"), lambda f: read_picture(f / "a.bmp")),
    "pnm": Kind(_picture("a.ppm"), lambda f: read_picture(f / "a.ppm"), True),
    "npy": Kind(_npy, lambda f: read_picture(f / "a.npy"), True),
    "pixel size": Kind(_ome, lambda f: read_pixel_size(f / "a.tif"), True, refuses=False),
    "pathfinder": Kind(_parquet("pathfinder"), _rows),
    "cabc": Kind(_parquet("cabc"), _rows),
    "objects": Kind(_parquet("objects"), _rows),
    "answers": Kind(_answers, lambda f: list(answers_in(f))),
    "journal": Kind(_journal, _known, True, refuses=False),
    "made by us": Kind(_shards, _made_again, True, refuses=False),
    "curves": Kind(_parquet("curves"), _rows),
    "published pathfinder": Kind(_layout(published_pathfinder, 1), _rows),
    "published cabc": Kind(_layout(published_cabc, 1), _rows),
    "scenes": Kind(_layout(shelf_scene, 1), _rows, True),
    "manifest": Kind(_file("manifest.json", json.dumps(_MANIFEST).encode()), _manifest, True),
    "rivals": Kind(
        _file("h-cnn-pathfinder-easy.json", json.dumps({"runs": {"a": _RUN}}).encode()),
        lambda folder: read_rivals(folder, "pathfinder"),
        True,
    ),
    "queue": Kind(
        _file("slurm.yaml", b"kind: slurm\nworkers: 2\nsettings: {cores: 4, memory: 8GB}\n"),
        lambda folder: queue_settings(str(folder / "slurm.yaml")),
        True,
    ),
}


def answer(kind: Kind, folder: Path) -> str:
    """How a folder is answered; the test fails where that is neither content nor a clear error."""
    began, before = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        kind.read(folder)
        said = "read"
    except (ValueError, OSError) as error:
        assert str(folder) in str(error), repr(error)
        assert len(str(error)) < 1500
        said = "refused"
    assert time.process_time() - began < _MOST_SECONDS
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown * 1024 < _MOST_BYTES
    return said


@pytest.mark.filterwarnings("ignore::UserWarning")  # Pillow's, of metadata that nobody reads
@pytest.mark.parametrize("count", [_FEW, pytest.param(_MANY, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", KINDS)
def test_mutated_files_are_read_or_refused(name: str, count: int, tmp_path: Path) -> None:
    pytest.importorskip("dask_jobqueue" if name == "queue" else "numpy")
    kind = KINDS[name]
    files = kind.make(tmp_path)
    whole = {path: path.read_bytes() for path in files}
    assert answer(kind, tmp_path) == "read"
    said: Counter[str] = Counter()
    for seed in range(count):
        rng = np.random.default_rng([count, seed])
        path = files[rng.integers(len(files))]
        path.write_bytes(kind.mend(mutated(whole[path], rng, kind.text)))
        try:
            said[answer(kind, tmp_path)] += 1
        except Exception as error:
            raise AssertionError(f"{path.name}, count {count}, seed {seed}: {error!r}") from error
        path.write_bytes(whole[path])
    print(said)
    assert not kind.refuses or said["refused"] > 0.05 * count
