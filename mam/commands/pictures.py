"""The pictures that a command is given, what it writes for each of them, and how it goes on."""

import glob
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from mam.commands.progress import progress_bar, working
from mam.core.words import STANDARD_INPUT

PicturesArgument = Annotated[
    list[str],
    typer.Argument(
        help="Pictures (PNG, JPEG, TIFF, WebP, BMP, GIF, .npy), folders of them, patterns such as "
        "'scans/*.png'; - is standard input.",
        show_default=False,
    ),
]
PageOption = Annotated[int | None, typer.Option(help="The page of a file with several.", min=1)]


def find_pictures(given: Sequence[str], made: str) -> list[Path]:
    """All pictures that are named, in order, each once.

    Of a folder those that the command itself ``made`` there, `NAME-made.png`, are left out.
    """
    found: dict[Path, None] = {}
    for name in given:
        some = _expanded(name, made)
        if not some:
            raise FileNotFoundError(f"{name}: no pictures there")
        found |= dict.fromkeys(some)
    return list(found)


def _expanded(name: str, made: str) -> list[Path]:
    from mam.data.images import SUFFIXES

    path = Path(name)
    if path.is_dir():
        inside = [one for one in sorted(path.iterdir()) if one.suffix.lower() in SUFFIXES]
        stems = {one.stem for one in inside}
        return [
            one
            for one in inside
            if not (one.stem.endswith(made) and one.stem.removesuffix(made) in stems)
        ]
    if not path.exists() and glob.has_magic(name):
        return [Path(one) for one in sorted(glob.glob(name, recursive=True))]
    return [path]


def called(picture: Path) -> str:
    """What a picture is called in words."""
    return "standard input" if str(picture) == STANDARD_INPUT else str(picture)


def beside(picture: Path, made: str, out: Path | None, several: bool) -> Path:
    """Where the outcome of a picture goes: ``out``, of several a folder; or beside it.

    >>> beside(Path("a/b.jpg"), "-curves", None, False)
    PosixPath('a/b-curves.png')
    """
    stem = "standard-input" if str(picture) == STANDARD_INPUT else picture.stem
    if out is None:
        return picture.with_name(f"{stem}{made}.png")
    if not several:
        return out
    if not out.is_dir():
        raise NotADirectoryError(f"{out}: for several pictures give a folder that is there")
    return out / f"{stem}{made}.png"


def each_picture(
    pictures: Sequence[Path],
    work: Callable[[Path], str],
    title: str,
    quiet: bool,
    finish: Callable[[], None] = lambda: None,
) -> None:
    """Print what ``work`` says of each picture; of several, one that fails does not stop others.

    ``finish`` is called in the end, also where some failed.
    """
    if len(pictures) == 1:
        with working(f"{title} {called(pictures[0])}", quiet):
            said = work(pictures[0])
            finish()
        typer.echo(said)
        return
    failed = 0
    with progress_bar(title, len(pictures), "pictures", quiet=quiet) as advance:
        for picture in pictures:
            advance(0, f"{title} {picture.name}")
            try:
                typer.echo(work(picture))
            except (ValueError, OSError) as error:
                failed += 1
                typer.secho(f"mam: {error}", err=True, fg=typer.colors.RED)
            advance(1)
    finish()
    if failed:
        typer.echo(f"mam: {failed} of {len(pictures)} pictures failed", err=True)
        raise typer.Exit(2)
