"""What `mam evaluate` does with a rival."""

import typer

from mam.commands.over_shards import OnCluster, evaluate_over
from mam.commands.progress_bars import progress_bar, row_count


def is_rival(model: str) -> bool:
    """Whether a model file holds a rival."""
    from mam.core.model_files import model_kind
    from mam.rivals.extra import KIND

    return model_kind(model) == KIND


def evaluate_rival(data: str, model: str, task: str, on: OnCluster) -> None:
    """Measure a rival on a data set of a task."""
    from mam.rivals.extra import check_extra

    check_extra()
    if on.cluster is not None:
        evaluate_over("rival", data, model, {"of": task}, on)
        return
    from mam.rivals.predict import Rival
    from mam.tasks.rivals import evaluate

    rival = Rival.load(model)
    with progress_bar("answering", row_count(data, on.limit), "images", on.quiet) as advance:
        report = evaluate(data, rival, task, on.limit, advance)
    typer.echo(report.as_json() if on.as_json else report.as_text())
