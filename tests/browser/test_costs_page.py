"""The page "what a delay costs" in Chromium: its search, its slider, on a phone, on paper, and accessible."""

import re
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
sys.path.append(str(DOCS / "_ext"))
from slownet_docs import costs  # noqa: E402  # from the folder above

WIDTHS = (400, 1280)
ROWS = costs.measured()
COLOURS = """
:root { --color-background-primary: #fff; --color-background-secondary: #f8f9fb; --color-foreground-secondary: #5a5c63;
  --color-foreground-muted: #6b6f76; --color-background-border: #eeebee; }
body { margin: 0 8px; font-family: sans-serif; }
"""
"""Colours and fonts of the documentation's theme."""


def sections(text):
    """Return HTML as Sphinx makes it of the page: a section for each heading."""
    html = re.sub(r"```\{raw\} html\n(.*?)\n```", r"\1", text, flags=re.DOTALL)
    first, *others = re.split(r"^## (.+)$", html, flags=re.MULTILINE)
    pairs = zip(others[::2], others[1::2], strict=True)
    return f"<p>{first}</p>" + "".join(f"<section><h2>{title}</h2>{body}</section>" for title, body in pairs)


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("costs")
    style, script = ((DOCS / "_static" / name).read_text() for name in ("slownet.css", "costs.js"))
    (made / "costs.html").write_text(
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>What a delay costs</title>'
        f'<meta name="viewport" content="width=device-width"><style>{COLOURS}{style}</style></head>'
        "<body><main><article><section><h1>What a delay costs</h1>"
        f'<div id="costs-controls" class="costs-controls"></div>{sections(costs.page())}'
        f"<script>{script}</script></section></article></main></body></html>"
    )
    return made


def operations(page):
    return page.locator("table.costs:not(.surprises) td > :is(div, details):visible")


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_cut_off(visit, width):
    page = visit("costs", width)
    assert page.heard == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    outside = page.evaluate(
        """width => [...document.querySelectorAll("main *")].filter(each => {
          const box = each.getBoundingClientRect();
          return box.width && (box.left < -1 || box.right > width + 1);
        }).map(each => each.id || each.className || each.tagName)""",
        width,
    )
    assert outside == []


@pytest.mark.parametrize("width", WIDTHS)
def test_axe_finds_no_violation(visit, width):
    from axe_playwright_python.sync_playwright import Axe

    page = visit("costs", width)
    page.evaluate("document.querySelectorAll('details').forEach((each, place) => each.open = place % 20 === 0)")
    found = Axe().run(page).response["violations"]
    assert [(each["id"], [node["target"] for node in each["nodes"]][:3]) for each in found] == []


@pytest.mark.parametrize("width", WIDTHS)
def test_words_leave_what_has_all_of_them(visit, width):
    page = visit("costs", width)
    assert operations(page).count() == len(ROWS)
    page.get_by_label("Search").fill("redis-py connect")
    found = [each.get_attribute("id") for each in operations(page).all()]
    assert "redis-py/connect" in found
    texts = [each.text_content() for each in operations(page).all()]
    assert all("connect" in f"{name} {text}" for name, text in zip(found, texts, strict=True))
    assert not page.locator("table.surprises").is_visible()
    page.get_by_label("Search").fill("no such words")
    assert operations(page).count() == 0
    assert page.get_by_text("Nothing has these words").is_visible()


def test_the_slider_turns_round_trips_into_time(visit):
    page = visit("costs", 400)
    number = page.locator("[id='redis-py/connect'] b").first
    assert (number.get_attribute("data-trips"), number.get_attribute("data-time")) == ("6", "480 ms")
    page.get_by_label("Search").fill("redis-py connect")
    slider = page.locator("#costs-slider")
    slider.focus()
    page.keyboard.press("End")
    assert number.get_attribute("data-time") == "1.8 s"
    assert page.locator("#costs-example").text_content() == "Your 300 ms: redis-py/connect takes 6 x 300 ms = 1.8 s"


def test_a_number_opens_by_keyboard(visit):
    page = visit("costs", 400)
    opened = page.locator("[id='redis-py/connect']")
    opened.locator("summary").focus()
    page.keyboard.press("Enter")
    assert opened.get_by_text("HELLO 3").is_visible()


def test_without_javascript_all_numbers_read(visit):
    page = visit("costs", script=False)
    assert operations(page).count() == len(ROWS)


def test_it_prints_on_one_sheet(visit):
    page = visit("costs")
    content = page.pdf(format="A4", prefer_css_page_size=True)
    assert len(re.findall(rb"/Type\s*/Page\b", content)) <= 2  # a sheet has two sides
    page.emulate_media(media="print")
    assert not page.locator("#costs-controls").is_visible()
    assert operations(page).count() == len(ROWS)
