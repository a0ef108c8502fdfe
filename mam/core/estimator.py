"""The part of the scikit-learn contract that every estimator shares."""

import inspect
from collections.abc import Sized
from typing import Any, ClassVar, TypeVar

This = TypeVar("This", bound="Estimator")


class Estimator:
    """Parameters are the arguments of ``__init__``, kept under their own names and unchanged.

    ``fit(images, y, *, ...)`` sets attributes whose names end in ``_``, and no other public ones.
    What starts with ``_`` is memory of earlier work: it has no part in any answer and is neither
    copied nor pickled. It may be used by several threads at once.

    >>> class Threshold(Estimator):
    ...     def __init__(self, level=3):
    ...         self.level = level
    >>> Threshold().set_params(level=5).get_params()
    {'level': 5}
    """

    _learns: ClassVar[bool] = True  # whether it has to be fitted before use

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

    def _learned(self, name: str) -> Any:
        """An attribute that ``fit`` sets."""
        if name not in vars(self):
            other = ", or load one" if hasattr(self, "load") else ""
            kind = type(self).__name__
            raise ValueError(f"this {kind} has learned nothing yet: call fit{other}")
        return vars(self)[name]

    @staticmethod
    def _check_beside(images: Sized, other: Sized | None, name: str = "the truth (y)") -> None:
        """Refuse what is not there for each image, if it is there at all."""
        if other is not None and len(images) != len(other):
            raise ValueError(f"{len(images)} images, but {name} of {len(other)}")

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn asks of an estimator; only scikit-learn calls it."""
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

        fit: Any = getattr(type(self), "fit")  # noqa: B009
        truth = inspect.signature(fit).parameters["y"]
        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=truth.default is truth.empty),
            transformer_tags=TransformerTags() if hasattr(self, "transform") else None,
            input_tags=InputTags(two_d_array=False, three_d_array=True),
            requires_fit=self._learns,
        )

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
