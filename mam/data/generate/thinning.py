"""From a filled shape to the polylines along its middle."""

import numpy as np
from jaxtyping import Bool, Float

_TOLERANCE = 1.0  # px a simplified polyline may leave the skeleton
_SPUR = 0.06  # of the shape's height: shorter dead ends come from corners, not from strokes

_Pixel = tuple[int, int]
_Graph = dict[_Pixel, list[_Pixel]]


def thin_to_strokes(shape: Bool[np.ndarray, "rows cols"]) -> list[Float[np.ndarray, "_ 2"]]:
    """Polylines (row, col) along the middle of a filled shape.

    >>> bar = np.zeros((30, 80), bool)
    >>> bar[12:17, 10:70] = True
    >>> [line.shape for line in thin_to_strokes(bar)]
    [(2, 2)]
    """
    # Imported here: it takes longer than everything else, and only new faces need it.
    from skimage.measure import approximate_polygon
    from skimage.morphology import skeletonize

    if not shape.any():
        raise ValueError("an empty shape has no strokes")
    graph = _neighbours(skeletonize(shape))
    least = _SPUR * np.ptp(np.nonzero(shape)[0])
    paths = _merge(_drop_spurs(_paths(graph), least))
    if not paths:
        # A blob thins to a point; a letter's dot is drawn as a short dash.
        row, col = np.argwhere(shape).mean(axis=0)
        return [np.array([[row, col - 0.5], [row, col + 0.5]])]
    return [approximate_polygon(np.array(path, dtype=float), _TOLERANCE) for path in paths]


def _neighbours(skeleton: Bool[np.ndarray, "rows cols"]) -> _Graph:
    """Adjacent skeleton pixels; a diagonal counts only where no straight step does the same."""
    pixels = {(int(row), int(col)) for row, col in np.argwhere(skeleton)}
    graph: _Graph = {}
    for row, col in pixels:
        straight = [(row - 1, col), (row + 1, col), (row, col - 1), (row, col + 1)]
        near = [pixel for pixel in straight if pixel in pixels]
        for down in (-1, 1):
            for right in (-1, 1):
                corner = (row + down, col + right)
                if corner in pixels and not {(row + down, col), (row, col + right)} & pixels:
                    near.append(corner)
        graph[row, col] = near
    return graph


def _walk(graph: _Graph, start: _Pixel, step: _Pixel, used: set[frozenset[_Pixel]]) -> list[_Pixel]:
    """Follow the skeleton until a crossing, an end, or the start again."""
    path = [start, step]
    used.add(frozenset((start, step)))
    while len(graph[path[-1]]) == 2 and path[-1] != start:
        following = [p for p in graph[path[-1]] if frozenset((p, path[-1])) not in used]
        if not following:
            break
        used.add(frozenset((path[-1], following[0])))
        path.append(following[0])
    return path


def _paths(graph: _Graph) -> list[list[_Pixel]]:
    """Every stretch of skeleton between two crossings or ends, then the closed loops."""
    used: set[frozenset[_Pixel]] = set()
    found = []
    ends = sorted(pixel for pixel in graph if len(graph[pixel]) != 2)
    for start in [*ends, *sorted(graph)]:
        for step in graph[start]:
            if frozenset((start, step)) not in used:
                found.append(_walk(graph, start, step, used))
    return found


def _drop_spurs(paths: list[list[_Pixel]], least: float) -> list[list[_Pixel]]:
    """Remove short stretches with one loose end; a free-standing short stretch stays."""
    touching: dict[_Pixel, int] = {}
    for path in paths:
        for end in (path[0], path[-1]):
            touching[end] = touching.get(end, 0) + 1

    def is_spur(path: list[_Pixel]) -> bool:
        loose = [touching[end] == 1 for end in (path[0], path[-1])]
        return bool(len(path) < least) and sum(loose) == 1

    return [path for path in paths if not is_spur(path)]


def _merge(paths: list[list[_Pixel]]) -> list[list[_Pixel]]:
    """Join two stretches where they alone meet, so that a removed spur leaves no seam."""
    paths = [list(path) for path in paths]
    merged = True
    while merged:
        merged = False
        ends: dict[_Pixel, list[int]] = {}
        for index, path in enumerate(paths):
            if path[0] != path[-1]:
                ends.setdefault(path[0], []).append(index)
                ends.setdefault(path[-1], []).append(index)
        for pixel, meeting in ends.items():
            if len(meeting) == 2 and meeting[0] != meeting[1]:
                first, second = paths[meeting[0]], paths[meeting[1]]
                first = first if first[-1] == pixel else first[::-1]
                second = second if second[0] == pixel else second[::-1]
                paths[meeting[0]] = first + second[1:]
                del paths[meeting[1]]
                merged = True
                break
    return paths
