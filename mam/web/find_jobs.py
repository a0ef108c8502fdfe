"""Jobs about objects: what `mam find` and `mam learn objects` do, for the page."""

import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from mam.core.defaults import LETTER_ON
from mam.core.model_files import find_model, model_kind
from mam.data.images import read_picture
from mam.data.pixels import grey, rgb
from mam.vision.elastic.letters.finder import Match, ObjectFinder
from mam.vision.elastic.letters.letter_match import THERE
from mam.vision.elastic.photographs.detector import Detection, ObjectDetector
from mam.vision.elastic.photographs.object_bank import KIND
from mam.vision.images.ink import is_photograph
from mam.web.curve_jobs import mask_text
from mam.web.frames import Telling
from mam.web.job import Answer, given_picture

_A = ord("A")


def find(arguments: dict[str, Any], blobs: list[bytes], tell: Telling) -> Answer:
    """Find the objects of a model, a file of the server's or the second blob."""
    pixels = given_picture(arguments, blobs)
    tell("loading the model")
    if len(blobs) > 1:
        kind, detector = KIND, _detector_of(blobs[1])
    else:
        path = find_model(arguments["model"])
        kind, detector = model_kind(path), None
    tell("searching")
    if kind == KIND:
        detector = detector or _detector(path, path.stat().st_mtime_ns)
        colour = rgb(pixels) if pixels.ndim == 3 else grey(pixels)
        found = [_object(one) for one in detector.find(colour, None, arguments["copies"])]
        return {"kind": "objects", "found": found}, []
    finder = _finder(path, path.stat().st_mtime_ns)
    return {"kind": "letters", "found": _letters(finder, grey(pixels), arguments)}, []


def learn(arguments: dict[str, Any], blobs: list[bytes], tell: Telling) -> Answer:
    """Learn an object from one picture and a painted mask; return its model file."""
    pixels = given_picture(arguments, blobs)
    painted = read_picture(blobs[1], "the mask", max_pixels=arguments["pixels"])
    mask = grey(painted) > 127
    if mask.shape != pixels.shape[:2]:
        raise ValueError(
            f"the mask is {mask.shape[0]} x {mask.shape[1]} px, the picture "
            f"{pixels.shape[0]} x {pixels.shape[1]} px: paint it again"
        )
    if not mask.any():
        raise ValueError("the mask is empty: paint over the object first")
    tell("learning")
    colour = rgb(pixels) if pixels.ndim == 3 else grey(pixels)
    detector = ObjectDetector()
    detector.fit([colour], [mask], names=[arguments["object"]])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "object.safetensors"
        detector.save(path)
        content = path.read_bytes()
    vertices = detector.library.model.graphs.vertex_count
    return {"graphs": len(vertices), "vertices": round(float(vertices.mean()), 1)}, [content]


@lru_cache(maxsize=4)
def _detector_of(content: bytes) -> ObjectDetector:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "object.safetensors"
        path.write_bytes(content)
        return ObjectDetector.load(path)


@lru_cache(maxsize=4)
def _detector(path: Path, written: int) -> ObjectDetector:
    return ObjectDetector.load(path)


@lru_cache(maxsize=2)
def _finder(path: Path, written: int) -> ObjectFinder:
    return ObjectFinder.load(path, threshold=LETTER_ON)


def _letters(finder: ObjectFinder, pixels: np.ndarray, arguments: dict) -> list[dict[str, Any]]:
    if is_photograph(pixels):
        raise ValueError(
            f"{arguments['name']} looks like a photograph, and this model finds bright shapes on "
            "black; choose or learn a model of objects"
        )
    return [_letter(one) for one in finder.find(pixels, arguments["copies"])]


def _letter(one: Match) -> dict[str, Any]:
    name = chr(_A + one.category) if 0 <= one.category < 26 else str(one.category)
    return _placed(one.vertices, one.edges, one.pixels, one.margin, one.proof) | {
        "name": name,
        "there": one.there,
        "score": round(one.score, 2),
        "contrast": round(one.contrast, 2),
        "threshold": THERE,
    }


def _object(one: Detection) -> dict[str, Any]:
    proof = one.proof
    return _placed(one.vertices, one.edges, one.mask, one.margin, proof) | {
        "name": one.name,
        "there": one.there,
        "score": round(one.score, 2),
        "threshold": round(one.threshold, 2),
    }


def _placed(
    vertices: np.ndarray, edges: np.ndarray, mask: np.ndarray, margin: float, proof: str | None
) -> dict[str, Any]:
    return {
        "vertices": np.round(vertices.astype(float), 1).tolist(),
        "edges": edges.tolist(),
        "mask": mask_text(mask),
        "pixels": int(mask.sum()),
        "margin": round(margin, 2) if np.isfinite(margin) else None,
        "proof": proof,
    }


def warm_find(arguments: dict[str, Any], blobs: list[bytes], tell: Telling) -> Answer:
    """Compile what the first search for letters needs, and prepare their graphs."""
    from mam.web.samples import sample_png

    asked = {"name": "letters", "pixels": 1 << 20, "model": "letters", "copies": 2}
    return find(asked, [sample_png("letters")], tell)
