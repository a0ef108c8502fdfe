"""What a kind of model file must hold, declared as data, and the check of a file against it.

A file comes from outside, and what it holds becomes indices, sizes and weights. Whatever passes
here can be used without another look; what does not is refused with the array and the element.
"""

import reprlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

INTEGERS = ("uint8", "int8", "int16", "int32", "int64")
LARGEST = 1e30  # of numbers without a range of their own; their squares are finite as well
_PIECE = 1 << 20  # bytes that are checked at a time: they stay in the cache of one core


@dataclass(frozen=True, eq=False)
class ModelFile:
    """What a model file holds: arrays, settings, and how they were learned."""

    arrays: Mapping[str, np.ndarray]
    config: Mapping[str, Any]
    provenance: Mapping[str, Any]


@dataclass(frozen=True)
class ArraySpec:
    """An array: its type, its shape, and the range of its elements.

    A name in ``shape`` stands for the same size wherever it occurs in a schema. ``most`` may be
    such a name. ``below`` names such a size, or an array that has the first axes of this one: every
    element is below the element there.
    """

    dtypes: tuple[str, ...]
    shape: tuple[int | str, ...] | None  # None: any
    least: float | int = -LARGEST
    most: float | int | str = LARGEST
    below: str | None = None
    rising: bool = False  # every element is above the one before
    finite: bool = True  # False: any numbers, which are only shown
    optional: bool = False


@dataclass(frozen=True)
class Setting:
    """A value of the metadata; a float may be written as a whole number."""

    type: type
    least: float | int = -LARGEST
    most: float | int = LARGEST
    one_of: tuple[Any, ...] = ()
    each: "Setting | None" = None  # element of a list
    none: bool = False  # may be null
    optional: bool = False


SettingSpecs = Mapping[str, Any]  # a Setting, or specs again, by name


@dataclass(frozen=True)
class Schema:
    """What the files of a kind hold. A name of an array may be a pattern, as ``network.*``.

    >>> toy = Schema("toy", {"weights": ArraySpec(("float64",), ("terms",))}, {}, "mam learn toys")
    >>> toy.check(ModelFile({"weights": np.array([1.0, np.nan])}, {}, {}))
    Traceback (most recent call last):
    ValueError: weights[1] is nan; it must be a number from -1e+30 to 1e+30
    """

    kind: str
    arrays: Mapping[str, ArraySpec]
    settings: SettingSpecs
    learned_by: str  # what writes such a file
    sizes: Mapping[str, tuple[int, int]] = field(default_factory=dict)  # least and most; else 1 up
    provenance: SettingSpecs = field(default_factory=dict)  # what is needed; all else is free
    # Refuse with a ValueError what is wrong between arrays and settings, each of them in range.
    rules: Sequence[Callable[[ModelFile], object]] = ()

    def check(self, model: ModelFile) -> None:
        """Refuse a model that does not fit, by array and element, or by setting."""
        specs = self._specs(model.arrays)
        sizes = self._sizes(model.arrays, specs)
        _check_settings(model.config, self.settings, self.kind)
        _check_settings(model.provenance, self.provenance, None)
        for name, spec in specs.items():
            if spec.finite:
                _check_range(name, model.arrays[name], spec, sizes)
            if spec.rising:
                _check_rising(name, model.arrays[name])
        for name, spec in specs.items():
            if spec.below is not None:
                limit = sizes.get(spec.below, model.arrays.get(spec.below))
                _check_below(name, model.arrays[name], spec.below, limit)
        for rule in self.rules:
            rule(model)

    def _specs(self, arrays: Mapping[str, np.ndarray]) -> dict[str, ArraySpec]:
        """What each array must be; in the order of the schema, so that errors do not vary."""
        found = {
            name: spec
            for pattern, spec in self.arrays.items()
            for name in (sorted(arrays) if "*" in pattern else [pattern])
            if name in arrays and fnmatchcase(name, pattern)
        }
        for name, spec in self.arrays.items():
            if name not in arrays and not spec.optional and "*" not in name:
                raise ValueError(f"no array {name} in it")
        for name in sorted(arrays):
            if name not in found:
                raise ValueError(f"{_short(name)} is no array of {self.kind}")
        return found

    def _sizes(
        self, arrays: Mapping[str, np.ndarray], specs: Mapping[str, ArraySpec]
    ) -> dict[str, int]:
        """Types and shapes; and the sizes that have names."""
        sizes: dict[str, int] = {}
        for name, spec in specs.items():
            array = arrays[name]
            if array.dtype.name not in spec.dtypes:
                raise ValueError(f"{name} is {array.dtype.name}, not {' or '.join(spec.dtypes)}")
            if spec.shape is None:
                continue
            for size, wanted in zip(array.shape, spec.shape, strict=False):
                if isinstance(wanted, str):
                    sizes.setdefault(wanted, size)
            right = tuple(sizes.get(at, 0) if isinstance(at, str) else at for at in spec.shape)
            if array.shape != right:
                names = ", ".join(map(str, spec.shape))
                raise ValueError(f"{name} is {array.shape}, not ({names}) = {right}")
        for name, size in sizes.items():
            least, most = self.sizes.get(name, (1, np.inf))
            if not least <= size <= most:
                raise ValueError(f"{name} is {size}; it must be from {least} to {most:g}")
        return sizes


def _check_range(name: str, values: np.ndarray, spec: ArraySpec, sizes: Mapping[str, int]) -> None:
    most = sizes[spec.most] if isinstance(spec.most, str) else spec.most
    for rows in pieces(values):
        some = values[rows]
        # A NaN makes both NaN, and no comparison with it holds.
        if some.min() >= spec.least and some.max() <= most:
            continue
        at = _first(np.asarray(~((some >= spec.least) & (some <= most))), rows)
        raise ValueError(
            f"{name}{at or ''} is {values[tuple(at)]}; it must be a number from {spec.least:g} to "
            f"{most:g}"
        )


def _check_rising(name: str, values: np.ndarray) -> None:
    wrong = values[1:] <= values[:-1]
    if wrong.any():
        at = _first(wrong)[0] + 1
        raise ValueError(f"{name}[{at}] is {values[at]}; it must be above the one before")


def _check_below(name: str, values: np.ndarray, other: str, limit: Any) -> None:
    limit = np.asarray(limit)
    for rows in pieces(values):
        some, own = values[rows], limit[rows] if limit.ndim else limit
        # One axis is far faster to reduce than several short ones.
        if not (some.reshape(*own.shape, -1).max(-1) >= own).any():
            continue
        limits = np.broadcast_to(own.reshape(own.shape + (1,) * (some.ndim - own.ndim)), some.shape)
        here, at = _first(some >= limits), _first(some >= limits, rows)
        raise ValueError(
            f"{name}{at or ''} is {values[tuple(at)]}; it must be below {other}, "
            f"{limits[tuple(here)]}"
        )


def pieces(values: np.ndarray) -> Iterator[Any]:
    """What takes an array apart into runs of rows that are small enough to be looked at at once.

    A large array may be a file that is not in memory, and copies of all of it would take as much.

    >>> [values.tolist() for values in map(np.arange(3).__getitem__, pieces(np.arange(3)))]
    [[0, 1, 2]]
    """
    if not values.ndim:
        yield ...
    elif values.size:
        step = max(1, _PIECE * len(values) // values.nbytes)
        yield from (slice(first, first + step) for first in range(0, len(values), step))


def _first(wrong: np.ndarray, rows: Any = ...) -> list[int]:
    """The first place where something is wrong, in the array of which these are some rows."""
    found = [int(at) for at in np.unravel_index(wrong.argmax(), wrong.shape)]
    return [found[0] + rows.start, *found[1:]] if isinstance(rows, slice) else found


def _check_settings(
    values: Mapping[str, Any], settings: SettingSpecs, kind: str | None, above: str = ""
) -> None:
    """Refuse settings that are missing, wrong, or, where a kind is given, none of that kind."""
    for name, wanted in settings.items():
        if name in values:
            _check_setting(values[name], wanted, above + name, kind)
        elif isinstance(wanted, Mapping) or not wanted.optional:
            raise ValueError(f"it says nothing of its {above}{name}")
    others = sorted(set(values) - set(settings))
    if others and kind is not None:
        raise ValueError(f"{_short(above + others[0])} is no setting of {kind}")


def _check_setting(value: Any, wanted: Setting | SettingSpecs, name: str, kind: str | None) -> None:
    if isinstance(wanted, Mapping):
        if not isinstance(value, Mapping):
            raise ValueError(f"{name} is {_short(value)}; it must be a list of settings by name")
        _check_settings(value, wanted, kind, f"{name}.")
        return
    if value is None and wanted.none:
        return
    if isinstance(value, tuple):
        value = list(value)
    types = (int, float) if wanted.type is float else (wanted.type,)
    if not isinstance(value, types) or (isinstance(value, bool) and wanted.type is not bool):
        raise ValueError(f"{name} is {_short(value)}; it must be a {wanted.type.__name__}")
    if wanted.one_of and value not in wanted.one_of:
        raise ValueError(f"{name} is {_short(value)}; it must be {_choices(wanted.one_of)}")
    if isinstance(value, int | float) and not wanted.least <= value <= wanted.most:
        raise ValueError(
            f"{name} is {_short(value)}; it must be from {wanted.least:g} to {wanted.most:g}"
        )
    if wanted.each is not None and isinstance(value, list):
        for number, one in enumerate(value):
            _check_setting(one, wanted.each, f"{name}[{number}]", kind)


def floats(settings: Mapping[str, Any]) -> dict[str, float]:
    """Settings that are numbers, some of them written as whole ones."""
    return {name: float(value) for name, value in settings.items()}


def _choices(values: Sequence[Any]) -> str:
    return " or ".join(map(str, values))


def _short(value: Any) -> str:
    """A value for an error, however long it is."""
    return reprlib.repr(value)
