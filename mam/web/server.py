"""The application: its routes, each of which asks a pool of workers."""

import asyncio
import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel

from mam import __version__
from mam.core.defaults import LETTERS
from mam.web.described_answers import (
    ErrorAnswer,
    FindAnswer,
    GroupAnswer,
    LearnAnswer,
    PictureAnswer,
    ToyAnswer,
)
from mam.web.frames import Telling
from mam.web.guard import UPLOAD, Access, Application, Guard
from mam.web.limits import WebLimits
from mam.web.page_files import StaticFile, static_files
from mam.web.pool import JobError, WorkerPool
from mam.web.questions import (
    FileQuestion,
    FindQuestion,
    GroupQuestion,
    Key,
    LearnQuestion,
    ModelQuestion,
    command_line,
)
from mam.web.replies import attended, reply
from mam.web.samples import SAMPLES, sample_png
from mam.web.store import Held, MemoryStore

_NAME = Annotated[str, Query(max_length=200)]


@dataclass(frozen=True)
class WebSettings:
    """How the page is served."""

    limits: WebLimits = field(default_factory=WebLimits)
    access: Access = field(default_factory=Access)
    models: dict[str, Path] = field(default_factory=dict)  # by the name that people see
    workers: int = 2


class Desk:
    """What the routes share: workers, pictures and learned objects."""

    def __init__(self, settings: WebSettings) -> None:
        limits = settings.limits
        self.settings, self.limits = settings, limits
        self.quick = WorkerPool("curves", settings.workers, limits)
        self.long = WorkerPool("find", 1, limits)
        self.pictures = MemoryStore(limits.held_bytes)
        self.learned = MemoryStore(limits.held_bytes)

    def picture(self, key: str) -> Held:
        """A picture that was sent before."""
        found = self.pictures.get(key)
        if found is None:
            raise JobError(404, "this picture is not here any more; send it again")
        return found

    async def ask(
        self, job: str, picture: Held, arguments: dict[str, Any], tell: Telling
    ) -> tuple[dict[str, Any], list[bytes]]:
        """Run a quick job about a picture."""
        shared = {"name": picture.name, "pixels": self.limits.pixels}
        seconds = self.limits.quick_seconds
        frame = await self.quick.run(job, shared | arguments, [picture.content], tell, seconds)
        return frame.said["answer"], frame.blobs

    async def search(
        self, job: str, arguments: dict[str, Any], blobs: list[bytes], tell: Telling
    ) -> tuple[dict[str, Any], list[bytes]]:
        """Run a long job."""
        shared = {"pixels": self.limits.pixels}
        frame = await self.long.run(job, shared | arguments, blobs, tell, self.limits.long_seconds)
        return frame.said["answer"], frame.blobs


def make_app(settings: WebSettings) -> Application:
    """The application with its guard."""
    desk = Desk(settings)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        desk.quick.start()
        later = asyncio.create_task(_start_later(desk))
        yield
        later.cancel()
        await asyncio.gather(desk.quick.stop(), desk.long.stop())

    # The pages of FastAPI's own documentation come from a CDN.
    app = FastAPI(
        title="mam",
        version=__version__,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
    )
    app.add_exception_handler(JobError, _job_error)
    app.add_exception_handler(RequestValidationError, _validation_error)
    _add_page(app)
    _add_pictures(app, desk)
    _add_curves(app, desk)
    _add_objects(app, desk)
    return Guard(app, settings.limits, settings.access)


async def _start_later(desk: Desk) -> None:
    """Letters take long to prepare: curves come first."""
    while desk.quick.ready < desk.quick.size:
        await asyncio.sleep(0.2)
    desk.long.start()


async def _job_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, JobError)
    return JSONResponse({"error": str(error)}, error.status)


async def _validation_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    return JSONResponse({"error": f"{where}: {first['msg']}"}, 422)


def _said(answer: type[BaseModel]) -> dict[int | str, dict[str, Any]]:
    """The answers of a route, for its description."""
    said: dict[int | str, dict[str, Any]] = {200: {"model": answer}}
    return said | {code: {"model": ErrorAnswer} for code in (404, 422, 503)}


def _add_page(app: FastAPI) -> None:
    files = static_files()

    def sent(file: StaticFile) -> Response:
        return Response(file.content, media_type=file.media_type)

    @app.get("/", include_in_schema=False)
    async def page() -> Response:
        return sent(files["index.html"])

    @app.get("/static/{name}", include_in_schema=False)
    async def static(name: str) -> Response:
        if name not in files:
            return JSONResponse({"error": "no such file"}, 404)
        return sent(files[name])


def _add_pictures(app: FastAPI, desk: Desk) -> None:
    @app.get("/api/about")
    async def about() -> dict[str, Any]:
        """The version, what there is to choose from, and whether the workers are warm."""
        limits = desk.limits
        return {
            "version": __version__,
            "samples": {name: sample._asdict() for name, sample in SAMPLES.items()},
            "models": [LETTERS, *desk.settings.models],
            "ready": desk.quick.ready > 0,
            "ready to find": desk.long.ready > 0,
            "limits": {"bytes": limits.picture_bytes, "pixels": limits.pixels},
        }

    async def kept(name: str, content: bytes) -> dict[str, Any]:
        picture = Held(name, content)
        size, _ = await desk.ask("look", picture, {}, lambda text: None)
        return {"picture": desk.pictures.put(name, content), "name": name} | size

    @app.post(UPLOAD, responses=_said(PictureAnswer))
    async def upload(request: Request, name: _NAME = "picture.png") -> Response:
        """Send a picture as the body; its name is for words alone."""
        content = await request.body()
        return await reply(request, lambda tell: kept(name, content))

    @app.post("/api/samples/{sample}", responses=_said(PictureAnswer))
    async def take_sample(request: Request, sample: str) -> Response:
        """Take one of the pictures that are there to begin with."""
        if sample not in SAMPLES:
            raise JobError(404, f"no such sample; there are {', '.join(SAMPLES)}")
        content = await asyncio.to_thread(sample_png, sample)
        return await reply(request, lambda tell: kept(f"{sample}.png", content))

    @app.get("/api/pictures/{key}")
    async def view(request: Request, key: Key) -> Response:
        """A picture as a PNG that every browser can show."""
        picture = desk.picture(key)

        async def work() -> Response:
            _, [png] = await desk.ask("look", picture, {}, lambda text: None)
            return Response(png, media_type="image/png")

        return await attended(request, work())


def _add_curves(app: FastAPI, desk: Desk) -> None:
    @app.post("/api/group", responses=_said(GroupAnswer))
    async def group(request: Request, question: GroupQuestion) -> Response:
        """Which strokes or lines form one curve? Events tell of the progress."""
        picture = desk.picture(question.picture)

        async def work(tell: Telling) -> dict[str, Any]:
            asked = {"question": question.model_dump(mode="json")}
            answer, _ = await desk.ask("group", picture, asked, tell)
            return answer | {"command": command_line(question, picture.name)}

        return await reply(request, work)

    @app.post("/api/group/file")
    async def group_file(request: Request, question: FileQuestion) -> Response:
        """The same as a file: the bytes that the command line writes."""
        picture = desk.picture(question.picture)

        async def work() -> Response:
            asked = {"question": question.model_dump(mode="json"), "ending": question.ending.value}
            _, [content] = await desk.ask("group file", picture, asked, lambda text: None)
            return Response(content, media_type="application/octet-stream")

        return await attended(request, work())

    @app.post("/api/model", responses=_said(ToyAnswer))
    async def model(request: Request, question: ModelQuestion) -> Response:
        """The states of a small model when some variables are known."""

        async def work(tell: Telling) -> dict[str, Any]:
            asked = {"model": question.name, "given": question.given}
            frame = await desk.quick.run("toy", asked, [], tell, desk.limits.quick_seconds)
            return frame.said["answer"]

        return await reply(request, work)


def _add_objects(app: FastAPI, desk: Desk) -> None:
    @app.post("/api/find", responses=_said(FindAnswer))
    async def find(request: Request, question: FindQuestion) -> Response:
        """Where are the objects of a model?"""
        picture = desk.picture(question.picture)
        learned = desk.learned.get(question.model)
        known = {LETTERS: LETTERS} | {k: str(v) for k, v in desk.settings.models.items()}
        if learned is None and question.model not in known:
            raise JobError(404, "no such model is here any more; learn it again")

        async def work(tell: Telling) -> dict[str, Any]:
            blobs = [picture.content] + ([] if learned is None else [learned.content])
            asked = {"model": known.get(question.model), "copies": question.copies}
            answer, _ = await desk.search("find", asked | {"name": picture.name}, blobs, tell)
            return answer

        return await reply(request, work)

    @app.post("/api/learn", responses=_said(LearnAnswer))
    async def learn(request: Request, question: LearnQuestion) -> Response:
        """Learn an object from a picture and a painted mask; the answer names its model."""
        picture = desk.picture(question.picture)
        try:
            mask = base64.b64decode(question.mask, validate=True)
        except ValueError:
            raise JobError(422, "body.mask: is not base64") from None

        async def work(tell: Telling) -> dict[str, Any]:
            asked = {"name": picture.name, "object": question.name}
            answer, [content] = await desk.search("learn", asked, [picture.content, mask], tell)
            return answer | {"model": desk.learned.put(question.name, content)}

        return await reply(request, work)

    @app.get("/api/models/{key}")
    async def take_model(key: Key) -> Response:
        """A learned model as a file for `mam find --model`."""
        found = desk.learned.get(key)
        if found is None:
            raise JobError(404, "this model is not here any more; learn it again")
        return Response(found.content, media_type="application/octet-stream")
