"""What is wrong with charts: how many lines each arc has, which lanes go on in which, or the lanes.

``python -m bench.chart_causes FILE`` groups rows with a mask for each line four times: as always,
with the true counts of lines, with the true links wherever lanes tell, and with both. What is wrong
with both is beyond the model: lines that lie on each other, and pixels at the border of two. With
``--appearance`` pictures are looked at as well.
"""

import argparse
from collections.abc import Sequence

import numpy as np

from mam.data import CurvesRow
from mam.tasks.curves import curves_report, scores_of
from mam.tasks.rows import rows_of_kind
from mam.vision.curves.chain_model import Links
from mam.vision.curves.courses import Contour
from mam.vision.curves.strands.appearance import SeenPicture
from mam.vision.curves.strands.curve_grouper import CurveGrouper, Described
from mam.vision.curves.strands.lane_drawing import describe_lanes
from mam.vision.curves.strands.lane_truth import following_lanes, passing_lines
from mam.vision.curves.strands.line_counts import find_line_counts
from mam.vision.curves.strands.mask_courses import courses_of
from mam.vision.curves.strands.strand_continuation import StrandContinuation
from mam.vision.curves.strands.strand_drawing import StrandSketch

_SURE = 60.0  # log odds of what is known


class _Knowing(CurveGrouper):
    """Groups one chart, of which more is known. Gaps between lanes are left open."""

    courses: Sequence[Contour] = ()
    known: Sequence[str] = ()

    def _described(
        self, drawn: StrandSketch, picture: SeenPicture | None, continuation: StrandContinuation
    ) -> Described:
        if (chart := drawn.chart(picture)) is None:
            return super()._described(drawn, picture, continuation)
        if "counts" in self.known:
            counts = passing_lines(chart, self.courses)
        else:
            counts = find_line_counts(chart.arcs, continuation.single(chart)).each
        lanes = describe_lanes(chart, counts, picture)
        odds = continuation.lane_odds(lanes)
        if "links" in self.known:
            following = following_lanes(lanes, chart, self.courses)[lanes.pair[:, 0]]
            sure = np.where(following == lanes.pair[:, 1], _SURE, -_SURE)
            odds = np.where(following >= 0, sure, odds)
        side = np.tile(np.array([[1, 0]]), (len(lanes.pair), 1))
        links = Links(lanes.pair, side, odds, lanes.passage)
        return Described(lanes.strands, links, lanes.pens(picture), None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file")
    parser.add_argument("--appearance", action="store_true")
    asked = parser.parse_args()
    rows = list(rows_of_kind(asked.file, CurvesRow, "image of curves"))
    for known in ([], ["counts"], ["links"], ["counts", "links"]):
        measured = _measured(rows, known, asked.appearance)
        print(f"{' and '.join(known) or 'nothing'} known: {measured}", flush=True)


def _measured(rows: Sequence[CurvesRow], known: Sequence[str], appearance: bool) -> str:
    grouper = _Knowing.load("curves")
    assert isinstance(grouper, _Knowing)
    grouper.known = known
    scored = []
    for number, row in enumerate(rows):
        if row.masks is None:
            raise ValueError(f"row {number} has no mask for each line")
        grouper.courses = courses_of(row.masks)
        scored += scores_of([row], grouper, "mask", [f"row {number}"], appearance)
    figures = curves_report(scored, 0.0).figures
    return f"Dice {figures['dice']}, right {figures['right']}"


if __name__ == "__main__":
    main()
