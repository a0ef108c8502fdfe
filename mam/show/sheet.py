"""Contact sheets: rows of a data set side by side with what is known about them."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, UInt8
from PIL import Image, ImageDraw

from mam.core.svg import PALETTE
from mam.data.pixels import black_and_white, rgb, shown
from mam.data.read.published import PublishedPathfinderRow
from mam.data.read.readers import AnyRow
from mam.data.schema import CabcRow, CurvesRow, ObjectRow, PathfinderRow

Picture = UInt8[np.ndarray, "_ _ 3"]

_CAPTION = 14  # px of a panel row's caption
_GAP = 4  # px between panels


def colour_labels(labels: UInt8[np.ndarray, "rows cols"]) -> Picture:
    """A colour for every number, black for 0.

    >>> colour_labels(np.array([[0, 1]], np.uint8)).tolist()
    [[[0, 0, 0], [230, 159, 0]]]
    """
    colours = np.concatenate([np.zeros((1, 3), np.uint8), np.resize(PALETTE, (255, 3))])
    return colours[labels]


def tint(picture: Picture, mask: Bool[np.ndarray, "rows cols"]) -> Picture:
    """The picture with everything outside the mask darkened."""
    return np.where(mask[..., None], picture, picture // 4).astype(np.uint8)


def row_panels(row: AnyRow) -> tuple[str, list[Picture]]:
    """A caption and the pictures that show one row."""
    if isinstance(row, PathfinderRow):
        caption = f"label {row.label}  markers {row.markers.tolist()}"
        return caption, [rgb(row.image), colour_labels(row.contours)]
    if isinstance(row, CabcRow):
        names = "".join(chr(ord("A") + int(c)) for c in row.categories)
        return f"label {row.label}  {names}", [rgb(row.image), colour_labels(row.letters)]
    if isinstance(row, CurvesRow):
        mask = rgb(black_and_white(row.mask))
        return f"{int(row.labels.max())} curves", [mask, colour_labels(row.labels)]
    if isinstance(row, ObjectRow):
        image = rgb(row.image)
        return f"{row.scene} frame {row.frame} {row.name}", [image, tint(image, row.mask)]
    image = rgb(shown(row.image) if row.image.ndim == 2 else row.image)
    if isinstance(row, PublishedPathfinderRow):
        return f"{row.name} label {row.label}  markers {row.markers.tolist()}", [image]
    return row.name, [image] if row.mask is None else [image, tint(image, row.mask)]


def contact_sheet(entries: Sequence[tuple[str, Sequence[Picture]]], columns: int = 3) -> Picture:
    """One picture of many: `columns` entries side by side, each a caption over its panels.

    >>> black = np.zeros((20, 30, 3), np.uint8)
    >>> contact_sheet([("one", [black]), ("two", [black])], columns=2).shape
    (42, 72, 3)
    """
    if not entries:
        raise ValueError("a contact sheet needs at least one row")
    blocks = [_block(caption, panels) for caption, panels in entries]
    height = max(block.shape[0] for block in blocks) + _GAP
    width = max(block.shape[1] for block in blocks) + _GAP
    columns = min(columns, len(blocks))
    lines = -(-len(blocks) // columns)
    sheet = np.full((lines * height + _GAP, columns * width + _GAP, 3), 40, np.uint8)
    for index, block in enumerate(blocks):
        top = index // columns * height + _GAP
        left = index % columns * width + _GAP
        sheet[top : top + block.shape[0], left : left + block.shape[1]] = block
    return sheet


def _block(caption: str, panels: Sequence[Picture]) -> Picture:
    """Panels side by side under their caption."""
    height = max(panel.shape[0] for panel in panels)
    width = sum(panel.shape[1] for panel in panels) + _GAP * (len(panels) - 1)
    block = np.full((height + _CAPTION, width, 3), 40, np.uint8)
    left = 0
    for panel in panels:
        block[_CAPTION : _CAPTION + panel.shape[0], left : left + panel.shape[1]] = panel
        left += panel.shape[1] + _GAP
    strip = Image.fromarray(np.ascontiguousarray(block[:_CAPTION]))
    # The built-in bitmap font knows Latin-1 only.
    text = caption.encode("latin-1", "replace").decode("latin-1")
    ImageDraw.Draw(strip).text((2, 1), text, fill=(230, 230, 230))
    block[:_CAPTION] = np.asarray(strip)
    return block
