"""The moments with which a learned network answers: those of its last weights.

Running means over the steps of learning would be those of earlier weights. The weights of an fGRU
act in every step, so that differences add up: an H-CNN that had just learned answered 71 % of 128
images right by the moments of their batches or those found here, and 55 % by running means that
kept 0.9 of their past.
"""

from typing import Any

import jax

from mam.data.read.labelled import LabelledPictures
from mam.rivals.data import coming, steps_in
from mam.rivals.networks import RivalNetwork
from mam.rivals.norm import Moments, pooled
from mam.rivals.settings import Settings
from mam.rivals.train import batch_moments

_BATCHES = 32  # at most; two already come close


def settled(
    network: RivalNetwork, pictures: LabelledPictures, settings: Settings, workers: int
) -> dict[str, Any]:
    """The moments of a network on the first batches that it learned from."""
    if not network.moments():
        return {}
    steps = range(min(_BATCHES, steps_in(len(pictures), settings.batch)))
    batches = coming(pictures, settings.side, settings.batch, settings.seed, steps, workers)
    found = [batch_moments(network, batch.images) for batch in batches]
    return jax.tree.map(
        lambda *parts: pooled(parts), *found, is_leaf=lambda part: isinstance(part, Moments)
    )
