"""Learning a rival: checkpoints every minute, and going on from them bit for bit."""

import contextlib
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from mam.data.read.labelled import LabelledPictures
from mam.data.store.lock import locked_file
from mam.rivals.data import coming
from mam.rivals.files import (
    Checkpoint,
    Stored,
    load_checkpoint,
    load_rival,
    save_checkpoint,
    save_rival,
)
from mam.rivals.networks import parameter_count
from mam.rivals.settings import Settings
from mam.rivals.settle import settled
from mam.rivals.train import learn_batch, start

BLOCK = 16  # steps between looks at the loss; waiting for it at each would keep the device idle
_SAVED_EVERY = 60.0  # seconds between checkpoints

Told = Callable[[int, float], None]  # images learned from since the last time, loss on them


@dataclass(frozen=True)
class Progress:
    """How far a run came."""

    finished: bool
    step: int
    steps: int
    seconds: float  # all runs together, compiling included
    images_per_second: float  # of the last run, without its first block of steps
    loss: float | None  # of the last block


def checkpoint_path(out: Path) -> Path:
    """Where a run that writes ``out`` keeps its checkpoint.

    >>> checkpoint_path(Path("h.safetensors")).name
    'h.safetensors.checkpoint'
    """
    return out.with_name(out.name + ".checkpoint")


def learn_rival(
    pictures: LabelledPictures,
    settings: Settings,
    out: Path,
    *,
    resume: bool = False,
    workers: int = 1,
    minutes: float | int | None = None,
    told: Told = lambda images, loss: None,
) -> Progress:
    """Learn a rival and write it to ``out``.

    What is there is never overwritten: with ``resume`` a stopped run goes on, and a finished one
    stays. After ``minutes`` a run stops with a checkpoint.
    """
    with _alone(out):
        return _learned(pictures, settings, out, resume, workers, minutes, told)


@contextlib.contextmanager
def _alone(out: Path) -> Iterator[None]:
    """Hold an output against other runs."""
    path = out.with_name(out.name + ".lock")
    try:
        with locked_file(path):
            try:
                yield
            finally:
                path.unlink(missing_ok=True)
    except BlockingIOError:
        raise OSError(f"{out}: another run is learning it; choose another --out") from None


def _learned(
    pictures: LabelledPictures,
    settings: Settings,
    out: Path,
    resume: bool,
    workers: int,
    minutes: float | int | None,
    told: Told,
) -> Progress:
    """Learn, with the output held."""
    kept = checkpoint_path(out)
    if out.exists():
        return _finished(out, settings, resume)
    if kept.exists() and not resume:
        raise ValueError(
            f"{kept}: a run stopped here; go on with --resume, or choose another --out"
        )
    at = load_checkpoint(kept, settings) if kept.exists() else _begun(settings)
    limit = None if minutes is None else time.perf_counter() + 60 * minutes
    blocks = learned_blocks(pictures, settings, at, workers)
    at, speed = _run(blocks, settings, at, kept, limit, told)
    if at.step == settings.steps:
        save_rival(out, _stored(pictures, settings, at, workers), at.losses)
        kept.unlink(missing_ok=True)
    return _progress(settings, at, speed)


def _begun(settings: Settings) -> Checkpoint:
    return Checkpoint(start(settings), 0, 0.0, np.zeros(0, np.float32))


def _finished(out: Path, settings: Settings, resume: bool) -> Progress:
    """A run that ended before; refused unless it is the one that is asked for."""
    if not resume:
        raise ValueError(f"{out}: is there already; choose another --out")
    about = load_rival(out).provenance
    settings.refuse_others(about["settings"], str(out))
    steps = settings.steps
    return Progress(True, steps, steps, about["seconds"], 0.0, about["loss"])


def _run(
    blocks: Generator[Checkpoint, None, None],
    settings: Settings,
    at: Checkpoint,
    kept: Path,
    limit: float | None,
    told: Told,
) -> tuple[Checkpoint, float]:
    """Learn until all is done or time is over; the checkpoint there, and images a second."""
    saved, rate, before = time.perf_counter(), 0.0, at.step
    first: tuple[float, int] | None = None  # when the first block was done, and its last step
    for at in blocks:
        now = time.perf_counter()
        _refuse_loss(at, kept)
        told(settings.batch * (at.step - before), float(at.losses[-1]))
        before = at.step
        if first is None:
            first = now, at.step
        else:
            rate = settings.batch * (at.step - first[1]) / (now - first[0])
        over = limit is not None and now > limit
        if at.step < settings.steps and (over or now - saved > _SAVED_EVERY):
            save_checkpoint(kept, at, settings)
            saved = time.perf_counter()
        if over:
            blocks.close()
            break
    return at, rate


def learned_blocks(
    pictures: LabelledPictures, settings: Settings, at: Checkpoint, workers: int
) -> Generator[Checkpoint, None, None]:
    """Where a run stands after each block of steps; the next block takes over its memory.

    Blocks are the same however often a run stops, because it stops between them alone.
    """
    began = time.perf_counter()
    state, losses, waiting = at.state, list(at.losses), []
    steps = range(at.step, settings.steps)
    batches = coming(pictures, settings.side, settings.batch, settings.seed, steps, workers)
    with contextlib.closing(batches):
        for done, batch in enumerate(batches, at.step + 1):
            state, loss = learn_batch(batch, state, settings.rate)
            waiting.append(loss)
            if done % BLOCK == 0 or done == settings.steps:
                losses.append(np.float32(jnp.stack(waiting).mean()))
                waiting = []
                seconds = at.seconds + time.perf_counter() - began
                yield Checkpoint(state, done, seconds, np.array(losses, np.float32))


def _refuse_loss(at: Checkpoint, kept: Path) -> None:
    if not np.isfinite(at.losses[-1]):
        raise ValueError(
            f"step {at.step}: the loss is {at.losses[-1]}; try a smaller --rate"
            + (f" ({kept} is from before)" if kept.exists() else "")
        )


def _stored(pictures: LabelledPictures, settings: Settings, at: Checkpoint, workers: int) -> Stored:
    config = {name: getattr(settings, name) for name in ("network", "task", "side")}
    provenance = {
        "data": Path(pictures.source).name,
        "settings": settings.as_dict(),
        "parameters": parameter_count(at.state.network),
        "images_seen": at.step * settings.batch,
        "seconds": round(at.seconds, 2),
        "loss": float(at.losses[-1]),
        "device": jax.devices()[0].device_kind,
    }
    moments = settled(at.state.network, pictures, settings, workers)
    return Stored(at.state.network, moments, config, provenance)


def _progress(settings: Settings, at: Checkpoint, speed: float) -> Progress:
    loss = float(at.losses[-1]) if len(at.losses) else None
    finished = at.step == settings.steps
    return Progress(finished, at.step, settings.steps, round(at.seconds, 2), round(speed, 1), loss)
