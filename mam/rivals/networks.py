"""The kinds of rivals, by name."""

from collections.abc import Mapping

import jax

from mam.rivals.convnext import ConvNext
from mam.rivals.hcnn import Hcnn
from mam.rivals.resnet import ResNet
from mam.rivals.tdhcnn import TdHcnn

RivalNetwork = Hcnn | TdHcnn | ConvNext | ResNet
NETWORKS: Mapping[str, type[RivalNetwork]] = {
    "h-cnn": Hcnn,
    "td-h-cnn": TdHcnn,
    "convnext": ConvNext,
    "resnet": ResNet,
}


_MULTIPLE = 16  # of which the side of images is one: the networks halve them up to four times


def network_of(name: str, seed: int, side: int) -> RivalNetwork:
    """A random network of a kind, for images of a side."""
    if name not in NETWORKS:
        raise ValueError(f"{name}: no such rival; known are {', '.join(NETWORKS)}")
    if side < _MULTIPLE or side % _MULTIPLE:
        raise ValueError(f"--side {side}: it must be a multiple of {_MULTIPLE}")
    return NETWORKS[name].of(jax.random.key(seed))


def parameter_count(network: RivalNetwork) -> int:
    """All numbers that are learned."""
    # Arrays, or only their shapes.
    return sum(leaf.size for leaf in jax.tree.leaves(network) if hasattr(leaf, "ndim"))
