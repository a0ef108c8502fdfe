"""The statistics by which a generated data set is compared with a published one."""

import numpy as np
from scipy import ndimage

from mam.data import CabcRow, PathfinderRow

ON_PATHFINDER = 26
ON_CABC = 12  # 0.05 of 255


def _forward(contour) -> np.ndarray:
    """Forward orientation of every stroke (all but the first are stored pointing back)."""
    angles = np.array([stroke.angle for stroke in contour])
    angles[1:] += np.pi
    return angles


def pathfinder_stats(row: PathfinderRow) -> dict[str, list[float]]:
    on = row.clean > ON_PATHFINDER
    strokes, components = [], ndimage.label(on, np.ones((3, 3)))
    for part in ndimage.find_objects(components[0]):
        rows, cols = np.nonzero(on[part])
        strokes.append(float(np.hypot(np.ptp(rows), np.ptp(cols)) + 1))
    turns, lengths = [], []
    for contour in row.segments:
        points = np.array([(stroke.row, stroke.col) for stroke in contour], float)
        lengths.append(float(np.hypot(*np.diff(points, axis=0).T).sum()))
        turn = np.diff(_forward(contour))
        turns += np.abs((turn + np.pi) % (2 * np.pi) - np.pi).tolist()
    return {
        "ON pixels": [float(on.sum())],
        "connected components": [float(components[1])],
        "contours": [float(len(row.segments))],
        "strokes": [float(sum(map(len, row.segments)))],
        "stroke length (px)": strokes,
        "long contour length (px)": lengths[:2],
        "distractor length (px)": lengths[2:],
        "turn angle (rad)": turns,
        "marker distance (px)": [float(np.hypot(*(row.markers[0] - row.markers[1])))],
        "label": [float(row.label)],
    }


def cabc_stats(row: CabcRow) -> dict[str, list[float]]:
    masks = [(row.letters & bit) > 0 for bit in (1, 2)]
    heights, widths, pixels, centres, grown = [], [], [], [], []
    for mask in masks:
        rows, cols = np.nonzero(mask)
        heights.append(float(np.ptp(rows) + 1))
        widths.append(float(np.ptp(cols) + 1))
        pixels.append(float(mask.sum()))
        centres.append([(rows.min() + rows.max()) / 2, (cols.min() + cols.max()) / 2])
        grown.append(ndimage.distance_transform_edt(~mask) <= 10)
    shared = (grown[0] & grown[1]).sum()
    return {
        "ON pixels": [float((row.image > ON_CABC).sum())],
        "letter pixels": pixels,
        "letter height (px)": heights,
        "letter width (px)": widths,
        "overlap of dilated letters": [float(shared / mask.sum()) for mask in grown],
        "letter-centre distance (px)": [float(np.hypot(*np.subtract(*centres)))],
        "marker distance (px)": [float(np.hypot(*(row.markers[0] - row.markers[1])))],
        "label": [float(row.label)],
    }
