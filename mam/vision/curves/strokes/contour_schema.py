"""What a model file of contours holds: parts, and the continuation of its preset."""

from mam.core.schema import ModelFile, Schema, Setting, floats
from mam.vision.curves.chain_model import POTENTIALS
from mam.vision.curves.strokes.co_occurrences import check_keys
from mam.vision.curves.strokes.continuation import SETTINGS, Smoothing, check_table
from mam.vision.curves.strokes.presets import PRESETS
from mam.vision.parts.masks import MASKS, NOISE, SIZES, read_parts


def _refuse_others(file: ModelFile) -> None:
    """Refuse arrays that are not those of the preset."""
    if file.config.get("continuation", "smooth") != "smooth":
        raise ValueError("written before presets; learn it anew with preset='paper'")
    name = file.config.get("preset", "best")
    wanted = {"masks", *PRESETS[name].arrays}
    for array in sorted(wanted ^ set(file.arrays)):
        what = "no array" if array in wanted else "an array"
        raise ValueError(f"{what} {array} in it, and its preset is {name}")


def _check_continuation(file: ModelFile) -> None:
    parts = read_parts(file, file.config["noise"])
    if "table" in file.arrays:
        check_table(file.arrays["table"], Smoothing(**floats(file.config["smoothing"])))
    if "key" in file.arrays:
        check_keys(file.arrays["key"], len(parts))


SCHEMA = Schema(
    "contours",
    MASKS | {name: spec for preset in PRESETS.values() for name, spec in preset.arrays.items()},
    {
        "noise": NOISE,
        "preset": Setting(str, one_of=tuple(PRESETS), optional=True),
        "potentials": POTENTIALS,
        "smoothing": SETTINGS,
        "threshold": Setting(float, none=True),
        "restarts": Setting(int, 1, 10_000),
        "continuation": Setting(str, optional=True),  # before presets
    },
    "mam learn contours",
    SIZES,
    rules=[_refuse_others, _check_continuation],
)
