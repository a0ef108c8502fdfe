"""Elastic graphs from the rows of a data set that are no photographs: letters, or plain masks."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain, islice

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
    first = list(islice(coming, 1))
    every = chain(first, coming)
    if learns_letters(first, source, preset):
        bank = cabc.fit(_letters(every, source), advance, preset).bank_
        return told_of(bank, source, preset)
    bank = learn_masks((f"{source}: row {number}", row) for number, row in enumerate(every))
    advance(len(bank))
    return told_of(bank, source)


def learns_letters(rows: Iterable[AnyRow], source: str, preset: str) -> bool:
    """Whether rows that begin so are letters, for a preset, and not plain masks."""
    first = next(iter(rows), None)
    if first is None:
        raise ValueError(f"{source}: no rows, so there is nothing to learn from")
    if isinstance(first, CabcRow):
        return True
    if preset != "best":
        raise ValueError(f"{source}: presets are for cABC; plain masks are learned the best way")
    return False


def learn_masks(rows: Iterable[tuple[str, AnyRow]]) -> Bank:
    """A graph from the mask of every row, by its name."""
    masks, names = [], []
    for name, row in rows:
        mask = getattr(row, "mask", None)
        if mask is None:
            raise ValueError(f"{name} has no mask to learn an object from")
        masks.append(mask)
        names.append(f"{name}: the mask")
    return learn_bank(masks, names=names)


def told_of(bank: Bank, source: str, letters: str | None = None) -> Bank:
    """A bank that says from what it was learned; of letters, by which preset."""
    config = {} if letters is None else {"side": LETTER_SIDE, "preset": letters}
    return replace(bank, config=config, provenance={"data": source.rsplit("/", 1)[-1]})


def _letters(rows: Iterable[AnyRow], source: str) -> Iterator[CabcRow]:
    for number, row in enumerate(rows):
        if not isinstance(row, CabcRow):
            raise ValueError(f"{source}: row {number} is not of cABC, as the first one is")
        yield row
