"""A small model file of every kind, and what reads it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np

from mam.core.model_files import bundled_file
from mam.rivals.files import (
    Checkpoint,
    Stored,
    load_checkpoint,
    load_rival,
    save_checkpoint,
    save_rival,
)
from mam.rivals.networks import network_of
from mam.rivals.settings import Settings
from mam.rivals.train import start
from mam.vision.curves.chain_model import ContourPotentials
from mam.vision.curves.strands.curve_grouper import CurveGrouper
from mam.vision.curves.strokes.co_occurrences import CoOccurrences
from mam.vision.curves.strokes.contour_grouper import ContourGrouper
from mam.vision.elastic.bank import Bank
from mam.vision.elastic.photographs.object_bank import ObjectBank
from mam.vision.parts.masks import Parts
from tests.vision.elastic.shapes import random_bank

Load = Callable[[Path], Any]
SETTINGS = Settings("h-cnn", "pathfinder", 64, "0" * 8, side=16)
LOADS: dict[str, Load] = {
    "parts": Parts.load,
    "contours": ContourGrouper.load,
    "paper": ContourGrouper.load,
    "curves": CurveGrouper.load,
    "letters": Bank.load,
    "objects": ObjectBank.load,
    "rival": load_rival,
    "checkpoint": lambda path: load_checkpoint(path, SETTINGS),
}


def paper_contours() -> ContourGrouper:
    """Two co-occurrences of two bars."""
    masks = np.zeros((2, 5, 5), bool)
    masks[0, 2], masks[1, :, 2] = True, True
    grouper = ContourGrouper(Parts(masks), preset="paper", potentials=ContourPotentials())
    key = np.array([(1 << 32) | (0x8003 << 16) | 0x8002, (1 << 48) | (1 << 32) | 0x80058001])
    grouper.continuation_ = CoOccurrences(key, np.array([3, 4]), np.array([[0, 1], [1, 0]]))
    grouper.provenance_ = {"images": 2, "neighbours": 7}
    return grouper


def two_objects() -> ObjectBank:
    """Graphs of two objects, with random types."""
    rng = np.random.default_rng(0)
    bank = random_bank(0)
    there = np.arange(bank.vertices.shape[1]) < bank.vertex_count[:, None]
    kinds = np.where(there, rng.integers(0, 16, there.shape), 0).astype(np.uint8)
    graphs = Bank(**{**vars(bank), "type": kinds, "config": {"side": 640}})
    return ObjectBank(graphs, rng.random((5, 8, 2)), ("cup", "pen"), np.ones(2), {"pictures": 5})


def write_all(folder: Path) -> dict[str, Path]:
    """Write a file of every kind."""
    paths = {name: folder / f"{name}.safetensors" for name in LOADS}
    for name, source in (("parts", "pathfinder-parts"), ("contours",) * 2, ("curves",) * 2):
        paths[name].write_bytes(bundled_file(f"{source}.safetensors").read_bytes())
    paper_contours().save(paths["paper"])
    random_bank(0).save(paths["letters"])
    two_objects().save(paths["objects"])
    network = network_of("h-cnn", 0, 16)
    about = {"settings": SETTINGS.as_dict(), "seconds": 1.5, "loss": 0.7}
    config = {"network": "h-cnn", "task": "pathfinder", "side": 16}
    stored = Stored(network, jax.tree.map(np.asarray, network.moments()), config, about)
    save_rival(paths["rival"], stored, np.ones(3, np.float32))
    kept = Checkpoint(start(SETTINGS), 2, 1.5, np.ones(1, np.float32))
    save_checkpoint(paths["checkpoint"], kept, SETTINGS)
    return paths
