"""The page in a real browser: offline, quiet, sortable, narrow, dark."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.report.conftest import NAMES, Reported

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
SIZES = {"wide": (1280, 900), "phone": (390, 844), "small phone": (320, 640)}

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed (Debian: chromium)")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield opened
        opened.close()


def open_page(browser: Any, path: Path, size: tuple[int, int], scheme: str = "light") -> tuple[Any, list[str]]:
    """Open the page without a network; return it and all that it complained of or asked for."""
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]}, color_scheme=scheme, offline=True, reduced_motion="reduce"
    )
    page, told = context.new_page(), []
    page.on("console", lambda message: told.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: told.append(f"error: {error}"))
    page.on("request", lambda request: told.append(request.url) if not request.url.startswith("data:") else None)
    page.goto(path.as_uri())
    page.wait_for_load_state("load")
    return page, [line for line in told if line != path.as_uri()]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES.values(), ids=list(SIZES))
def test_quiet_and_as_wide_as_the_window(browser: Any, reported: Reported, size: tuple[int, int], scheme: str):
    page, told = open_page(browser, reported.folder / "report.html", size, scheme)
    assert told == []
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    broken = "Array.from(document.images).filter(i => !(i.complete && i.naturalWidth)).map(i => i.alt)"
    assert page.evaluate(broken) == []
    assert page.locator("img").count() >= 10
    assert page.locator(".banner").is_visible()


def test_tables_sort_by_number_and_by_word(browser: Any, reported: Reported):
    page, _ = open_page(browser, reported.folder / "report.html", SIZES["wide"])
    cells = """Array.from(document.querySelectorAll('#table-M-model-fit tbody tr')).map(
        row => row.cells[{}].dataset.value ?? row.cells[{}].textContent)"""

    def column(i: int) -> list[str]:
        return page.evaluate(cells.format(i, i))

    head = page.locator("#table-M-model-fit thead button")
    before = sorted(column(2), key=float)
    assert len(before) > 4
    head.nth(2).click()
    assert column(2) == before
    assert page.locator("#table-M-model-fit th").nth(2).get_attribute("aria-sort") == "ascending"
    head.nth(2).focus()
    page.keyboard.press("Enter")
    assert column(2) == before[::-1]
    head.nth(0).click()
    plain = [name.replace("\u200b", "") for name in column(0)]
    assert plain[0].startswith("a-vendor")
    assert plain.index("ant") < plain.index("naïve/β-模型 <b>&amp;</b>")
    assert set(NAMES) <= set(plain)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_stand_out_from_the_page(browser: Any, reported: Reported, scheme: str):
    page, _ = open_page(browser, reported.folder / "report.html", SIZES["wide"], scheme)
    ratios = page.evaluate(CONTRASTS)
    assert len(ratios) > 30
    assert min(ratio for _, ratio in ratios) >= 4.5, sorted(ratios, key=lambda pair: pair[1])[:3]


def test_print_shows_whole_tables_and_no_navigation(browser: Any, reported: Reported):
    page, _ = open_page(browser, reported.folder / "report.html", SIZES["wide"])
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.querySelector('nav')).display") == "none"
    cut = "Array.from(document.querySelectorAll('.scroll')).filter(e => e.scrollHeight > e.clientHeight + 2).length"
    assert page.evaluate(cut) == 0


CONTRASTS = """() => {
  const part = c => { c /= 255; return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
  const read = text => text.match(/[0-9.]+/g).map(Number);
  const light = c => 0.2126 * part(c[0]) + 0.7152 * part(c[1]) + 0.0722 * part(c[2]);
  const paper = e => {
    for (; e; e = e.parentElement) {
      const c = read(getComputedStyle(e).backgroundColor);
      if (c.length < 4 || c[3] > 0) return c;
    }
    return [255, 255, 255];
  };
  return Array.from(document.querySelectorAll('p, li, td, th button, h1, h2, h3, a, figcaption, pre')).filter(
    e => e.textContent.trim() && !e.classList.contains('skip')).map(e => {
      const a = light(read(getComputedStyle(e).color)), b = light(paper(e));
      return [e.tagName + ': ' + e.textContent.trim().slice(0, 40), (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)];
    });
}"""
