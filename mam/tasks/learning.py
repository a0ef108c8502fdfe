"""Elastic graphs from the rows of a data set that are no photographs: letters, or plain masks."""

from collections.abc import Sequence
from dataclasses import replace

from mam.data import AnyRow, CabcRow
from mam.tasks import cabc
from mam.vision.elastic.bank import Bank
from mam.vision.elastic.learn import learn_bank


def learn_objects(rows: Sequence[AnyRow], source: str) -> Bank:
    """Learn a graph from every letter of cABC rows, or from the mask of every other row."""
    if not rows:
        raise ValueError(f"{source}: no rows, so there is nothing to learn from")
    about = {"data": source.rsplit("/", 1)[-1], "rows": len(rows)}
    letters = [row for row in rows if isinstance(row, CabcRow)]
    if len(letters) == len(rows):
        bank = cabc.fit(letters).bank
        assert isinstance(bank, Bank)
        return replace(bank, config={"side": cabc.SIDE}, provenance=about)
    masks = []
    for number, row in enumerate(rows):
        mask = getattr(row, "mask", None)
        if mask is None:
            raise ValueError(f"{source}: row {number} has no mask to learn an object from")
        masks.append(mask)
    return replace(learn_bank(masks), provenance=about)
