"""A process that has imported everything, and forks one that does a command, to be killed.

Its input has a line for each command: a folder and the words. It answers with the number of the
process, and when that has ended with how it did.
"""

import json
import os
import sys
from pathlib import Path

import mam.data
import mam.reproduce.run
import mam.show.drawing_files
import mam.tasks.curves
import mam.tasks.drawing  # noqa: F401
from mam.cli import app
from mam.scale import map_shards
from tests.scale.jobs import SizeJob


def do(words: list[str]) -> None:
    if words == ["shards"]:
        map_shards(SizeJob(".", slow=0.03), sorted(Path("in").iterdir()), "out", shard_bytes=100)
    else:
        app(words, standalone_mode=False)


def main() -> None:
    for line in sys.stdin:
        folder, *words = json.loads(line)
        child = os.fork()
        if not child:
            os.setsid()
            os.chdir(folder)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            do(words)
            os._exit(0)
        print(child, flush=True)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    main()
