"""What `mam group` does with a picture, and what it says of it."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

from mam.commands.group.group_outputs import OutputPlan
from mam.commands.group.hints import Hints
from mam.commands.pictures import called
from mam.commands.shard_jobs import GroupJob
from mam.core.words import counted

if TYPE_CHECKING:
    from mam.commands.group.folder import Kept
    from mam.tasks.drawing import Drawing


def group_one(
    picture: Path, job: GroupJob, known: Hints, plan: OutputPlan, kept: "Kept | None", as_json: bool
) -> str:
    """Group a picture, write its files, and say so; one that was done before is left alone."""
    if kept is not None and (before := kept.answer(picture)) is not None:
        return json.dumps(before) if as_json else _told_again(before)
    try:
        return _grouped(picture, job, known, plan, kept, as_json)
    except (ValueError, OSError) as error:
        if kept is not None:
            kept.failed(picture, str(error))
        raise


def _grouped(
    picture: Path, job: GroupJob, known: Hints, plan: OutputPlan, kept: "Kept | None", as_json: bool
) -> str:
    from mam.core.whole_files import write_whole
    from mam.show.drawing_files import FILES, about_drawing
    from mam.tasks.drawing import group_drawing

    name = called(picture)
    drawing = group_drawing(picture, name=name, **known._asdict(), **job.known)
    for ending, path in plan.files[picture]:
        write_whole(path, FILES[ending].write(drawing, name))
    files = [str(path) for _, path in plan.files[picture]]
    about = about_drawing(drawing, name) | {"files": files}
    if kept is not None:
        kept.keep(picture, drawing, about)
    return json.dumps(about, allow_nan=False) if as_json else as_text(drawing, plan, picture)


def as_text(found: "Drawing", plan: OutputPlan, picture: Path) -> str:
    """Return a few lines to read."""
    from mam.show.drawing_files import FILES

    lines = [
        f"{called(picture)}: {found.counts}, model {found.model}",
        f"assumed: {found.assumed}",
        _certificate(found),
    ]
    if found.same is not None:
        verdict = "the same curve" if found.same.same else "different curves"
        lines.append(f"The markers are on {verdict}, margin {found.same.margin:.2f}")
    lines.append("; ".join(f"{path}: {FILES[end].holds}" for end, path in plan.files[picture]))
    return "\n".join(line for line in lines if line)


def _certificate(found: "Drawing") -> str:
    from mam.vision.curves.answer import proved_in_words

    if found.proof is not None:
        return f"score {found.score:.2f}, {proved_in_words(found.proof, found.pieces_proof)}"
    return f"score {found.score:.2f}" + (
        "" if found.bound is None else f", within {found.bound - found.score:.2f} of the optimum"
    )


def _told_again(before: dict) -> str:
    return f"{before['picture']}: {counted(len(before['curves']), 'curve')}, from before"


def draw_ink_of(picture: Path, job: GroupJob, plan: OutputPlan, as_json: bool) -> str:
    """Draw what is taken as ink."""
    from mam.core.whole_files import write_whole
    from mam.data.images import encode_png
    from mam.show.curves import draw_ink
    from mam.tasks.seen import see_ink
    from mam.vision.images.ink import count_pieces

    name, [(_, path)] = called(picture), plan.files[picture]
    pixels, ink = see_ink(picture, name=name, **job.looked_at)
    write_whole(path, encode_png(draw_ink(pixels, ink.mask)))
    share, pieces = float(ink.mask.mean()), count_pieces(ink.mask)
    about = {"picture": name, "ink": str(path), "share": round(share, 4), "pieces": pieces}
    about |= {"assumed": ink.assumed, "colours": ink.colours}
    said = f"{name}: {100 * share:.1f} % of the pixels are ink, {counted(pieces, 'piece')}"
    return json.dumps(about) if as_json else f"{said}\nassumed: {ink.assumed}\n{path}: the ink"
