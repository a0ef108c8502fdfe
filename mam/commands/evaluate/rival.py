"""What `mam evaluate` does with a rival."""

import typer

from mam.commands.progress import progress_bar, row_count

KIND = "rival"  # of a model file


def is_rival(model: str) -> bool:
    """Whether a model file holds a rival."""
    from mam.core.model_files import model_kind

    return model_kind(model) == KIND


def evaluate_rival(
    data: str, model: str, task: str, limit: int | None, as_json: bool, quiet: bool
) -> None:
    """Measure a rival on a data set of a task."""
    from mam.rivals.extra import check_extra

    check_extra()
    from mam.rivals.predict import Rival
    from mam.tasks.rivals import evaluate

    rival = Rival.load(model)
    with progress_bar("answering", row_count(data, limit), "images", quiet) as advance:
        report = evaluate(data, rival, task, limit, advance)
    typer.echo(report.as_json() if as_json else report.as_text())
