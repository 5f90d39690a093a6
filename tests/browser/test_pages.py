"""Reports in Chromium: offline, at each width, in both colour schemes, by pointer and keyboard, printed, and accessible."""

import pytest
from pages import NAMES

WIDTHS = (360, 768, 1280)


@pytest.mark.parametrize("name", NAMES)
def test_a_page_opens_offline_and_complains_of_nothing(visit, folder, name):
    page = visit(name)
    assert page.locator("h1").count() == 1
    assert page.heard == []
    assert (folder / f"{name}.html").stat().st_size < 1_000_000


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_cut_off(visit, name, width, dark):
    page = visit(name, width, dark)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert paper == ("rgb(20, 23, 27)" if dark else "rgb(252, 252, 250)")
    sizes = page.evaluate(
        """[...document.querySelectorAll('svg text')].filter(text => text.getClientRects().length).map(text => {
          const by = text.getScreenCTM();
          return Math.hypot(by.a, by.b) * parseFloat(getComputedStyle(text).fontSize);
        })"""
    )
    assert all(11 <= size <= 22 for size in sizes)  # a chart's text, in pixels


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("name", NAMES)
def test_axe_finds_no_violation(visit, name, dark):
    from axe_playwright_python.sync_playwright import Axe

    page = visit(name, 1280, dark)
    page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    found = Axe().run(page).response["violations"]
    assert [(each["id"], [node["target"] for node in each["nodes"]][:3]) for each in found] == []


def shown(page):
    return [each for each in page.locator(".tip.shown").all_text_contents() if each]


@pytest.mark.parametrize("name", ["law", "latency", "segments", "throughput", "cures", "side"])
def test_a_value_shows_under_the_pointer(visit, name):
    page = visit(name, 360)
    plot = page.locator(".plot").first
    plot.scroll_into_view_if_needed()
    mark = plot.locator(".mark").last
    at = mark.evaluate(
        """mark => {
          const svg = mark.ownerSVGElement, box = svg.getBoundingClientRect(), by = box.width / svg.viewBox.baseVal.width;
          return [box.left + mark.dataset.x * by, box.top + mark.dataset.y * by];
        }"""
    )
    page.mouse.move(*at)
    (text,) = shown(page)
    assert text in plot.locator(".mark").evaluate_all("marks => marks.map(mark => mark.dataset.says)")
    box = page.locator(".tip.shown").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 360
    page.mouse.move(0, 0)
    assert shown(page) == []


def test_the_keyboard_reads_every_value_in_order(visit):
    page = visit("law")
    plot = page.locator(".plot").first
    says = plot.locator(".mark").evaluate_all("marks => marks.map(mark => mark.dataset.says)")
    for _ in range(40):
        page.keyboard.press("Tab")
        if plot.evaluate("plot => plot === document.activeElement"):
            break
    read = []
    for _ in says:
        page.keyboard.press("ArrowRight")
        read += shown(page)
    assert read == says
    page.keyboard.press("ArrowRight")  # there is no further one
    assert shown(page) == says[-1:]
    page.keyboard.press("Home")
    assert shown(page) == says[:1]
    page.keyboard.press("ArrowLeft")
    assert shown(page) == says[:1]
    page.keyboard.press("End")
    assert shown(page) == says[-1:]
    assert plot.locator("[role=status]").count() == 1  # a screen reader says it
    page.keyboard.press("Escape")
    assert shown(page) == []


def test_the_links_hold_the_numbers(visit):
    page = visit("law")
    with page.expect_download() as waiting:
        page.get_by_role("link", name="CSV: Time per page").click()
    assert waiting.value.suggested_filename == "client_delay-time.csv"
    lines = waiting.value.path().read_text().splitlines()
    assert lines[:2] == ["condition,ms per page,from,to,published", "rtt 0ms,12.0,11.0,13.0,12.323"]


def test_without_javascript_the_numbers_still_read(visit):
    page = visit("law", script=False)
    page.locator("summary", has_text="As a table").first.click()
    assert page.locator("details[open] td", has_text="492.0").first.is_visible()
    assert page.get_by_text("A page costs").first.is_visible()


@pytest.mark.parametrize("name", NAMES)
def test_it_prints(visit, name):
    page = visit(name, dark=True)
    content = page.pdf(format="A4")
    assert content.startswith(b"%PDF")
    page.emulate_media(media="print")
    assert not any(link.is_visible() for link in page.locator(".links").all())
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(252, 252, 250)"  # paper is white


def test_a_part_of_a_deciding_path_opens_by_keyboard_and_without_javascript(visit):
    page = visit("why", 400, script=False)
    part = page.locator("a[href='#why-part-4']")
    assert part.get_attribute("aria-label").startswith("200 ms: 20 x question and answer")
    table = page.locator("#why-part-4 table")
    assert not table.is_visible()
    part.focus()
    page.keyboard.press("Enter")
    assert table.is_visible()
    assert page.locator("#why-part-4 svg").is_visible()
    assert table.get_by_text("SELECT * FROM items WHERE id = 19").is_visible()


def test_a_text_of_a_lane_is_shown_once_at_each_width(visit):
    for width in (360, 900, 1280):
        page = visit("why", width)
        texts = page.locator("a[href='#why-part-4'] text").all()
        assert [each.text_content() for each in texts if each.is_visible()] == ["20 x question and answer", "200 ms"]


def test_paper_has_the_steps_of_each_part(visit):
    page = visit("why")
    page.emulate_media(media="print")
    assert page.locator("#why-part-4 table").is_visible()


def test_a_line_of_reproduce_reads_on_a_phone_without_scrolling(visit):
    page = visit("reproduce", 400)
    for text in ("published", "measured"):
        cell = page.locator(f"td[data-label='{text}']").first
        box = cell.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 400
        assert text in cell.evaluate("cell => getComputedStyle(cell, '::before').content")
    assert not page.locator("td.empty").first.is_visible()
    assert page.locator(".articles li").count() == 4
