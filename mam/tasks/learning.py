"""Elastic graphs from the rows of a data set that are no photographs: letters, or plain masks."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain

from mam.core.progress import Advance
from mam.data import AnyRow, CabcRow
from mam.tasks import cabc
from mam.vision.elastic.bank import Bank
from mam.vision.elastic.letters.letter_learning import learn_bank
from mam.vision.parts.training import LETTER_SIDE


def learn_objects(
    rows: Iterable[AnyRow],
    source: str,
    advance: Advance = lambda count: None,
    preset: str = "best",
) -> Bank:
    """Learn a graph from every letter of cABC rows, or from the mask of every other row."""
    coming = iter(rows)
    first = next(coming, None)
    if first is None:
        raise ValueError(f"{source}: no rows, so there is nothing to learn from")
    about, every = {"data": source.rsplit("/", 1)[-1]}, chain([first], coming)
    if isinstance(first, CabcRow):
        bank = cabc.fit(_letters(every, source), advance, preset).bank_
        config = {"side": LETTER_SIDE, "preset": preset}
        return replace(bank, config=config, provenance=about)
    if preset != "best":
        raise ValueError(f"{source}: presets are for cABC; plain masks are learned the best way")
    masks = []
    for number, row in enumerate(every):
        mask = getattr(row, "mask", None)
        if mask is None:
            raise ValueError(f"{source}: row {number} has no mask to learn an object from")
        masks.append(mask)
    names = [f"{source}: the mask of row {number}" for number in range(len(masks))]
    bank = learn_bank(masks, names=names)
    advance(len(masks))
    return replace(bank, provenance=about)


def _letters(rows: Iterable[AnyRow], source: str) -> Iterator[CabcRow]:
    for number, row in enumerate(rows):
        if not isinstance(row, CabcRow):
            raise ValueError(f"{source}: row {number} is not of cABC, as the first one is")
        yield row
