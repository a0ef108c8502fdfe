"""Learning a rival: checkpoints every minute, and going on from them bit for bit."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from mam.data.labelled import LabelledPictures
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
    kept = checkpoint_path(out)
    if out.exists():
        return _finished(out, settings, resume)
    if kept.exists() and not resume:
        raise ValueError(
            f"{kept}: a run stopped here; go on with --resume, or choose another --out"
        )
    at = load_checkpoint(kept, settings) if kept.exists() else _begun(settings)
    limit = None if minutes is None else time.perf_counter() + 60 * minutes
    at, speed = _run(pictures, settings, at, kept, workers, limit, told)
    if at.step == settings.steps:
        save_rival(out, _stored(pictures, settings, at), at.losses)
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


class _Speed(NamedTuple):
    """Images since a moment after compiling."""

    since: float
    step: int


def _run(
    pictures: LabelledPictures,
    settings: Settings,
    at: Checkpoint,
    kept: Path,
    workers: int,
    limit: float | None,
    told: Told,
) -> tuple[Checkpoint, float]:
    """Learn until all is done or time is over; the checkpoint there, and images a second."""
    began = saved = time.perf_counter()
    before, state, losses, waiting = at.seconds, at.state, list(at.losses), []
    speed: _Speed | None = None
    steps = range(at.step, settings.steps)
    batches = coming(pictures, settings.side, settings.batch, settings.seed, steps, workers)
    rate = 0.0
    for step, batch in zip(steps, batches, strict=True):
        state, loss = learn_batch(batch, state, settings.rate)
        waiting.append(loss)
        done = step + 1
        # Stops are between blocks alone, so that blocks are the same however often a run stops.
        if done % BLOCK and done != settings.steps:
            continue
        losses.append(_mean_loss(waiting, done, kept))
        told(settings.batch * len(waiting), float(losses[-1]))
        waiting, now = [], time.perf_counter()
        if speed is None:
            speed = _Speed(now, done)
        else:
            rate = settings.batch * (done - speed.step) / (now - speed.since)
        over = limit is not None and now > limit
        at = Checkpoint(state, done, before + now - began, np.array(losses, np.float32))
        if done < settings.steps and (over or now - saved > _SAVED_EVERY):
            save_checkpoint(kept, at, settings)
            saved = time.perf_counter()
        if over:
            batches.close()
            break
    return at, rate


def _mean_loss(waiting: list[jax.Array], step: int, kept: Path) -> np.float32:
    loss = np.float32(jnp.stack(waiting).mean())
    if not np.isfinite(loss):
        raise ValueError(
            f"step {step}: the loss is {loss}; try a smaller --rate"
            + (f" ({kept} is from before)" if kept.exists() else "")
        )
    return loss


def _stored(pictures: LabelledPictures, settings: Settings, at: Checkpoint) -> Stored:
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
    return Stored(at.state.network, at.state.moments, config, provenance)


def _progress(settings: Settings, at: Checkpoint, speed: float) -> Progress:
    loss = float(at.losses[-1]) if len(at.losses) else None
    finished = at.step == settings.steps
    return Progress(finished, at.step, settings.steps, round(at.seconds, 2), round(speed, 1), loss)
