"""Evidence files: which variables were observed in which states.

``2 5 1 7 0`` says that variable 5 is in state 1 and variable 7 in state 0. An older form has the
number of samples in front, of which only one is meaningful here.
"""

from os import PathLike
from pathlib import Path

import numpy as np

from mam.core.whole_files import write_whole
from mam.models.uai.numbers import Numbers
from mam.models.uai.uai_model import Observed, UaiModel, check_observed


def read_uai_evidence(path: str | PathLike, model: UaiModel | None = None) -> dict[int, int]:
    """Read the observed states by variable; with a model, refuse what it does not have."""
    place = Path(path)
    numbers = Numbers.read(place, place.read_bytes())
    if not len(numbers):
        raise ValueError(f"{place} is empty; without evidence it should hold a single 0")
    start = _first_pair(numbers)
    pairs = numbers.whole_numbers(start, len(numbers) - start, "evidence").reshape(-1, 2)
    observed: dict[int, int] = {}
    for i, (variable, state) in enumerate(pairs.tolist()):
        if variable in observed:
            raise numbers.error(start + 2 * i, f"variable {variable} is observed twice")
        observed[variable] = state
        if min(variable, state) < 0:
            raise numbers.error(start + 2 * i, "variables and states count from 0")
        if model is not None:
            try:
                check_observed({variable: state}, model.states)
            except ValueError as error:
                raise numbers.error(start + 2 * i, str(error)) from None
    return observed


def _first_pair(numbers: Numbers) -> int:
    """Tell the two forms apart by the length of the file and return where the pairs begin."""
    first, length = numbers.values[0], len(numbers)
    # One sample in the older form has an even length, the newer form an odd one.
    if length == 1 + 2 * first:
        return 1
    if first == 1 and length % 2 == 0 and length == 2 + 2 * numbers.values[1]:
        return 2
    count = int(numbers.whole_numbers(0, 1, "the number of observed variables")[0])
    if _samples(numbers) == count:
        raise numbers.error(0, f"the file holds {count} samples of evidence; keep one of them")
    at = 1 if count == 1 and length % 2 == 0 else 0
    raise numbers.error(
        at,
        f"{numbers.values[at]:g} observed variables are announced, "
        f"but {length - at - 1} numbers follow instead of two for each",
    )


def _samples(numbers: Numbers) -> int | None:
    """Return how many samples of the older form the file holds, None if it is not of that form."""
    at, seen = 1, 0
    while at < len(numbers) and numbers.values[at] >= 0:
        at += 1 + 2 * int(min(numbers.values[at], len(numbers)))
        seen += 1
    return seen if at == len(numbers) else None


def write_uai_evidence(observed: Observed, path: str | PathLike) -> None:
    """Write observed states in the newer form, variables in rising order."""
    items = sorted((int(variable), int(state)) for variable, state in observed.items())
    if any(min(item) < 0 for item in items):
        raise ValueError(f"variables and states count from 0, not {min(map(min, items))}")
    words = np.array([len(items), *(number for item in items for number in item)])
    write_whole(Path(path), (" ".join(map(str, words.tolist())) + "\n").encode())
