"""`mam evaluate cabc`."""

from typing import Annotated

import typer

from mam.commands.command_options import (
    BoundOption,
    DataArgument,
    JsonOption,
    LetterModelOption,
    LimitOption,
    PresetOption,
    QuietOption,
)
from mam.commands.evaluate.rival import evaluate_rival, is_rival
from mam.commands.over_shards import (
    AnswersOption,
    ClusterOption,
    ItemSecondsOption,
    OnCluster,
    evaluate_over,
    refuse_without,
)
from mam.commands.progress_bars import progress_bar, row_count
from mam.core.defaults import LETTERS


def cabc(
    data: DataArgument,
    model: LetterModelOption = LETTERS,
    limit: LimitOption = None,
    preset: PresetOption = None,
    causes: Annotated[
        bool, typer.Option("--causes", help="Say at which stage wrong answers went wrong.")
    ] = False,
    bound: BoundOption = False,
    as_json: JsonOption = False,
    cluster: ClusterOption = None,
    out: AnswersOption = None,
    item_seconds: ItemSecondsOption = None,
    quiet: QuietOption = False,
) -> None:
    """Are two markers on the same letter? Measure on a cABC data set.

    \b
    Example:
      mam evaluate cabc letters.parquet --limit 100
    """
    refuse_without(cluster, out=out, item_seconds=item_seconds)
    on = OnCluster(cluster, out, item_seconds, limit, as_json, quiet)
    if is_rival(model):
        if causes or bound or preset is not None:
            raise ValueError(f"{model}: a rival has neither causes nor presets nor bounds")
        evaluate_rival(data, model, "cabc", on)
        return
    from mam.tasks.cabc import evaluate
    from mam.vision.elastic.bank import Bank
    from mam.vision.elastic.letters.finder import ObjectFinder

    bank = Bank.load(model)
    chosen = bank.preset if preset is None else preset.value
    if cluster is not None:
        if causes:
            raise ValueError("--cluster: --causes is for one process")
        known = {"preset": chosen, "bound": bound}
        evaluate_over("cabc", data, model, known, on)
        return
    finder = ObjectFinder.of(bank, preset=chosen, bound=bound)
    with progress_bar("evaluating", row_count(data, limit), quiet=quiet) as advance:
        report = evaluate(data, finder, limit, advance)
    if causes:
        from dataclasses import replace

        from mam.tasks.cabc_causes import causes_of

        with progress_bar("looking into errors", len(report.errors), quiet=quiet) as advance:
            report = replace(report, causes=causes_of(data, report.errors, finder, advance))
    typer.echo(report.as_json() if as_json else report.as_text())
