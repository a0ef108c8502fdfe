"""The page in a real browser: what a person does there, with the mouse and with the keyboard."""

import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect, sync_playwright
from typer.testing import CliRunner

from mam.cli import app
from mam.core.model_files import model_kind
from mam.data import ObjectRow, make_row, recipe


def find_chromium() -> str | None:
    """The browser of this machine, or the one that `make test-web` had playwright bring."""
    if found := shutil.which("chromium") or shutil.which("google-chrome"):
        return found
    with sync_playwright() as playwright:
        own = Path(playwright.chromium.executable_path)
    return str(own) if own.exists() else None


CHROMIUM = find_chromium()
LONG = 60_000  # milliseconds; the workers warm up first
SIZE: ViewportSize = {"width": 1280, "height": 860}
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    context = browser.new_context(viewport=SIZE, accept_downloads=True)
    found = context.new_page()
    wrong: list[str] = []
    found.on("pageerror", lambda error: wrong.append(str(error)))
    found.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    found.goto(address)
    expect(found.locator("#sample option")).not_to_have_count(1)
    yield found
    context.close()
    # A refused question is an error of the console as well, and no mistake of the page.
    assert [text for text in wrong if "422" not in text] == []


def opened(page: Page, path: Path, content: bytes) -> None:
    path.write_bytes(content)
    page.set_input_files("#file", path)
    expect(page.locator("#command")).to_contain_text(path.name, timeout=LONG)


def click_at(page: Page, row: float, col: float) -> None:
    """Click a pixel of the picture."""
    x, y = page.evaluate(
        """([row, col]) => {
            const overlay = document.getElementById("overlay");
            const at = new DOMPoint(col, row).matrixTransform(overlay.getScreenCTM());
            return [at.x, at.y];
        }""",
        [row, col],
    )
    page.mouse.click(x, y)


def click_end(page: Page, row: float, col: float) -> None:
    """Click the end of a piece that is nearest to a pixel."""
    ends = page.eval_on_selector_all(
        "circle.end", "all => all.map((one) => [one.cy.baseVal.value, one.cx.baseVal.value])"
    )
    click_at(page, *min(ends, key=lambda end: (end[0] - row) ** 2 + (end[1] - col) ** 2))


def test_open_ask_correct_and_take_home(
    page: Page, cross: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(page, tmp_path / "cross.png", cross)
    expect(page.locator("#count")).to_have_text("2 curves of 4 strands")
    expect(page.locator("#certificate")).to_contain_text("proved optimal")
    page.hover("#curves li:first-child button")
    expect(page.locator("#detail")).to_contain_text("1 crossing")
    expect(page.locator("g.curve.lit")).to_have_count(1)

    page.check("input[value=ask]")
    click_at(page, 60, 20)
    click_at(page, 60, 140)
    expect(page.locator("#answer")).to_contain_text("The same curve: margin")
    expect(page.locator(".otherwise .line").first).to_be_attached()
    click_at(page, 60, 20)
    click_at(page, 20, 80)
    expect(page.locator("#answer")).to_contain_text("Different curves: margin")

    page.check("input[value=link]")
    expect(page.locator("circle.end")).to_have_count(8)
    click_end(page, 60, 72)
    click_end(page, 60, 88)
    expect(page.locator("#corrections li")).to_have_count(1, timeout=LONG)
    expect(page.locator("#command")).to_contain_text("--forbid")
    expect(page.locator("line.forbidden")).to_have_count(1)

    monkeypatch.chdir(tmp_path)
    words = page.locator("#command").inner_text()
    with page.expect_download() as waiting:
        page.click("button[data-ending='.svg']")
    found = CliRunner().invoke(app, shlex.split(words)[1:], catch_exceptions=False)
    assert found.exit_code == 0 and waiting.value.suggested_filename == "cross.svg"
    assert Path(waiting.value.path()).read_bytes() == (tmp_path / "cross.svg").read_bytes()

    page.keyboard.press("Control+z")
    expect(page.locator("#corrections li")).to_have_count(0)
    expect(page.locator("#command")).not_to_contain_text("--forbid")


def test_drop_and_sliders(page: Page, cross: bytes) -> None:
    page.evaluate(
        """(bytes) => {
            const data = new DataTransfer();
            data.items.add(new File([new Uint8Array(bytes)], "dropped.png", {type: "image/png"}));
            const stage = document.getElementById("stage");
            for (const kind of ["dragenter", "dragover", "drop"])
                stage.dispatchEvent(new DragEvent(kind, {dataTransfer: data, bubbles: true}));
        }""",
        list(cross),
    )
    expect(page.locator("#command")).to_contain_text("dropped.png", timeout=LONG)
    page.locator("#threshold").fill("100")
    expect(page.locator("#command")).to_contain_text("--threshold 100")
    expect(page.locator("#automatic")).not_to_be_checked()
    page.locator("#bridging").fill("2.5")
    expect(page.locator("#command")).to_contain_text("--bridging 2.5")
    page.select_option("#ink", "light")
    expect(page.locator("#certificate")).to_contain_text("light on dark")
    page.check("#show-ink")
    expect(page.locator("g.ink image")).to_have_count(1)
    page.check("#show-pieces")
    expect(page.locator("g.pieces polyline").first).to_be_attached()


def test_what_is_wrong_is_said_in_words(page: Page, tmp_path: Path) -> None:
    (tmp_path / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n and no more")
    page.set_input_files("#file", tmp_path / "broken.png")
    expect(page.locator("#status")).to_contain_text("corrupt or truncated", timeout=LONG)
    name = "<img src=x onerror=document.title='broken'>.png"
    (tmp_path / "plain.png").write_bytes(b"x")
    page.set_input_files("#file", {"name": name, "mimeType": "image/png", "buffer": b"x"})
    expect(page.locator("#status")).to_contain_text("<img src=x")
    expect(page.locator("#status img")).to_have_count(0)
    assert page.title() == "mam: which pieces belong together?"


def test_draw_strokes(page: Page) -> None:
    page.click("#draw")
    expect(page.locator("#status")).to_contain_text("Draw with")
    box = page.locator("#canvas").bounding_box()
    assert box is not None

    def stroke(start: tuple[float, float], stop: tuple[float, float]) -> None:
        for step in range(21):
            at = [a + (b - a) * step / 20 for a, b in zip(start, stop, strict=True)]
            page.mouse.move(box["x"] + at[0] * box["width"], box["y"] + at[1] * box["height"])
            if step == 0:
                page.mouse.down()
        page.mouse.up()

    stroke((0.1, 0.5), (0.9, 0.45))
    expect(page.locator("#count")).to_have_text("1 curve of 1 strand", timeout=LONG)
    stroke((0.5, 0.1), (0.45, 0.9))
    expect(page.locator("#count")).to_have_text("2 curves of 4 strands", timeout=LONG)


def test_the_keyboard_alone_is_enough(page: Page) -> None:
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    page.locator("#sample").focus()
    page.keyboard.type("Broken")
    expect(page.locator("#command")).to_contain_text("dashes.png", timeout=LONG)
    page.locator("input[value=point]").focus()
    page.keyboard.press("ArrowDown")
    expect(page.locator("input[value=ask]")).to_be_checked()
    page.locator("#curves button").first.focus()
    expect(page.locator("#detail")).to_contain_text("Curve 1")
    page.locator("#stage").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator("circle.cursor")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.locator("#status")).to_contain_text("second place")
    page.keyboard.press("Escape")
    expect(page.locator("circle.mark")).to_have_count(0)
    page.locator("#links").evaluate("list => { list.closest('details').open = true; }")
    page.locator("#links button").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#corrections li")).to_have_count(1, timeout=LONG)
    page.locator("#tab-curves").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#tab-model")).to_be_focused()
    node = page.locator("[data-label=C]")
    expect(node).to_have_attribute("aria-label", re.compile("C, O"), timeout=LONG)
    node.focus()
    page.keyboard.press("Enter")
    expect(node).to_have_attribute("aria-label", "C, ON, known")
    expect(page.locator("#independent")).to_contain_text("A and B: independent")
    expect(node).to_be_focused()


def test_everything_has_a_name_and_fits_a_phone(browser: Browser, address: str) -> None:
    context = browser.new_context(viewport={"width": 375, "height": 700}, color_scheme="dark")
    page = context.new_page()
    page.goto(address)
    expect(page.locator("#sample option")).not_to_have_count(1)
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= 375
    unnamed = page.evaluate(
        """() => [...document.querySelectorAll("button, input, select, [role=application]")]
            .filter((one) => !one.textContent.trim() && !one.getAttribute("aria-label")
                && !(one.labels && one.labels.length)).map((one) => one.id)"""
    )
    assert unnamed == []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert least_contrast(page) >= 4.5
    context.close()


def least_contrast(page: Page) -> float:
    """The least contrast of text and ground, by WCAG, over all texts that are shown."""
    pairs = page.evaluate(
        """() => [...document.querySelectorAll("main *, header *, footer *")]
            .filter((one) => one.offsetParent && !one.closest(":disabled, svg")
                && [...one.childNodes].some((n) => n.nodeType === 3 && n.data.trim()))
            .map((one) => {
                let ground = one;
                while (getComputedStyle(ground).backgroundColor.endsWith(", 0)")) {
                    ground = ground.parentElement;
                }
                const parse = (text) => text.match(/[\\d.]+/g).slice(0, 3).map(Number);
                return [getComputedStyle(one).color, getComputedStyle(ground).backgroundColor]
                    .map(parse);
            })"""
    )
    assert len(pairs) > 20
    return min(contrast(*pair) for pair in pairs)


def contrast(one: list[float], other: list[float]) -> float:
    bright, dim = sorted((luminance(one), luminance(other)), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


def luminance(colour: list[float]) -> float:
    linear = [
        c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4
        for c in (value / 255 for value in colour)
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.slow
def test_paint_learn_and_find(page: Page) -> None:
    page.click("#tab-find")
    page.select_option("#sample", "things")
    expect(page.locator("#status")).to_contain_text("things.png", timeout=LONG)
    page.click("#learn")
    expect(page.locator("#status")).to_contain_text("First paint")
    row = make_row(recipe("objects", "easy", 3), 0)
    assert isinstance(row, ObjectRow)
    page.click("#paint")
    box = page.locator("#canvas").bounding_box()
    assert box is not None
    rows, cols = row.mask.shape
    # Lines along the object's rows, from border to border.
    for line in np.flatnonzero(row.mask.any(1))[::4]:
        inside = np.flatnonzero(row.mask[line])
        y = box["y"] + (line + 0.5) / rows * box["height"]
        page.mouse.move(box["x"] + (inside[0] + 2) / cols * box["width"], y)
        page.mouse.down()
        page.mouse.move(box["x"] + (inside[-1] - 1) / cols * box["width"], y)
        page.mouse.up()
    page.fill("#object", "plate")
    page.click("#learn")
    expect(page.locator("#status")).to_contain_text("Learned plate", timeout=3 * LONG)
    with page.expect_download() as waiting:
        page.click("#model-file")
    assert waiting.value.suggested_filename == "plate.safetensors"
    assert model_kind(waiting.value.path()) == "objects in photographs"
    page.select_option("#sample", "other-things")
    expect(page.locator("#status")).to_contain_text("other-things.png", timeout=LONG)
    page.click("#find")
    expect(page.locator("#found")).to_contain_text("plate: score", timeout=LONG)
    expect(page.locator("g.masks image")).to_have_count(1)
    page.select_option("#model", "letters")
    page.select_option("#sample", "letters")
    expect(page.locator("#status")).to_contain_text("letters.png", timeout=LONG)
    page.locator("#copies").fill("2")
    page.click("#find")
    expect(page.locator("#found li")).to_have_count(2, timeout=LONG)


def test_paste_a_picture(page: Page, cross: bytes) -> None:
    page.evaluate(
        """(bytes) => {
            const data = new DataTransfer();
            data.items.add(new File([new Uint8Array(bytes)], "pasted.png", {type: "image/png"}));
            dispatchEvent(new ClipboardEvent("paste", {clipboardData: data}));
        }""",
        list(cross),
    )
    expect(page.locator("#command")).to_contain_text("pasted.png", timeout=LONG)
    expect(page.locator("#count")).to_have_text("2 curves of 4 strands")
