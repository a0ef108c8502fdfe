"""Photograph the page for the docs, and time a photograph of 900 x 700 px on it.

python -m tests.web.pictures docs/pictures
"""

import io
import sys
import time
from pathlib import Path

import skimage.data
from PIL import Image
from playwright.sync_api import FilePayload, Page, expect, sync_playwright

from tests.web.conftest import served
from tests.web.test_browser import CHROMIUM, LONG, SIZE, click_at


def sample(page: Page, name: str) -> None:
    page.select_option("#sample", name)
    expect(page.locator("#command")).to_contain_text(f"{name}.png", timeout=LONG)
    page.wait_for_timeout(400)


def photograph(page: Page) -> list[float]:
    """Seconds from the choice of a photograph to its curves on the page, three times."""
    out = io.BytesIO()
    Image.fromarray(skimage.data.camera()).resize((900, 700)).save(out, "PNG")
    file: FilePayload = {"name": "", "mimeType": "image/png", "buffer": out.getvalue()}
    spent = []
    for number in range(3):
        page.evaluate("document.getElementById('command').textContent = ''")
        start = time.perf_counter()
        page.set_input_files("#file", [{**file, "name": f"camera-{number}.png"}])
        # Locators are asked again ever more seldom, up to once a second; the page is not.
        while f"camera-{number}" not in page.locator("#command").inner_text():
            page.wait_for_timeout(10)
        spent.append(round(time.perf_counter() - start, 2))
    return spent


def curves(page: Page, folder: Path) -> None:
    sample(page, "ropes")
    page.hover("#curves li:first-child button")
    page.wait_for_timeout(300)
    page.screenshot(path=folder / "page-curves.png")
    sample(page, "dashes")
    page.check("input[value=ask]")
    places = "one => one.getAttribute('points').split(' ').map(p => p.split(',').map(Number))"
    line = page.locator("g.curve .line:not(.casing)").first.evaluate(places)
    for col, row in (line[1], line[-2]):
        click_at(page, row, col)
        page.wait_for_timeout(300)
    expect(page.locator("#answer")).to_be_visible()
    page.screenshot(path=folder / "page-question.png")


def corrections(page: Page, folder: Path) -> None:
    page.check("input[value=point]")
    sample(page, "sketch")
    page.check("input[value=link]")
    page.locator("#links").evaluate("list => { list.closest('details').open = true; }")
    doubtful = page.locator("#links li button", has_text="Forbid").first
    doubtful.click()
    expect(page.locator("#corrections li")).to_have_count(1)
    page.wait_for_timeout(500)
    page.locator("#undo").scroll_into_view_if_needed()
    page.screenshot(path=folder / "page-correct.png")


def others(page: Page, folder: Path) -> None:
    page.emulate_media(color_scheme="dark")
    page.click("#tab-model")
    for _ in range(2):
        page.locator("[data-label=A]").click()
        page.wait_for_timeout(500)
        if page.locator("[data-label=A].known.on").count():
            break
    page.locator("[data-label=C]").click()
    page.wait_for_timeout(600)
    page.screenshot(path=folder / "page-model.png")
    page.emulate_media(color_scheme="light")
    page.click("#tab-find")
    page.select_option("#sample", "letters")
    expect(page.locator("#status")).to_contain_text("letters.png", timeout=LONG)
    page.click("#find")
    expect(page.locator("#found li")).to_have_count(2, timeout=2 * LONG)
    page.wait_for_timeout(300)
    page.screenshot(path=folder / "page-find.png")


def main(folder: Path) -> None:
    with served() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport=SIZE)
        page.goto(address)
        expect(page.locator("#sample option")).not_to_have_count(1)
        curves(page, folder)
        corrections(page, folder)
        print("seconds for a photograph of 900 x 700 px:", photograph(page))
        others(page, folder)
        phone = browser.new_page(viewport={"width": 375, "height": 740}, color_scheme="dark")
        phone.goto(address)
        expect(phone.locator("#sample option")).not_to_have_count(1)
        sample(phone, "ropes")
        phone.screenshot(path=folder / "page-phone.png")
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
