"""What a factor should say, straight from the list of its configurations."""

import numpy as np
from scipy.special import logsumexp

from mam.factors import Listing


def soft_maximum(values: np.ndarray, temperature: float) -> float:
    if not len(values) or np.isneginf(values).all():
        return -np.inf
    if temperature == 0:
        return float(values.max())
    return float(temperature * logsumexp(values / temperature))


def totals(listing: Listing, incoming: list[np.ndarray], skip: int | None = None) -> np.ndarray:
    """Score of each configuration, with the messages of all variables but one."""
    total = listing.potentials.copy()
    for i, scores in enumerate(incoming):
        if i != skip:
            total = total + scores[listing.configurations[:, i]]
    return total


def messages(listing: Listing, incoming: list[np.ndarray], temperature: float) -> list[np.ndarray]:
    """Scores per state to each variable, not normalised."""
    result = []
    for i, scores in enumerate(incoming):
        total = totals(listing, incoming, skip=i)
        column = listing.configurations[:, i]
        result.append(
            np.array([soft_maximum(total[column == s], temperature) for s in range(len(scores))])
        )
    return result


def best(listing: Listing, incoming: list[np.ndarray], temperature: float) -> float:
    return soft_maximum(totals(listing, incoming), temperature)


def score(listing: Listing, states: np.ndarray) -> float:
    same = np.all(listing.configurations == states, axis=1)
    return float(listing.potentials[same][0]) if same.any() else -np.inf
