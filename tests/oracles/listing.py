"""What a factor should say, straight from the list of its configurations."""

import numpy as np
from scipy.special import logsumexp

from mam.factors import Listing
from mam.factors.network import Network


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


def network_best(network: Network) -> float:
    """Return the best score of a network, by trying states that no table forbids, one by one."""
    tables = [
        (scope.tolist(), np.broadcast_to(some.values, (len(some), *some.shape))[i])
        for some in network.tables
        for i, scope in enumerate(some.scopes)
    ]
    # Tables are looked at as soon as all of their variables are known.
    due: list[list] = [[] for _ in range(len(network.states) + 1)]
    for scope, table in tables:
        due[max(scope, default=-1) + 1].append((scope, table))

    def best(known: list[int], score: float) -> float:
        now = due[len(known)]
        found = score + sum(float(table[tuple(known[v] for v in scope)]) for scope, table in now)
        if np.isneginf(found) or len(known) == len(network.states):
            return found
        return max(best([*known, s], found) for s in range(network.states[len(known)]))

    return best([], 0.0)
