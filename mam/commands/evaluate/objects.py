"""`mam evaluate objects`."""

from typing import Annotated

import typer

from mam.commands.command_options import (
    BoundOption,
    DataArgument,
    GraphsOption,
    JsonOption,
    LimitOption,
    MaskName,
    MaskOption,
    ObjectNameOption,
    QuietOption,
    SceneDepthOption,
    SeedOption,
    SplitName,
    SplitOption,
)
from mam.commands.over_shards import (
    AnswersOption,
    ClusterOption,
    ItemSecondsOption,
    OnCluster,
    evaluate_over,
    refuse_without,
)
from mam.commands.progress_bars import progress_bar, row_count
from mam.core.defaults import OBJECT_GRAPHS


def objects(
    data: DataArgument,
    model: Annotated[str | None, typer.Option(help="A model of `mam learn objects`.")] = None,
    leave_out: Annotated[
        bool, typer.Option("--leave-out", help="Learn on all frames but one, find in that one.")
    ] = False,
    name: ObjectNameOption = None,
    split: SplitOption = SplitName.all,
    depth: SceneDepthOption = False,
    mask: MaskOption = MaskName.outline,
    graphs: GraphsOption = OBJECT_GRAPHS,
    seed: SeedOption = 0,
    limit: LimitOption = None,
    bound: BoundOption = False,
    cluster: ClusterOption = None,
    out: AnswersOption = None,
    item_seconds: ItemSecondsOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Where are objects in photographs? IoU of found and true masks.

    \b
    Example:
      mam evaluate objects scenes/ --model mug.safetensors
    """
    refuse_without(cluster, out=out, item_seconds=item_seconds)
    from mam.tasks.objects import RowChoice, chosen_rows, evaluate
    from mam.tasks.objects import leave_out as measure_without
    from mam.vision.elastic.photographs.detector import ObjectDetector

    if leave_out == (model is not None):
        raise ValueError("give either --model FILE, or --leave-out to learn from the data itself")
    choice = RowChoice(split.value, depth, limit, seed)
    known = {"graphs": graphs, "mask": mask.value, "bound": bound, "seed": seed}
    if cluster is not None:
        if model is None or depth:
            raise ValueError("--cluster: --leave-out and --depth are for one process")
        wanted, given = chosen_rows(data, choice), {"source": data, "name": name, **known}
        on = OnCluster(cluster, out, item_seconds, limit, as_json, quiet)
        evaluate_over("objects", data, model, given, on, wanted)
        return
    with progress_bar("finding", row_count(data, limit), quiet=quiet) as advance:
        if model is None:

            def make() -> ObjectDetector:
                return ObjectDetector(**known)

            report = measure_without(data, make, choice, advance)
        else:
            detector = ObjectDetector.load(model, **known)
            report = evaluate(data, detector, choice, name, advance)
    typer.echo(report.as_json() if as_json else report.as_text())
