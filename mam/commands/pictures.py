"""The pictures that a command is given, what it writes for each of them, and how it goes on."""

import glob
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from mam.commands.progress_bars import progress_bar, working
from mam.core.faults import befell_the_machine
from mam.core.words import STANDARD_INPUT, terminal_text

PicturesArgument = Annotated[
    list[str],
    typer.Argument(
        help="Pictures (PNG, JPEG, TIFF, WebP, BMP, GIF, .npy), folders of them, patterns such as "
        "'scans/*.png'; - is standard input.",
        show_default=False,
    ),
]
PageOption = Annotated[int | None, typer.Option(help="The page of a file with several.", min=1)]


def find_pictures(given: Sequence[str], *made: str) -> list[Path]:
    """All pictures that are named, in order, each once.

    Of a folder those that the command itself ``made`` there, `NAME-made...`, are left out.
    """
    found: dict[Path, None] = {}
    for name in given:
        some = _expanded(name, made)
        if not some:
            raise FileNotFoundError(f"{name}: no pictures there")
        found |= dict.fromkeys(some)
    return list(found)


def find_sources(given: Sequence[str], *made: str) -> list[Path]:
    """All pictures that are named, and data sets: parquet files, and folders of them."""
    found: dict[Path, None] = {}
    for name in given:
        path = Path(name)
        data = path.suffix == ".parquet" or (path.is_dir() and any(path.glob("*.parquet")))
        found |= dict.fromkeys([path] if data else find_pictures([name], *made))
    return list(found)


def _expanded(name: str, made: tuple[str, ...]) -> list[Path]:
    from mam.data.images import SUFFIXES

    path = Path(name)
    if path.is_dir():
        inside = [one for one in sorted(path.iterdir()) if one.suffix.lower() in SUFFIXES]
        known = {name for one in inside for name in (one.stem, one.name)}
        return [
            one
            for one in inside
            if not any(end in one.name and one.name.rpartition(end)[0] in known for end in made)
        ]
    if not path.exists() and glob.has_magic(name):
        return [Path(one) for one in sorted(glob.glob(name, recursive=True))]
    return [path]


def called(picture: Path) -> str:
    """What a picture is called in words."""
    return "standard input" if str(picture) == STANDARD_INPUT else str(picture)


def beside_each(pictures: Sequence[Path], made: str, out: Path | None = None) -> dict[Path, Path]:
    """Where the outcome of each picture goes: ``out``, of several a folder; or beside it."""
    several = len(pictures) > 1
    if several and out is not None and not out.is_dir():
        raise NotADirectoryError(f"{out}: for several pictures give a folder that is there")
    if not several and out is not None:
        return dict.fromkeys(pictures, out)
    return in_folder(pictures, made, out)


def in_folder(pictures: Sequence[Path], made: str, folder: Path | None = None) -> dict[Path, Path]:
    """A name for the outcome of each picture, in a folder or beside it.

    Pictures that differ in their ending alone keep it in the name of the outcome.

    >>> in_folder([Path("a/b.jpg")], "-curves")
    {PosixPath('a/b.jpg'): PosixPath('a/b-curves.png')}
    """
    short = {one: _outcome(one, one.stem, made, folder) for one in pictures}
    often = Counter(short.values())
    places = {
        one: path if often[path] == 1 else _outcome(one, one.name, made, folder)
        for one, path in short.items()
    }
    first: dict[Path, Path] = {}
    for one, path in places.items():
        if first.setdefault(path, one) != one:
            raise ValueError(f"{first[path]} and {one}: both would become {path}; rename one")
    return places


def _outcome(picture: Path, name: str, made: str, folder: Path | None) -> Path:
    name = "standard-input" if str(picture) == STANDARD_INPUT else name
    return (picture.parent if folder is None else folder) / f"{name}{made}.png"


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
        typer.echo(terminal_text(said))
        return
    failed = 0
    with progress_bar(title, len(pictures), "pictures", quiet=quiet) as advance:
        for picture in pictures:
            advance(0, f"{title} {picture.name}")
            try:
                typer.echo(terminal_text(work(picture)))
            except (ValueError, OSError) as error:
                if befell_the_machine(error):
                    raise  # it would befall all others too
                failed += 1
                typer.secho(f"mam: {terminal_text(str(error))}", err=True, fg=typer.colors.RED)
            advance(1)
    finish()
    if failed:
        typer.echo(f"mam: {failed} of {len(pictures)} pictures failed", err=True)
        raise typer.Exit(2)
