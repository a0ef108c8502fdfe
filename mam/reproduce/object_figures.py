"""Figures of the experiment on photographs: edges, and objects found in them, as HTML."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mam.data import ObjectRow
from mam.reproduce.drawn_answers import ShownRow
from mam.show.objects import draw_detections, draw_edges
from mam.show.page import figure, figures, picture
from mam.vision.elastic.photographs.detector import ObjectDetector
from mam.vision.elastic.photographs.outline import iou
from mam.vision.images.photo_edges import as_channels, find_edges


def draw_answers(shown: Sequence[ShownRow], detector: ObjectDetector) -> str:
    """Draw the edges of a picture, and the object of its row where it was found."""
    drawn = []
    for one in shown:
        row = one.row
        assert isinstance(row, ObjectRow)
        edges = find_edges(as_channels(row.image))
        colours = draw_edges(np.asarray(edges.strength), np.asarray(edges.type))
        drawn.append(figure(picture(colours, "edges"), f"Edges; hue is direction ({one.number})"))
        [found] = [one for one in detector.find(row.image) if one.name == row.name]
        doubt = "" if found.there else ", taken for absent"
        caption = f"{row.name}, IoU {iou(found.mask, row.mask):.2f}{doubt} (row {one.number})"
        # What is taken for absent is drawn as well: it shows what went wrong.
        pixels = draw_detections(row.image, [replace(found, there=True)])
        drawn.append(figure(picture(pixels, row.name), caption, one.verdict))
    return figures(drawn)
