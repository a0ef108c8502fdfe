"""Reading models in the UAI format of the inference competitions (MARKOV and BAYES).

A model file lists the number of states of each variable, the scope of each factor, and each
factor's potentials, the last variable of the scope changing fastest. Potentials stand there as they
are; here they are natural logarithms, and a potential of 0 is -inf.
"""

from os import PathLike
from pathlib import Path

import numpy as np

from mam.core.limits import UAI_FREE_STATES
from mam.factors import Ragged
from mam.models.uai.numbers import Numbers
from mam.models.uai.to_graph import AlikeTables, assemble
from mam.models.uai.uai_model import UaiModel


def read_uai(path: str | PathLike) -> UaiModel:
    """Read a model; a broken file is refused with the line that breaks it."""
    place = Path(path)
    text = place.read_bytes()
    head = text[:64].split()
    if not head:
        raise ValueError(f"{place} is empty; a UAI file starts with MARKOV or BAYES")
    if head[0].upper() not in (b"MARKOV", b"BAYES"):
        shown = head[0][:20].decode("ascii", "backslashreplace")
        raise ValueError(f"{place}, line 1: a UAI file starts with MARKOV or BAYES, not {shown!r}")
    numbers = Numbers.read(place, text, skip=1)
    states, start = _read_states(numbers)
    scopes, start = _read_scopes(numbers, start, len(states))
    firsts = _read_tables(numbers, start, scopes, states)
    _check_free(numbers, states, scopes)
    return _assemble(states, scopes, numbers.values, firsts)


def _read_states(numbers: Numbers) -> tuple[np.ndarray, int]:
    if not len(numbers):
        raise ValueError(f"{numbers.path}, line 1: the file ends after its first word")
    count = numbers.count(0, "variables")
    states = numbers.whole_numbers(1, count, "the number of states of a variable")
    wrong = np.flatnonzero(states < 1)
    if wrong.size:
        at = int(wrong[0])
        raise numbers.error(1 + at, f"variable {at} has {states[at]} states; it needs at least 1")
    return states, 1 + count


def _read_scopes(numbers: Numbers, start: int, variables: int) -> tuple[Ragged, int]:
    """Read the scopes; each begins with its length, so they are walked one by one."""
    factors = numbers.count(start, "factors")
    at, end = start + 1, len(numbers)
    values, firsts, lengths = numbers.values.tolist(), [], []
    for factor in range(factors):
        length = values[at] if at < end else np.nan
        if not (0 <= length < end - at and length == int(length)):
            length = numbers.count(at, f"variables in the scope of factor {factor}")
        firsts.append(at + 1)
        lengths.append(int(length))
        at += 1 + int(length)
    offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    inside = np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)
    places = np.repeat(np.array(firsts, np.int64), lengths) + inside
    scopes = Ragged(_scope_values(numbers, places, variables), offsets)
    _check_twice(numbers, scopes, places, variables)
    return scopes, at


def _scope_values(numbers: Numbers, places: np.ndarray, variables: int) -> np.ndarray:
    named = numbers.values[places]
    wrong = np.flatnonzero(~((named == np.floor(named)) & (named >= 0) & (named < variables)))
    if wrong.size:
        at = int(wrong[0])
        raise numbers.error(
            int(places[at]),
            f"a scope names variable {named[at]:g}, but they count from 0 to {variables - 1}",
        )
    return named.astype(np.int64)


def _check_twice(numbers: Numbers, scopes: Ragged, places: np.ndarray, variables: int) -> None:
    keys = scopes.row_of_value * variables + scopes.values
    order = np.argsort(keys, kind="stable")
    twice = np.flatnonzero(keys[order][1:] == keys[order][:-1])
    if twice.size:
        at = int(order[twice + 1].min())
        raise numbers.error(
            int(places[at]),
            f"factor {scopes.row_of_value[at]} names variable {scopes.values[at]} twice",
        )


def _read_tables(numbers: Numbers, start: int, scopes: Ragged, states: np.ndarray) -> np.ndarray:
    """Check the tables and return the place of the first potential of each."""
    # In floating point, because the product of a hostile scope overflows whole numbers.
    sizes = np.ones(len(scopes))
    with np.errstate(over="ignore"):
        np.multiply.at(sizes, scopes.row_of_value, states[scopes.values].astype(np.float64))
    announced_at = start + np.concatenate([[0], np.cumsum(1 + sizes)])[:-1]
    inside = announced_at < len(numbers)
    announced = numbers.values[announced_at[inside].astype(np.int64)]
    wrong = np.flatnonzero(announced != sizes[inside])
    if wrong.size:
        factor = int(wrong[0])
        raise numbers.error(
            int(announced_at[factor]),
            f"factor {factor} announces {announced[factor]:g} potentials, "
            f"but the states of its scope multiply to {sizes[factor]:g}",
        )
    needed = start + float(np.sum(1 + sizes))
    if needed > len(numbers):
        raise numbers.error(
            len(numbers) - 1,
            f"the file ends here, but its tables need {needed - len(numbers):g} more numbers",
        )
    if needed < len(numbers):
        raise numbers.error(int(needed), "nothing may follow the last table")
    _check_potentials(numbers, start, announced_at)
    return announced_at.astype(np.int64) + 1


def _check_potentials(numbers: Numbers, start: int, announced_at: np.ndarray) -> None:
    """Refuse what is no potential; the announced sizes are positive and pass as well."""
    wrong = np.flatnonzero(~((numbers.values[start:] >= 0) & np.isfinite(numbers.values[start:])))
    if wrong.size:
        at = start + int(wrong[0])
        factor = int(np.searchsorted(announced_at, at, "right")) - 1
        raise numbers.error(
            at,
            f"factor {factor} has the potential {numbers.values[at]:g}; "
            "potentials are finite and at least 0",
        )


def _check_free(numbers: Numbers, states: np.ndarray, scopes: Ragged) -> None:
    free = np.ones(len(states), bool)
    free[scopes.values] = False
    total = np.cumsum(np.where(free, states, 0).astype(np.float64))
    wrong = np.flatnonzero(total > UAI_FREE_STATES)
    if wrong.size:
        at = int(wrong[0])
        raise numbers.error(
            1 + at,
            f"variable {at} has {states[at]} states but stands in no factor; such variables "
            f"may have {UAI_FREE_STATES} states together",
        )


def _assemble(
    states: np.ndarray, scopes: Ragged, values: np.ndarray, firsts: np.ndarray
) -> UaiModel:
    """Take logarithms, of the tables with one shape at once."""
    # An axis of one state does not change the order of a table, so it is simply left out.
    kept = states[scopes.values] > 1
    lengths = np.bincount(scopes.row_of_value[kept], minlength=len(scopes))
    offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    free = Ragged(scopes.values[kept], offsets)
    with np.errstate(divide="ignore"):
        constant = float(np.log(values[firsts[lengths == 0]]).sum())
    tables: list[AlikeTables] = []
    for arity in np.unique(lengths[lengths > 0]):
        rows = np.flatnonzero(lengths == arity)
        scope = free.rectangle(rows, int(arity))
        shapes, which = np.unique(states[scope], axis=0, return_inverse=True)
        for i, shape in enumerate(shapes):
            mine = which.ravel() == i
            cells = firsts[rows[mine]][:, None] + np.arange(int(np.prod(shape)))
            with np.errstate(divide="ignore"):
                tables.append((scope[mine], np.log(values[cells]).reshape(-1, *shape)))
    return assemble(states, tables, constant)
