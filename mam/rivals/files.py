"""Files of rivals: the network itself, and what a stopped run needs to go on."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import equinox as eqx
import numpy as np
from jaxtyping import Float32

from mam.core.model_files import load_model, save_model
from mam.core.schema import ArraySpec, ModelFile, Schema, Setting
from mam.rivals.extra import KIND
from mam.rivals.named_arrays import filled, named_arrays
from mam.rivals.networks import NETWORKS, RivalNetwork, network_of
from mam.rivals.settings import RATES, Settings
from mam.rivals.train import TrainState, start

SCHEMA = Schema(
    KIND,
    {
        "network.*": ArraySpec(("float32",), None),
        "moments.*": ArraySpec(("float32",), None),
        "losses": ArraySpec(("float32",), ("blocks",)),
    },
    {
        "network": Setting(str, one_of=tuple(NETWORKS)),
        "task": Setting(str, one_of=tuple(RATES)),
        "side": Setting(int, 16, 1 << 14),
    },
    "mam learn rival",
    provenance={"settings": Setting(dict), "seconds": Setting(float, 0), "loss": Setting(float)},
)
CHECKPOINT = Schema(
    "rival-checkpoint",
    {
        # A run that went astray is kept as well, to be looked at.
        "network.*": ArraySpec(("float32",), None, finite=False),
        "optimiser.*": ArraySpec(("float32", "int32"), None, finite=False),
        "losses": ArraySpec(("float32",), ("blocks",), finite=False),
    },
    {name: Setting(str) for name in ("network", "task", "digest")}
    | {name: Setting(int) for name in ("images", "side", "batch", "epochs", "seed")}
    | {"rate": Setting(float)},
    "mam learn rival",
    {"blocks": (0, 1 << 30)},
    provenance={"step": Setting(int, 0), "seconds": Setting(float, 0)},
)


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
    arrays["losses"] = losses
    save_model(path, ModelFile(arrays, stored.config, stored.provenance), SCHEMA)


def load_rival(source: str | Path) -> Stored:
    """Read a network."""
    file = load_model(source, SCHEMA)
    config = file.config
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
    save_model(path, ModelFile(arrays, settings.as_dict(), about), CHECKPOINT)


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
    if about["step"] > settings.steps:
        raise ValueError(
            f"{path}: the file is damaged (step {about['step']} of {settings.steps}); remove it to "
            "start anew"
        )
    return Checkpoint(state, about["step"], about["seconds"], file.arrays["losses"])
