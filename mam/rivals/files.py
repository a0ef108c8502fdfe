"""Files of rivals: the network itself, and what a stopped run needs to go on."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import equinox as eqx
import numpy as np
from jaxtyping import Float32

from mam.core.model_files import ModelFile, load_model, save_model
from mam.rivals.networks import RivalNetwork, network_of
from mam.rivals.settings import Settings
from mam.rivals.train import TrainState, start
from mam.rivals.trees import filled, named_arrays

KIND = "rival"
CHECKPOINT = "rival-checkpoint"


@dataclass(frozen=True, eq=False)
class Stored:
    """A network with its moments, as a file holds them."""

    network: RivalNetwork
    moments: dict[str, Any]
    config: Mapping[str, Any]  # network, task, side
    provenance: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """Where a run stands."""

    state: TrainState
    step: int  # batches learned from; the next one's pictures follow from it and the seed
    seconds: float  # spent so far
    losses: Float32[np.ndarray, "blocks"]  # mean loss of each block of steps


def save_rival(path: Path, stored: Stored, losses: Float32[np.ndarray, "blocks"]) -> None:
    """Write a network, whole or not at all."""
    arrays = named_arrays(stored.network, "network") | named_arrays(stored.moments, "moments")
    save_model(
        path, ModelFile(KIND, {**arrays, "losses": losses}, stored.config, stored.provenance)
    )


def load_rival(source: str | Path) -> Stored:
    """Read a network."""
    file = load_model(source, KIND)
    config = _checked(file.config, str(source))
    shape = eqx.filter_eval_shape(network_of, config["network"], 0, config["side"])
    network = filled(shape, file.arrays, "network", str(source))
    moments = eqx.filter_eval_shape(lambda network: network.moments(), network)
    moments = filled(moments, file.arrays, "moments", str(source))
    return Stored(network, moments, config, file.provenance)


def save_checkpoint(path: Path, checkpoint: Checkpoint, settings: Settings) -> None:
    """Write where a run stands, whole or not at all."""
    state = checkpoint.state
    arrays = named_arrays(state.network, "network") | named_arrays(state.optimiser, "optimiser")
    arrays |= {"losses": checkpoint.losses}
    about = {"step": checkpoint.step, "seconds": checkpoint.seconds}
    save_model(path, ModelFile(CHECKPOINT, arrays, settings.as_dict(), about))


def load_checkpoint(path: Path, settings: Settings) -> Checkpoint:
    """Read where a run with the same settings stands; others are refused."""
    file = load_model(path, CHECKPOINT)
    settings.refuse_others(file.config, str(path))
    shape = eqx.filter_eval_shape(start, settings)
    state = TrainState(
        filled(shape.network, file.arrays, "network", str(path)),
        filled(shape.optimiser, file.arrays, "optimiser", str(path)),
    )
    about = file.provenance
    return Checkpoint(state, about["step"], about["seconds"], file.arrays["losses"])


def _checked(config: Mapping[str, Any], where: str) -> Mapping[str, Any]:
    missing = [name for name in ("network", "task", "side") if name not in config]
    if missing:
        raise ValueError(f"{where}: the file is damaged (it says nothing of its {missing[0]})")
    return config
