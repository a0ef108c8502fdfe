"""The file of a model of objects: typed elastic graphs, outlines, names, thresholds."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from mam.core.model_files import load_model, save_model
from mam.core.schema import INTEGERS, ArraySpec, ModelFile, Schema, Setting
from mam.vision.elastic.bank import Bank
from mam.vision.elastic.bank_schema import GRAPHS, MASK, SETTINGS, SIZES, check_graphs
from mam.vision.images.photo_edges import TYPES

KIND = "objects in photographs"


@dataclass(frozen=True, eq=False)
class ObjectBank:
    """Graphs of one or more objects. The category of a graph is the number of its object."""

    graphs: Bank
    outline: Float[np.ndarray, "graphs points 2"]  # of the object, in the graph's own frame
    names: tuple[str, ...]  # of the objects
    threshold: Float[np.ndarray, " objects"]  # score from which on an object is there
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.graphs)

    def __repr__(self) -> str:
        return f"<ObjectBank: {len(self)} graphs of {', '.join(self.names)}>"

    def save(self, path: str | Path) -> None:
        """Write the model to a file."""
        bank = self.graphs
        own = {"outline": self.outline, "threshold": self.threshold}
        arrays = bank.arrays | {name: own[name].astype(np.float32) for name in own}
        settings = {**bank.config, "names": list(self.names)}
        save_model(path, ModelFile(arrays, settings, self.provenance), SCHEMA)

    @classmethod
    def load(cls, source: str | Path) -> "ObjectBank":
        """Read a model from a file, or by its bundled name."""
        found = load_model(source, SCHEMA)
        config = dict(found.config)
        names = tuple(config.pop("names"))
        bank = Bank.of_arrays(found.arrays, config)
        outline, threshold = (
            found.arrays[name].astype(np.float64) for name in ("outline", "threshold")
        )
        return cls(bank, outline, names, threshold, found.provenance)


def _check_names(file: ModelFile) -> None:
    names, thresholds = file.config["names"], len(file.arrays["threshold"])
    if len(names) != thresholds:
        raise ValueError(f"names of {len(names)} objects, but thresholds of {thresholds}")


_FARTHEST = 1e5  # px of an outline's point from its graph; it may lie outside the picture
SCHEMA = Schema(
    KIND,
    GRAPHS
    | MASK
    | {
        "threshold": ArraySpec(("float32",), ("objects",)),
        "category": ArraySpec(INTEGERS, ("graphs",), 0, below="objects"),
        "type": ArraySpec(INTEGERS, ("graphs", "vertices"), 0, TYPES - 1),
        "outline": ArraySpec(("float32",), ("graphs", "points", 2), -_FARTHEST, _FARTHEST),
    },
    {**SETTINGS, "names": Setting(list, each=Setting(str))},
    "mam learn objects",
    SIZES,
    rules=[check_graphs, _check_names],
)
