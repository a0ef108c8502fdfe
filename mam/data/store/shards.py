"""The folder of a data set's shards: one run at a time holds it, and lists in it what is ours."""

import contextlib
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from mam import __version__
from mam.core.json_text import parse_json
from mam.core.limits import JSON_CHARACTERS
from mam.core.whole_files import left_behind, reason_of
from mam.data.store.lock import locked_file
from mam.data.store.names import SHARD

MANIFEST = ".mam-make.json"


@dataclass(frozen=True)
class Claim:
    """A folder that this run alone writes to, while it holds the lock on the manifest in it."""

    folder: Path
    manifest: BinaryIO

    def listed(self) -> list[str]:
        """The shards that this program wrote here, or meant to; others are not ours to change."""
        self.manifest.seek(0)
        try:
            names = list(map(str, parse_json(self.manifest.read(JSON_CHARACTERS + 1))["shards"]))
        except (ValueError, KeyError, TypeError):
            return []
        return [name for name in names if SHARD.fullmatch(name)]

    def announce(self, recipe: str, names: Sequence[str]) -> None:
        """List the shards that this run will write, and remove what killed runs left of theirs."""
        for path in left_behind(self.folder, self.listed()):
            path.unlink()
        about = {"mam": __version__, "recipe": json.loads(recipe), "shards": list(names)}
        text = json.dumps(about).encode()
        self.manifest.seek(0)
        if self.manifest.read() == text:
            return
        try:
            self.manifest.seek(0)
            self.manifest.write(text)
            self.manifest.truncate()
            os.fsync(self.manifest.fileno())
        except OSError as error:
            raise _unwritable(self.folder, error) from None

    def remove(self, names: Sequence[str]) -> None:
        """Remove shards that are no longer needed."""
        for name in names:
            (self.folder / name).unlink(missing_ok=True)


@contextlib.contextmanager
def claimed(folder: Path, out: Path) -> Iterator[Claim]:
    """Hold a folder against other runs; `out` is named to a second one, which is refused.

    The manifest stays as long as there is a shard.
    """
    with contextlib.ExitStack() as stack:
        try:
            manifest = stack.enter_context(locked_file(folder / MANIFEST))
        except BlockingIOError:
            raise OSError(
                f"{out}: another run is writing it; wait for its end or choose another --out"
            ) from None
        except OSError as error:
            raise _unwritable(folder, error) from None
        claim = Claim(folder, manifest)
        try:
            yield claim
        finally:
            if not any((folder / name).exists() for name in claim.listed()):
                _remove(folder / MANIFEST, manifest)


def _unwritable(folder: Path, error: OSError) -> OSError:
    return OSError(f"{folder}: cannot be written to ({reason_of(error)})")


def _remove(path: Path, file: BinaryIO) -> None:
    if os.name == "nt":
        file.close()  # an open file cannot be removed there
    path.unlink(missing_ok=True)
