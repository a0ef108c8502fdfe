"""What an evaluation found out, in one form for all tasks."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Report:
    """Figures of a model on a data set.

    >>> Report({"accuracy": 0.5}, n=2, seconds=0.5, errors=(1,)).as_json()
    '{"accuracy": 0.5, "n": 2, "per_second": 4.0, "compile_s": 0.0, "errors": [1], "skipped": {}}'
    """

    figures: Mapping[str, float | Mapping[str, float]]  # e.g. accuracy, or dice by set
    n: int  # rows answered
    seconds: float  # spent on answers, without reading the files
    errors: tuple[int, ...] = ()  # numbers of the rows answered wrongly
    skipped: Mapping[int, str] = field(default_factory=dict)  # row number: why
    causes: Mapping[str, tuple[int, ...]] | None = None  # cause: rows wrong because of it
    compiling: float = 0.0  # of the seconds: what a run with more rows would spend once as well

    @property
    def per_second(self) -> float:
        """Rows answered in a second, once all is compiled."""
        answering = self.seconds - self.compiling
        return self.n / answering if answering > 0 else 0.0

    def as_json(self) -> str:
        """Return one JSON object."""
        about = {
            **self.figures,
            "n": self.n,
            "per_second": round(self.per_second, 2),
            "compile_s": round(self.compiling, 2),
            "errors": list(self.errors),
            "skipped": {str(row): why for row, why in self.skipped.items()},
        }
        if self.causes is not None:
            about["causes"] = {cause: len(rows) for cause, rows in self.causes.items()}
        return json.dumps(about, allow_nan=False)

    def as_text(self) -> str:
        """Return a few lines to read."""
        lines = []
        for name, figure in self.figures.items():
            if isinstance(figure, Mapping):
                shown = ", ".join(f"{key} {value:.4f}" for key, value in figure.items())
            else:
                shown = f"{figure:.4f}"
            lines.append(f"{name}: {shown}")
        compiled = f" after {self.compiling:.1f} s of compiling" if self.compiling >= 0.05 else ""
        lines.append(f"{self.n} rows, {self.per_second:.1f} a second{compiled}")
        if self.errors:
            lines.append("wrong: " + _listed(self.errors))
        for cause, rows in (self.causes or {}).items():
            lines.append(f"wrong by {cause}: {len(rows)}" + (f" ({_listed(rows)})" if rows else ""))
        lines += [f"skipped row {row}: {why}" for row, why in self.skipped.items()]
        return "\n".join(lines)


def _listed(rows: tuple[int, ...]) -> str:
    return " ".join(str(row) for row in rows)
