"""Numeric limits, each with its reason.

Messages are finite: an infinite one would turn ``belief - message`` into NaN. Plus and minus
infinity are therefore represented in messages by ``±limit``, and every message is clipped to it.
Scores and bounds are evaluated with true infinities, in double precision.
"""

import numpy as np

# float32 has 24 bits: next to a stand-in of 1e4 a message still resolves 1e-3, and the potentials
# of a typical model (below 1e3 in sum along any path) stay well clear of the stand-in.
_SINGLE_LIMIT = 1e4
# float64 resolves 1e-10 next to 1e6; a larger stand-in would put a floor under the dual bound.
_DOUBLE_LIMIT = 1e6

# A finite log potential may be at most this share of the limit, so that a handful of them cannot
# be mistaken for an infinity.
_FINITE_SHARE = 0.1


def limit(dtype: np.dtype | type) -> float:
    """Return the stand-in for infinity in messages of this type.

    >>> limit(np.float32)
    10000.0
    """
    return _DOUBLE_LIMIT if np.dtype(dtype) == np.float64 else _SINGLE_LIMIT


def largest_finite(dtype: np.dtype | type) -> float:
    """Return the largest magnitude of a finite log potential that this type can carry."""
    return _FINITE_SHARE * limit(dtype)


def magnitudes(values: np.ndarray) -> np.ndarray:
    """Return the magnitudes of the finite values, 0 for the others."""
    return np.abs(values, where=np.isfinite(values), out=np.zeros(values.shape))


def check_magnitude(sizes: np.ndarray, dtype: np.dtype | type, what: str) -> None:
    """Refuse magnitudes that a type cannot carry; ``what`` names the culprit."""
    largest, found = largest_finite(dtype), sizes.max(initial=0.0)
    if found > largest:
        remedy = "scale it down, or use inf for what is certain"
        if np.dtype(dtype) != np.float64:
            remedy = "scale it down, use precision='double', or use inf for what is certain"
        raise ValueError(f"{what} of magnitude {found:.3g}, above {largest:g}: {remedy}")
