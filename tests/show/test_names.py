"""Names that a user gives, or a file brings, stay text in every page, and files in their folder."""

import csv
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mam.web
from mam.commands.find.found_objects import FoundIn, FoundObject, write_tables
from mam.commands.pictures import beside_each
from mam.core.svg import as_svg
from mam.reproduce.page_settings import settings_table
from mam.reproduce.steps import Step, StepFolder
from mam.show.chart import Series, line_chart
from mam.show.curve_tables import as_csv
from mam.show.page import TableRow, figure, figures, page, paragraph, picture, table
from mam.show.sheet import contact_sheet
from mam.tasks.drawing import Drawing

EVIL = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror='alert(1)'>",
    "</title></style></svg><script>",
    "a'b\"c&d;&lt;",
    "../../x",
    "line\nbreak\ttab",
    "\x00\x1b[31m",
    "\udcff",
    "]]>",
    "=HYPERLINK(1)",
    "@SUM(A1)",
    "-1+1|cmd",
]
FORMULA = tuple("=+-@")
NAMES = st.sampled_from(EVIL) | st.text(st.characters(), max_size=20)
PIXELS = np.zeros((20, 30, 3), np.uint8)


class Elements(HTMLParser):
    """The elements of a page, and what their attributes are called."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, tuple[str, ...]]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, tuple(name for name, _ in attrs)))


def whole_page(name: str) -> str:
    """A page with a name wherever one can stand."""
    series = Series(name, [1, 10], [50, 60], [1, 1])
    sections = [
        (name, paragraph(name)),
        ("table", table([name, name], [TableRow([name, name], "ours")], name)),
        ("figures", figures([figure(picture(PIXELS, name), name, f"good: {name}")])),
        ("chart", line_chart([series], name, name)),
        ("settings", settings_table({name: name})),
    ]
    return page(name, name, sections)


@given(NAMES)
def test_a_name_never_becomes_an_element(name: str) -> None:
    # Long words may break into lines, by a class of their cells.
    plain = "x" * len(name)
    assert Elements(whole_page(name)).found == Elements(whole_page(plain)).found


@given(NAMES)
def test_drawings_are_xml_whatever_their_title(name: str) -> None:
    line = np.array([[0.0, 1.0], [2.0, 3.0]])
    text = as_svg((9, 9), [line], name)
    root = ElementTree.fromstring(text.encode())
    assert [one.tag.rpartition("}")[2] for one in root.iter()] == ["svg", "title", "g", "path"]
    shown = Drawing(np.zeros((9, 9), np.uint8), [line], model=name)._repr_svg_()
    assert len(list(ElementTree.fromstring(shown.encode()).iter())) == 4


def test_the_page_of_the_server_makes_no_elements_of_text() -> None:
    static = Path(mam.web.__file__).parent / "static"
    scripts = {path: path.read_text() for path in static.glob("*.js")}
    assert scripts
    for path, text in scripts.items():
        assert not re.search(r"(inner|outer)HTML|insertAdjacent|document\.write|eval\(", text), path


@pytest.mark.parametrize("name", EVIL)
def test_tables_hold_any_name(name: str, tmp_path: Path) -> None:
    found = FoundObject(name, name, True, 1.0, 2.0, 1.0, (0, 0, 1, 1), np.zeros((2, 2)), 4)
    paths = [tmp_path / "found.json", tmp_path / "found.csv"]
    write_tables([FoundIn(name, "objects", [found])], paths)
    [one] = json.loads(paths[0].read_text())
    assert one["picture"] == name and one["objects"][0]["name"] == name
    with paths[1].open(newline="", encoding="utf-8") as file:
        [row] = csv.DictReader(line.replace("\0", "") for line in file)
    assert row["pixels"] == "4" and row["there"] == "1"
    assert not row["picture"].startswith(FORMULA) and not row["name"].startswith(FORMULA)


@pytest.mark.parametrize("name", EVIL)
def test_tables_of_curves_hold_any_name(name: str) -> None:
    content = as_csv(["picture", "value"], [[name, -2.5], [name, "-2.5"]])
    rows = list(csv.reader(content.decode().replace("\0", "").splitlines(keepends=True)))[1:]
    assert [row[-1] for row in rows] == ["-2.5", "-2.5"]
    assert not any(row[0].startswith(FORMULA) for row in rows)


@pytest.mark.parametrize("name", EVIL)
def test_captions_of_pictures_hold_any_name(name: str) -> None:
    assert contact_sheet([(name, [PIXELS])]).shape == (42, 38, 3)


@given(NAMES)
def test_files_named_by_data_stay_in_their_folder(name: str) -> None:
    step = Step(name, {"name": name}, lambda path, advance: None, suffix=".txt")
    for path in StepFolder(Path("/folder")).files(step):
        assert path.parent == Path("/folder")
        assert re.fullmatch(r"[a-z0-9-]+\.(txt|json)", path.name)


@given(st.lists(NAMES, min_size=2, max_size=3, unique=True))
def test_outcomes_of_pictures_stay_in_their_folder(names: list[str]) -> None:
    pictures = list(dict.fromkeys(Path(f"{name}.png") for name in names))
    try:
        places = beside_each(pictures, "-curves", Path("/tmp"))
    except ValueError as error:
        assert "both would become" in str(error)
        return
    except NotADirectoryError:
        return
    if len(pictures) > 1:
        assert all(path.parent == Path("/tmp") for path in places.values())
