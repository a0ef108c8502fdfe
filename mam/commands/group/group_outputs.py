"""Where the outcomes of `mam group` go."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mam.commands.pictures import in_folder

MADE, INK = "-curves", "-ink"  # what names of outcomes have behind those of pictures
PNG, SVG, JSON = ".png", ".svg", ".json"


@dataclass(frozen=True)
class OutputPlan:
    """The files of each picture with their endings; in a folder also an answer of each."""

    files: Mapping[Path, Sequence[tuple[str, Path]]]
    folder: Path | None
    answers: Mapping[Path, Path]


def plan_outputs(
    pictures: Sequence[Path],
    out: Sequence[Path],
    out_dir: Path | None,
    made: str,
    default: Sequence[str],
    models: Sequence[Path] = (),
) -> OutputPlan:
    """Decide what is written, and refuse before any work what cannot be."""
    from mam.data.outputs import check_folder, check_outputs
    from mam.show.drawing_files import FILES, ending_of

    endings = [str(one) for one in out if str(one) in FILES]
    named = [one for one in out if str(one) not in FILES]
    if len(pictures) > 1 and out_dir is None and len(named) == 1 and ending_of(named[0]) is None:
        out_dir = named.pop()
    if named and (len(pictures) > 1 or out_dir is not None):
        ending = ending_of(named[0]) or default[0]
        raise ValueError(
            f"--out {named[0]}: is for one picture; of several give the ending alone, "
            f"--out {ending}, and --out-dir FOLDER"
        )
    if out_dir is not None:
        check_folder(out_dir)
        out_dir.mkdir(parents=True, exist_ok=True)
    wanted = endings if endings or named else list(default)
    places = in_folder(pictures, made, out_dir)
    answers = {} if out_dir is None else {one: _with(at, JSON) for one, at in places.items()}
    files = {
        one: [
            # Answers are the files with that ending.
            *((ending, _with(at, ending)) for ending in wanted if not (answers and ending == JSON)),
            *((ending_of(path) or "", path) for path in named),
        ]
        for one, at in places.items()
    }
    allowed = tuple(FILES) if made == MADE else (PNG,)
    every = [path for some in files.values() for _, path in some]
    check_outputs({allowed: every, JSON: answers.values()}, [*pictures, *models])
    return OutputPlan(files, out_dir, answers)


def _with(place: Path, ending: str) -> Path:
    return place.with_name(place.name.removesuffix(PNG) + ending)
