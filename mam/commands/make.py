"""`mam make`: data sets. Heavy imports live inside the commands."""

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mam.commands.command_options import JsonOption, QuietOption
from mam.commands.ending import ends_on_request
from mam.commands.over_shards import ClusterOption, over_cluster
from mam.commands.progress_bars import progress_bar

if TYPE_CHECKING:
    from mam.data import Recipe, StoreConfig

CountOption = Annotated[int, typer.Option(help="Number of rows.", min=1)]
RowSeedOption = Annotated[int, typer.Option(help="Row k depends only on (seed, k).", min=0)]
WorkersOption = Annotated[
    int, typer.Option(help="Processes; the result does not depend on it.", min=1)
]
OutOption = Annotated[Path, typer.Option(help="A .parquet file, or a folder for shards.")]
ShardRowsOption = Annotated[int, typer.Option(help="Rows per shard.", min=1)]


def register(app: typer.Typer) -> None:
    """Add this verb to the application."""
    make = typer.Typer(help="Make a data set.", no_args_is_help=True)
    for command in (pathfinder, cabc, curves, objects):
        make.command()(command)
    app.add_typer(make, name="make")


def _write(
    recipe: "Recipe",
    count: int,
    out: Path,
    config: "StoreConfig",
    cluster: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    import json
    import time
    from contextlib import ExitStack

    from mam.data import write_dataset
    from mam.data.outputs import check_folder

    check_folder(out)
    start = time.perf_counter()
    kept = "finished shards are kept, the same command goes on"
    title = f"making {recipe.kind}"
    with ExitStack() as stack:
        stack.enter_context(ends_on_request(kept))
        advance = stack.enter_context(progress_bar(title, count, quiet=quiet))
        over = None if cluster is None else stack.enter_context(over_cluster(cluster, quiet))
        write_dataset(recipe, count, out, config, advance, over)
    spent = time.perf_counter() - start
    if as_json:
        rate = round(count / spent, 2)
        about = {"out": str(out), "rows": count, "seconds": round(spent, 2), "per_second": rate}
        typer.echo(json.dumps(about))
    else:
        typer.echo(f"{out}: {count} rows, {spent:.1f} s, {count / spent:.1f} rows/s")


def pathfinder(
    out: OutOption,
    level: Annotated[str, typer.Option(help="easy, medium, hard or ultimate.")] = "hard",
    count: CountOption = 1000,
    seed: RowSeedOption = 0,
    workers: WorkersOption = 1,
    shard_rows: ShardRowsOption = 1000,
    cluster: ClusterOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Dashed contours: are the two markers on the same one?

    \b
    Example:
      mam make pathfinder --level hard --count 100 --out hard.parquet
    """
    from mam.data import StoreConfig, recipe

    _write(
        recipe("pathfinder", level, seed),
        count,
        out,
        StoreConfig(workers, shard_rows),
        cluster,
        as_json,
        quiet,
    )


def cabc(
    out: OutOption,
    level: Annotated[str, typer.Option(help="easy, medium or hard.")] = "hard",
    count: CountOption = 1000,
    seed: RowSeedOption = 0,
    workers: WorkersOption = 1,
    shard_rows: ShardRowsOption = 1000,
    cluster: ClusterOption = None,
    font: Annotated[
        list[Path] | None,
        typer.Option(help="A TrueType or OpenType file instead of the Hershey faces; repeatable."),
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Two bent letters: are the two ring markers on the same one?

    \b
    Example:
      mam make cabc --level easy --count 100 --out letters.parquet
    """
    from mam.data import StoreConfig, recipe
    from mam.data.generate.letters import load_faces

    made = recipe("cabc", level, seed)
    if font:
        fonts = tuple(str(path) for path in font)
        load_faces(fonts)  # a bad font is refused before any work starts
        made = dataclasses.replace(made, config=dataclasses.replace(made.config, fonts=fonts))
    _write(made, count, out, StoreConfig(workers, shard_rows), cluster, as_json, quiet)


def _span(text: str | None, name: str) -> tuple[int, int] | None:
    """`3` or `2-5` as (least, most)."""
    if text is None:
        return None
    least, _, most = text.partition("-")
    try:
        return int(least), int(most or least)
    except ValueError:
        raise ValueError(f"--{name} {text}: give a number or a range such as 2-5") from None


def curves(
    out: OutOption,
    level: Annotated[str, typer.Option(help="easy, medium, hard or wild.")] = "hard",
    count: CountOption = 1000,
    seed: RowSeedOption = 0,
    workers: WorkersOption = 1,
    shard_rows: ShardRowsOption = 1000,
    cluster: ClusterOption = None,
    kind: Annotated[
        str | None,
        typer.Option(
            help="Of the level wild: noise, walks, corners, widths, dashes, dots, cuts, light, "
            "trees, shared, or all in turn."
        ),
    ] = None,
    number: Annotated[str | None, typer.Option(help="Curves per image, e.g. 3 or 2-5.")] = None,
    width: Annotated[str | None, typer.Option(help="Width in px, e.g. 6 or 4-12.")] = None,
    size: Annotated[int | None, typer.Option(help="Side of the image in px.")] = None,
    gaps: Annotated[
        bool | None, typer.Option(help="One-pixel breaks along the borders at crossings.")
    ] = None,
    breaks: Annotated[float | None, typer.Option(help="Missing stretches per curve.")] = None,
    noise: Annotated[float | None, typer.Option(help="Probability of a flipped pixel.")] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Smooth curves that cross: which pixels belong together?

    \b
    Examples:
      mam make curves --number 3 --width 4-8 --count 100 --out curves.parquet
      mam make curves --level wild --kind dashes --count 200 --out dashes.parquet
    """
    from mam.data import StoreConfig, recipe

    made = recipe("curves", level, seed)
    wanted = {
        "curves": _span(number, "number"),
        "width": _span(width, "width"),
        "rows": size,
        "cols": size,
        "gaps": gaps,
        "breaks": breaks,
        "noise": noise,
        "kind": kind,
    }
    given = {name: value for name, value in wanted.items() if value is not None}
    for name in given:
        if not hasattr(made.config, name):
            raise typer.BadParameter(f"the level {level} has no --{name}")
    made = dataclasses.replace(made, config=dataclasses.replace(made.config, **given))
    _write(made, count, out, StoreConfig(workers, shard_rows), cluster, as_json, quiet)


def objects(
    out: OutOption,
    level: Annotated[str, typer.Option(help="easy, medium or hard.")] = "medium",
    count: CountOption = 100,
    seed: RowSeedOption = 0,
    workers: WorkersOption = 1,
    shard_rows: ShardRowsOption = 1000,
    cluster: ClusterOption = None,
    number: Annotated[int | None, typer.Option(help="Different objects.", min=1)] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Textured objects in clutter: where is each of them?

    \b
    Example:
      mam make objects --level easy --count 20 --out objects.parquet
    """
    from mam.data import StoreConfig, recipe

    made = recipe("objects", level, seed)
    if number is not None:
        made = dataclasses.replace(made, config=dataclasses.replace(made.config, objects=number))
    _write(made, count, out, StoreConfig(workers, shard_rows), cluster, as_json, quiet)
