"""The widget of the plugin. napari makes its form from the arguments."""

from typing import TYPE_CHECKING

from mam.core.limits import INK_PIECES
from mam.plugin.napari_layers import curve_layers

if TYPE_CHECKING:
    import napari.layers  # type: ignore[import-not-found]
    import napari.types  # type: ignore[import-not-found]


def group_curves(
    layer: "napari.layers.Layer",
    ink: str = "auto",
    bridging: float = 1.0,
    simplify: float = 0.5,
    most: int = INK_PIECES,
) -> "list[napari.types.LayerDataTuple]":
    """Group the lines of an image, or of a labels layer, into curves: shapes and labels.

    ``ink`` is auto, dark, light or a colour, R,G,B; the others are those of `mam group`.
    """
    if layer is None:
        raise ValueError("there is no layer: open an image first")
    kind = type(layer).__name__.lower()
    if kind not in ("image", "labels"):
        raise ValueError(f"{layer.name}: is a layer of {kind}; choose an image or labels")
    return curve_layers(
        layer.data,
        labels=kind == "labels",
        name=layer.name,
        scale=tuple(layer.scale),
        translate=tuple(layer.translate),
        ink=ink,
        bridging=bridging,
        simplify=simplify,
        most=most,
    )
