"""`mam group` and `mam find` as jobs, for runs over many pictures."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mam.core.limits import INK_PIECES

if TYPE_CHECKING:
    import numpy as np

    from mam.commands.find.found_objects import FoundIn
    from mam.scale import Item, ItemAnswer
    from mam.scale.job import AnswerItems


@dataclass(frozen=True)
class GroupJob:
    """The curves of each picture."""

    model: str = "auto"
    threshold: float | None = None
    ink: str = "auto"
    box: tuple[tuple[float, float], tuple[float, float]] | None = None
    bridging: float = 1.0
    branches: bool = False
    bound: bool = False
    simplify: float = 0.5
    pixel_size: str | None = None
    axes: str | None = None
    most: int = INK_PIECES
    page: int | None = None
    batch: int = 1

    @property
    def models(self) -> tuple[str, ...]:
        """The model, or both that it chooses from."""
        return ("contours", "curves") if self.model == "auto" else (self.model,)

    def check(self) -> None:
        """Refuse what cannot be understood, before any work."""
        from mam.vision.images.ink_colours import check_ink

        check_ink(self.ink)
        _ = self.known

    @property
    def looked_at(self) -> dict[str, Any]:
        """The settings of `see_ink`."""
        names = ("threshold", "ink", "box", "page")
        return {name: getattr(self, name) for name in names}

    @property
    def known(self) -> dict[str, Any]:
        """The settings of `group_drawing`."""
        from mam.data.pixel_size import parse_pixel_size
        from mam.tasks.chart_axes import parse_axes

        size = None if self.pixel_size is None else parse_pixel_size(self.pixel_size)
        names = ("model", "bridging", "branches", "bound", "simplify", "most")
        return (
            self.looked_at
            | {name: getattr(self, name) for name in names}
            | {
                "pixel_size": size,
                "axes": None if self.axes is None else parse_axes(self.axes),
            }
        )

    def settings(self) -> Mapping[str, Any]:
        """All of them, as JSON has them: what was written before is compared with these."""
        return json.loads(json.dumps(asdict(self)))

    def open(self, models: Mapping[str, Path]) -> "AnswerItems":
        """Nothing to load: models stay loaded once they were used."""
        from mam.show.drawing_files import about_drawing
        from mam.tasks.drawing import group_drawing

        known = {**self.known, "model": str(models.get(self.model, self.model))}

        def one(item: "Item") -> Mapping[str, Any]:
            found = group_drawing(_picture(item), name=item.name, **known)
            chosen = found.model if self.model == "auto" else self.model
            return about_drawing(found, item.name) | {"model": chosen}

        return lambda items: _each(items, one)


@dataclass(frozen=True)
class FindJob:
    """The letters or objects of each picture."""

    model: str
    copies: int
    objects: bool
    known: tuple[tuple[str, Any], ...]
    page: int | None = None
    batch: int = 1

    @property
    def models(self) -> tuple[str, ...]:
        """The one model."""
        return (self.model,)

    def settings(self) -> Mapping[str, Any]:
        """All of them."""
        return asdict(self) | {"known": dict(self.known)}

    def search(
        self, model: str, depth: Path | None = None, masks: Path | None = None
    ) -> "Callable[[np.ndarray, str, Path | None], FoundIn]":
        """What looks through a picture, given its name and where to draw it."""
        if self.objects:
            from mam.commands.find.objects import object_search

            return object_search(model, dict(self.known), self.copies, depth, masks)
        from mam.commands.find.letters import letter_search

        return letter_search(model, dict(self.known), self.copies)

    def open(self, models: Mapping[str, Path]) -> "AnswerItems":
        """Load the model."""
        search = self.search(str(models[self.model]))

        def one(item: "Item") -> Mapping[str, Any]:
            from mam.data import read_picture

            pixels = read_picture(_picture(item), item.name, self.page)
            return json.loads(search(pixels, item.name, None).as_json())

        return lambda items: _each(items, one)


def _picture(item: "Item") -> "Path | np.ndarray":
    """The file of a picture, or the picture of a row."""
    if isinstance(item.value, Path):
        return item.value
    found = getattr(item.value, "image", None)
    return item.value.mask if found is None else found


def _each(items: "Sequence[Item]", one: Any) -> "list[ItemAnswer]":
    """One by one; a picture that cannot be read has an error instead of an answer."""
    from mam.core.faults import befell_the_machine
    from mam.scale import ItemAnswer

    found = []
    for item in items:
        try:
            found.append(ItemAnswer(one(item)))
        except (ValueError, OSError) as error:
            if befell_the_machine(error):
                raise
            found.append(ItemAnswer(None, str(error)))
    return found
