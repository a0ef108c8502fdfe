"""What a run of learning is told; a stopped run goes on only with the same."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

SIDE = 160  # px to which images are reduced (facts: the neural baselines)
RATES = {"pathfinder": 1e-3, "cabc": 1e-4}  # facts; cABC: of the hard level
EPOCHS = {"pathfinder": 2, "cabc": 32}  # facts: of 225K and of 45K images
_OPTIONS = {"network": "kind"}  # settings whose option has another name


@dataclass(frozen=True)
class Settings:
    """What is learned, from what, and how."""

    network: str
    task: str
    images: int
    digest: str  # of the images
    side: int = SIDE
    batch: int = 32
    rate: float = 1e-3
    epochs: int = 2
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("batch", "epochs"):
            if getattr(self, name) < 1:
                raise ValueError(f"--{name} {getattr(self, name)}: it must be at least 1")
        if not 0 < self.rate < 1:
            raise ValueError(f"--rate {self.rate:g}: it must lie between 0 and 1")
        if self.seed < 0:
            raise ValueError(f"--seed {self.seed}: it must be 0 or more")
        if self.batch > self.images:
            raise ValueError(
                f"--batch {self.batch}: more than the {self.images} images; give a smaller one"
            )

    @property
    def steps(self) -> int:
        """Batches in all."""
        return self.epochs * (self.images // self.batch)

    def as_dict(self) -> dict[str, Any]:
        """The settings for a file."""
        return dataclasses.asdict(self)

    def refuse_others(self, kept: Mapping[str, Any], where: str) -> None:
        """Refuse to go on where a run with other settings stopped."""
        for name, value in self.as_dict().items():
            if kept.get(name) == value:
                continue
            if name == "digest":
                raise ValueError(
                    f"{where}: learned from other images; give those, or another --out"
                )
            raise ValueError(
                f"{where}: learned with {_OPTIONS.get(name, name)} {kept.get(name)}, "
                f"not {value}; give the same settings, or another --out"
            )
