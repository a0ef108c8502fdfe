"""A rival learned from more and more images, measured on every level: one JSON.

``python -m bench.rival_runs --out DIR``: makes the images (kept in ``--data``), learns from each
count, answers the test sets of all levels, and writes ``DIR/KIND-TASK-LEVEL.json`` after each
count. What is done is not done again, and a stopped run goes on from its checkpoint: give the same
command again. ``--minutes`` stops it in time.
"""

import argparse
import json
import os
import time
from dataclasses import asdict
from pathlib import Path

from mam.core.whole_files import write_whole
from mam.data import LEVELS, StoreConfig, recipe, write_dataset
from mam.data.read.labelled import LabelledPictures, read_labelled
from mam.rivals.settings import RATES, Settings

# JAX is imported late: the processes that make images import this file, and do not need it.
TRAIN_SEED, TEST_SEED = 201, 202


def options_of() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="models and the JSON")
    parser.add_argument("--data", type=Path, default=Path("build/rivals"), help="images")
    parser.add_argument("--kind", default="h-cnn")
    parser.add_argument("--task", default="pathfinder", choices=("pathfinder", "cabc"))
    parser.add_argument("--level", default="hard", help="to learn from")
    parser.add_argument("--counts", default="1000,5000,20000,100000", help="images")
    parser.add_argument("--seen", type=int, default=200_000, help="images seen in each run")
    parser.add_argument("--tests", type=int, default=1000, help="images of each test set")
    parser.add_argument("--test-levels", default="", help="default: all of the task")
    parser.add_argument("--side", type=int, default=160)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--rate", type=float, default=None)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--minutes", type=float, default=None, help="stop in time, to go on later")
    return parser.parse_args()


def made(task: str, level: str, seed: int, count: int, options: argparse.Namespace) -> str:
    """A folder of generated images."""
    folder = options.data / f"{task}-{level}-{seed}-{count}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    begin = time.perf_counter()
    # Small shards: no worker waits long for the last of them.
    write_dataset(recipe(task, level, seed), count, folder, StoreConfig(options.workers))
    print(f"{folder}: {count} images, {time.perf_counter() - begin:.1f} s", flush=True)
    return str(folder)


def settings_of(pictures: LabelledPictures, options: argparse.Namespace) -> Settings:
    """As many epochs as make up the images seen."""
    return Settings(
        network=options.kind,
        task=options.task,
        images=len(pictures),
        digest=pictures.digest(),
        side=options.side,
        batch=options.batch,
        rate=options.rate or RATES[options.task],
        epochs=max(1, round(options.seen / len(pictures))),
        seed=options.seed,
    )


def learned(source: str, count: int, out: Path, left: float | None, options) -> dict:
    """Learn, or go on; what came of it."""
    from mam.rivals.learn import learn_rival

    pictures = read_labelled(source, count)
    settings = settings_of(pictures, options)
    shown = [time.perf_counter()]

    def told(images: int, loss: float) -> None:
        if time.perf_counter() - shown[0] > 15:
            shown[0] = time.perf_counter()
            print(f"{count} images: loss {loss:.4f}", flush=True)

    progress = learn_rival(
        pictures, settings, out, resume=True, workers=options.workers, minutes=left, told=told
    )
    print(f"{count} images: {progress}", flush=True)
    return {"settings": settings.as_dict(), **asdict(progress)}


def measured(out: Path, tests: dict[str, str], options) -> dict:
    """Accuracy by level, and what the rival is."""
    from mam.rivals.predict import Rival
    from mam.tasks.rivals import evaluate

    rival = Rival.load(out)
    found = {}
    for level, source in tests.items():
        report = evaluate(source, rival, options.task)
        found[level] = report.figures["accuracy"]
        print(
            f"{out.name}, {level}: {found[level]:.4f}, {report.per_second:.0f} a second", flush=True
        )
    about = {name: rival.provenance[name] for name in ("parameters", "device", "images_seen")}
    return {**about, "accuracy": found}


def main() -> None:
    options, begin = options_of(), time.perf_counter()
    options.out.mkdir(parents=True, exist_ok=True)
    counts = sorted(map(int, options.counts.split(",")))
    name = f"{options.kind}-{options.task}-{options.level}"
    levels = options.test_levels.split(",") if options.test_levels else list(LEVELS[options.task])
    train = made(options.task, options.level, TRAIN_SEED, counts[-1], options)
    tests = {n: made(options.task, n, TEST_SEED, options.tests, options) for n in levels}
    report = options.out / f"{name}.json"
    runs = json.loads(report.read_text())["runs"] if report.exists() else {}
    for count in counts:
        left = None
        if options.minutes is not None:
            left = max(0.0, options.minutes - (time.perf_counter() - begin) / 60)
        out = options.out / f"{name}-{count}.safetensors"
        run = learned(train, count, out, left, options)  # refuses what has other settings
        if run["finished"] and "accuracy" in runs.get(str(count), {}):
            continue
        runs[str(count)] = run
        if run["finished"]:
            run |= measured(out, tests, options)
        write_whole(report, json.dumps({"runs": runs}, indent=1).encode())
        if not run["finished"]:
            print("out of time: give the same command again to go on", flush=True)
            return
    print(f"{report}: done", flush=True)


if __name__ == "__main__":
    main()
