"""The extra `train`: what the rivals need beyond the package's own dependencies."""

from importlib.util import find_spec

KIND = "rival"  # of a model file
_NEEDED = ("equinox", "optax")


def missing_extra() -> list[str]:
    """What this environment does not have of the extra."""
    return [name for name in _NEEDED if find_spec(name) is None]


def check_extra() -> None:
    """Refuse, in one line that says what to install, to go on without the extra."""
    missing = missing_extra()
    if missing:
        raise ValueError(
            f"rivals need {' and '.join(missing)}, which this environment does not have: "
            'pip install "markov-attention[train]"'
        )
