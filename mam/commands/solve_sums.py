"""`mam solve --task MAR|PR`: probabilities and the partition function. Heavy imports inside."""

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class SumReport:
    """What the command prints and writes."""

    task: str
    log_partition: float
    probabilities: "list[np.ndarray]"
    exact: bool

    def as_json(self) -> str:
        """Return one JSON object."""
        found = {
            "task": self.task,
            "log10_partition": self.log_partition / math.log(10),
            "exact": self.exact,
        }
        if self.task == "MAR":
            found["probabilities"] = [one.tolist() for one in self.probabilities]
        return json.dumps(found)

    def as_text(self) -> str:
        """Return a summary to read."""
        how = "exact" if self.exact else "an estimate (Bethe)"
        lines = [f"log10 Z     {self.log_partition / math.log(10):.6f}  ({how})"]
        if self.task == "MAR":
            for number, one in enumerate(self.probabilities[:20]):
                lines.append(f"variable {number}: {' '.join(f'{value:.4f}' for value in one)}")
            if len(self.probabilities) > 20:
                lines.append(f"... ({len(self.probabilities)} in all, see --json or --out)")
        return "\n".join(lines)

    def result(self) -> str:
        """Return the file of the competition."""
        from mam.models.uai.results import mar_result, pr_result

        if self.task == "MAR":
            return mar_result(self.probabilities)
        return pr_result(self.log_partition)


def sum_uai(path: Path, evidence: Path | None, task: str) -> SumReport:
    """Read a model and its evidence; sum over its states, exactly where that is cheap."""
    from mam.models.uai import read_uai, read_uai_evidence

    model = read_uai(path)
    observed = {} if evidence is None else read_uai_evidence(evidence, model)
    found = model.marginals(observed)
    return SumReport(task, found.log_partition, found.probabilities, found.exact)
