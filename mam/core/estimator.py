"""The part of the scikit-learn contract that every estimator shares."""

import inspect
from typing import Any, TypeVar

This = TypeVar("This", bound="Estimator")


class Estimator:
    """Parameters are the arguments of ``__init__``, kept under their own names and unchanged.

    >>> class Threshold(Estimator):
    ...     def __init__(self, level=3):
    ...         self.level = level
    >>> Threshold().set_params(level=5).get_params()
    {'level': 5}
    """

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name."""
        return {name: getattr(self, name) for name in self._names()}

    def set_params(self: This, **changes: Any) -> This:
        """Change parameters; return the estimator itself."""
        unknown = sorted(set(changes) - set(self._names()))
        if unknown:
            name = type(self).__name__
            raise ValueError(f"{name} has no parameter {unknown[0]!r}; it has {self._names()}")
        for name, value in changes.items():
            setattr(self, name, value)
        return self

    @classmethod
    def _names(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self).__init__).parameters
        given = [
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if value is not defaults[name].default and value != defaults[name].default
        ]
        return f"{type(self).__name__}({', '.join(given)})"
