"""The settings of the solvers."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral, Real

import numpy as np

METHODS = ("auto", "exact", "quick", "max-product", "toulbar2")

_CHOICES = {
    "method": METHODS,
    "schedule": ("parallel", "blocks", "sweeps"),
    "decoding": ("belief", "ties on", "in order", "mutual"),
    "precision": ("single", "double"),
}
# The least value of each.
_WHOLE = {"iterations": 1, "restarts": 1, "blocks": 1, "bound_steps": 0, "tighten": 0, "seed": 0}
_WHOLE |= {"largest_table": 1}
_NOT_NEGATIVE = ("damping", "noise", "tolerance", "jitter", "bound_tolerance", "seconds")
_NOT_NEGATIVE += ("message_seconds",)


@dataclass(frozen=True)
class Options:
    """Settings of ``solve``; the defaults are the paper's where it names them."""

    method: str = "auto"  # or "exact", "quick", "max-product", "toulbar2": see ``solve``
    largest_table: int = 1 << 20  # entries that exact methods may give a table; 2^20 take 8 MB
    seconds: float | int = 10.0  # that toulbar2, where it is installed, and branch and bound get
    message_seconds: float | int = 3600.0  # that messages, repair and the bound's descent get
    iterations: int = 200  # rounded up to a multiple of 5, but for sweeps
    damping: float = 0.5  # new message = damping * old + (1 - damping) * new
    noise: float = 0.01  # scale of the logistic initial messages
    tolerance: float = 1e-4  # an instance rests when no message moves by more
    restarts: int = 1  # best score wins; all but the first start from shaken evidence
    jitter: float = 0.3  # scale of the logistic noise on the evidence of those restarts
    seed: int = 0
    schedule: str = "parallel"  # or "blocks", or "sweeps": an iteration is one there and back
    blocks: int = 4  # random blocks of an iteration, for schedule="blocks"
    # or "ties on", which takes a binary variable at a belief of 0 to be ON (OFF else), "mutual", or
    # "in order" for schedule="sweeps"
    decoding: str = "belief"
    precision: str = "single"  # or "double"
    repair: bool = True
    climb: bool = False  # flip and swap binary variables while that raises the score
    bound: bool = False
    bound_steps: int = 500  # looks at the bound at most; each follows 10 pairs of passes
    bound_tolerance: float = 1e-7  # a bound that falls by less rests
    tighten: int = 0  # rounds in which cycles of pairwise factors lower a bound that leaves a gap

    def __post_init__(self) -> None:
        check_numbers(vars(self))
        if self.damping >= 1:
            raise ValueError(f"damping must lie in [0, 1), not {self.damping}")
        for name, known in _CHOICES.items():
            if (value := getattr(self, name)) not in known:
                raise ValueError(f"{name} is one of {', '.join(known)}, not {value!r}")
        if self.decoding == "in order" and self.schedule != "sweeps":
            raise ValueError("decoding='in order' needs schedule='sweeps': it follows their order")

    @property
    def thorough(self) -> bool:
        """Whether a proof is worth more time than messages take."""
        return self.bound or self.method in ("exact", "toulbar2")

    @property
    def dtype(self) -> type:
        """The type of the messages."""
        return np.float64 if self.precision == "double" else np.float32


def check_numbers(settings: Mapping[str, object]) -> None:
    """Refuse settings that are no numbers, or out of their range, by name."""
    for name, least in _WHOLE.items():
        value = settings[name]
        if not isinstance(value, Integral) or int(value) < least:
            raise ValueError(f"{name} is a whole number of at least {least}, not {value!r}")
    for name in _NOT_NEGATIVE:
        value = settings[name]
        if not isinstance(value, Real) or not 0 <= float(value) < math.inf:
            raise ValueError(f"{name} is a number of at least 0, not {value!r}")
