"""Group a drawing: two dashed lines that cross, in a picture of our own.

The bundled contour model says which dashes continue which, whether two points are on one line, and
how sure it is.
"""

import numpy as np
from PIL import Image, ImageDraw

from mam.tasks.drawing import group_drawing


def dashed_cross() -> np.ndarray:
    """Dark dashes on light paper: one line across, one down."""
    page = Image.new("L", (160, 160), 240)
    pen = ImageDraw.Draw(page)
    # The lines cross at (80, 80), in a gap of both: nobody draws what belongs to whom.
    for start in range(17, 140, 11):
        pen.line([(start, 80), (start + 5, 80)], fill=20, width=2)
        pen.line([(80, start), (80, start + 5)], fill=20, width=2)
    return np.asarray(page)


def main() -> None:
    picture = dashed_cross()
    across = group_drawing(picture, markers=[[80, 18], [80, 140]])
    corner = group_drawing(picture, markers=[[80, 18], [18, 80]])
    print(f"assumed: {across.assumed}")
    print(f"{len(across.lines)} lines of {across.strokes} dashes")
    assert across.same is not None and corner.same is not None
    print(f"left and right are on one line: {across.same.same}")
    print(f"left and top are on one line: {corner.same.same}")


if __name__ == "__main__":
    main()
