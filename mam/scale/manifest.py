"""The manifest of a run: what it is made of, and what of it is done or set aside."""

import contextlib
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, count, takewhile
from pathlib import Path
from typing import Any

from mam import __version__
from mam.core.json_text import read_json
from mam.core.model_files import find_model
from mam.core.whole_files import reason_of, sweep, write_whole
from mam.core.words import counted
from mam.data.store.lock import locked_file
from mam.data.store.names import shard_name
from mam.scale.answers import answers_of, printable, stamp_in
from mam.scale.job import ShardJob
from mam.scale.shards import Shard, digest_of

NAME = "manifest.json"
_LOCK = ".mam-run.lock"
_MODELS = ".models"


def made_of(job: ShardJob, shards: Sequence[Shard]) -> dict[str, Any]:
    """All that the answers of a run depend on; the shards have stamps."""
    return {
        "mam": __version__,
        "job": type(job).__name__,
        "settings": json.loads(json.dumps(job.settings())),
        "models": {name: _digest(find_model(name)) for name in job.models},
        "input": {"items": sum(map(len, shards)), "shards": len(shards)}
        | {"digest": digest_of(shards)},
    }


def fingerprint(made: Mapping[str, Any]) -> str:
    """One word for it, which stands in every shard."""
    return hashlib.sha256(json.dumps(made, sort_keys=True).encode()).hexdigest()


@contextlib.contextmanager
def copied_models(folder: Path, made: Mapping[str, Any]) -> Iterator[dict[str, Path]]:
    """The models of a run beside its answers, where every worker can read them, as they are now."""
    place = folder / _MODELS
    place.mkdir(exist_ok=True)
    found: dict[str, Path] = {}
    try:
        for name, digest in made["models"].items():
            content = find_model(name).read_bytes()
            if hashlib.sha256(content).hexdigest() != digest:
                raise ValueError(f"{name}: was written anew as the run began; start it again")
            found[name] = place / f"{digest}.safetensors"
            write_whole(found[name], content)
        yield found
    finally:
        sweep(found.values())
        _remove(found.values(), place)


def _remove(files: Iterable[Path], folder: Path) -> None:
    """Remove files, and the folder that they are in, unless it holds what is not ours."""
    for path in files:
        with contextlib.suppress(OSError):
            path.unlink()
    with contextlib.suppress(OSError):
        folder.rmdir()


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@dataclass
class Manifest:
    """The file beside the shards; it is written anew after every change, whole or not at all."""

    folder: Path
    made_of: Mapping[str, Any]
    set_aside: dict[str, str] = field(default_factory=dict)  # item: reason
    done: bool = False

    def write(self) -> None:
        """Put it on the disk."""
        about = {
            "made_of": self.made_of,
            "done": self.done,
            "set_aside": [{"item": item, "reason": why} for item, why in self.set_aside.items()],
        }
        write_whole(self.folder / NAME, json.dumps(about, indent=1).encode())

    def remove(self, others: Iterable[Path] = ()) -> None:
        """Remove all that the run wrote, and ``others``; what else is in the folder stays there.

        The lock goes last: until then no other run begins.
        """
        files = [*others, *(self.folder / name for name in [*_shards_of(self.made_of), NAME])]
        sweep(files)
        _remove([*files, self.folder / _LOCK], self.folder)


def _shards_of(made: Mapping[str, Any]) -> list[str]:
    return [shard_name(number) for number in range(made["input"]["shards"])]


@contextlib.contextmanager
def opened(
    folder: Path, made: Mapping[str, Any], shards: Sequence[Shard] = ()
) -> Iterator[Manifest]:
    """The manifest of a folder that this run alone writes to.

    A folder of another run, or of other things made by the same command, is refused.
    """
    try:
        with locked_file(folder / _LOCK):
            before = _checked(folder, made, shards)
            files = _shards_of(made)
            _sweep(folder, files)
            manifest = Manifest(folder, made, before)
            manifest.write()
            yield manifest
            _sweep(folder, files)
    except BlockingIOError:
        raise OSError(
            f"{folder}: another run is writing there; wait for its end or choose another --out"
        ) from None
    except NotADirectoryError as error:
        raise OSError(f"{folder}: cannot be written to ({reason_of(error)})") from None


def _sweep(folder: Path, shards: Sequence[str]) -> None:
    """Remove what killed processes left half written."""
    sweep(folder / name for name in [NAME, *shards])


def _checked(folder: Path, made: Mapping[str, Any], shards: Sequence[Shard]) -> dict[str, str]:
    """What an earlier run of the same set aside."""
    path = folder / NAME
    if not path.exists():
        if any(folder.glob("*.parquet")):
            raise ValueError(f"{folder}: holds shards of something else; choose another --out")
        return {}
    try:
        about = read_json(path)
        aside = {str(one["item"]): str(one["reason"]) for one in about["set_aside"]}
        different = list(_differences(about["made_of"], made))
        changed = about["made_of"]["input"] != made["input"]
    except (ValueError, KeyError, TypeError, AttributeError):
        raise ValueError(f"{path}: is no manifest; choose another --out or remove it") from None
    if changed and (where := _first_change(folder, shards)):
        different.append(where)
    if different:
        raise ValueError(
            f"{folder}: holds answers of another run: {'; '.join(different)}. Choose another "
            "--out, or remove the folder to begin anew"
        )
    return aside


def _differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """In words, what two runs are made of that is not the same."""
    if (old := before["mam"]) != now["mam"]:
        yield f"version {old}, now {now['mam']}"
    if (old := before["job"]) != now["job"]:
        yield f"made by {old}, now {now['job']}"
        return
    for name in sorted({*before["settings"], *now["settings"]}):
        old, new = before["settings"].get(name), now["settings"].get(name)
        if old != new:
            yield f"{name} was {old!r}, now {new!r}"
    for name in sorted({*before["models"], *now["models"]}):
        if before["models"].get(name) != now["models"].get(name):
            yield f"the model {name} is another"
    if before["input"] != now["input"]:
        old, new = before["input"], now["input"]
        yield (
            f"the input is another ({counted(old['items'], 'item')} in "
            f"{counted(old['shards'], 'shard')}, now {new['items']} in {new['shards']})"
        )


def _first_change(folder: Path, shards: Sequence[Shard]) -> str | None:
    """Where the input begins to differ from that of the first shards in a folder."""
    names = map(shard_name, count())
    files = list(takewhile(lambda name: stamp_in(folder, name) is not None, names))
    before = chain.from_iterable(answers_of(folder / file) for file in files)
    now = (printable(name) for shard in shards for name in shard.names())
    for number, ((old, _), new) in enumerate(zip(before, now, strict=False), start=1):
        if old != new:
            return f"item {number} was {old}, now {new}"
    for shard, file in zip(shards, files, strict=False):
        names = shard.names() or [file]
        same = len(names) == sum(1 for _ in answers_of(folder / file))
        if same and stamp_in(folder, file) not in (None, shard.stamp):
            return f"{names[0]}, or another up to {names[-1]}, was written since"
    return None
