"""The plugin for napari: its manifest is valid, and what its widget does without a window."""

import tomllib
import warnings
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import mam
from mam.plugin.widget import group_curves

ROOT = Path(mam.__file__).parent
MANIFEST = ROOT / "plugin" / "napari.yaml"


@dataclass
class Image:
    """As much of a layer as the widget looks at."""

    data: np.ndarray
    name: str = "scan"
    scale: tuple[float, ...] = (0.5, 0.5)
    translate: tuple[float, ...] = (3.0, 4.0)


class Labels(Image):
    pass


class Points(Image):
    pass


def cross() -> np.ndarray:
    mask = np.zeros((80, 90), bool)
    mask[38:42, 5:85] = mask[5:75, 43:47] = True
    return mask


def test_the_manifest_is_valid() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of pydantic, about npe2
        import npe2

        found = npe2.PluginManifest.from_file(MANIFEST)
    project = tomllib.loads((ROOT.parent / "pyproject.toml").read_text())["project"]
    entries = project["entry-points"]["napari.manifest"]
    assert entries == {found.name: "mam.plugin:napari.yaml"} and found.name == project["name"]
    [command], [widget] = found.contributions.commands, found.contributions.widgets
    assert widget.command == command.id and widget.autogenerate
    module, name = command.python_name.split(":")
    assert getattr(import_module(module), name) is group_curves
    found.validate_imports()


PICTURES = {
    "dark": np.where(cross(), 30, 220).astype(np.uint8),
    "16 bit": np.where(cross(), 900, 120).astype(np.uint16),
    "any numbers": np.where(cross(), 7.5, -3.0),
    "colour": np.where(cross()[..., None], (200, 30, 30), (250, 250, 250)).astype(np.uint8),
}


@pytest.mark.parametrize("kind", [*PICTURES, "labels"])
def test_shapes_and_labels_come_out(kind: str) -> None:
    layer = Labels(cross() * 7) if kind == "labels" else Image(PICTURES[kind])
    (lines, shapes, first), (pixels, labels, second) = group_curves(layer)
    assert (first, second) == ("shapes", "labels")
    assert len(lines) == 2 and all(line.shape[1] == 2 for line in lines)
    assert shapes["shape_type"] == "path" and len(shapes["edge_width"]) == 2
    assert shapes["features"]["crossings"] == [1, 1] and shapes["edge_color"].shape == (2, 3)
    for about in (shapes, labels):
        assert about["scale"] == (0.5, 0.5) and about["translate"] == (3.0, 4.0)
    assert set(np.unique(pixels)) == {0, 1, 2}
    assert ((pixels > 0) == cross()).mean() > 0.99


def test_wrong_layers_are_named() -> None:
    with pytest.raises(ValueError, match="open an image first"):
        group_curves(None)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="scan: is a layer of points; choose an image or labels"):
        group_curves(Points(np.zeros((4, 2))))
    with pytest.raises(ValueError, match="scan: has 3 dimensions"):
        group_curves(Image(np.zeros((5, 20, 20), np.uint8)))
    with pytest.raises(ValueError, match="one grey value"):
        group_curves(Image(np.zeros((20, 20), np.uint8)))
