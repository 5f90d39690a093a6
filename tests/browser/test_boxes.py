"""Boxes in Chromium: nothing lies on anything else, and all text is readable, on the page of each experiment and feature."""

import pytest
from pages import FEATURES, REPORTS

WIDTHS = (400, 768, 1280)
SMALLEST, LARGEST = 11, 22
"""Sizes of a chart's text, in pixels."""
OVERLAP = 1.5
"""Pixels by which two boxes may meet: a line of text is higher than its letters."""

CROSSING = """(least) => {
  const shown = each => each.checkVisibility() && each.getClientRects().length;
  const meet = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > least
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > least;
  const pairs = (found, box) => {
    const boxes = found.map(box), crossing = [];
    for (let a = 0; a < found.length; a++)
      for (let b = a + 1; b < found.length; b++)
        if (meet(boxes[a], boxes[b]) && !found[a].contains(found[b]) && !found[b].contains(found[a]))
          crossing.push([found[a].textContent.slice(0, 40), found[b].textContent.slice(0, 40)]);
    return crossing;
  };
  // A text's box is as high as its font's tallest letters: its middle two thirds are what is drawn.
  const letters = text => {
    const box = text.getBoundingClientRect(), cut = box.height / 6;
    return {left: box.left, right: box.right, top: box.top + cut, bottom: box.bottom - cut};
  };
  const found = [];
  for (const svg of [...document.querySelectorAll('svg')].filter(shown))
    found.push(...pairs([...svg.querySelectorAll('text')].filter(shown), letters));
  const blocks = [...document.querySelectorAll('h1, h2, h3, p:not(.tip), figure, .scroll, ul, dl, summary')].filter(shown);
  found.push(...pairs(blocks, each => each.getBoundingClientRect()));
  return found.slice(0, 5);
}"""
SIZES = """() => [...document.querySelectorAll('svg text')].filter(text => text.getClientRects().length).map(text => {
  const by = text.getScreenCTM();
  return Math.hypot(by.a, by.b) * parseFloat(getComputedStyle(text).fontSize);
})"""
OUTSIDE = """() => [...document.querySelectorAll('svg')].filter(svg => svg.getClientRects().length).flatMap(svg => {
  const frame = svg.getBoundingClientRect();
  return [...svg.querySelectorAll('text')].filter(text => {
    const box = text.getBoundingClientRect();
    return box.width && (box.left < frame.left - 1.5 || box.right > frame.right + 1.5);
  }).map(text => text.textContent.slice(0, 40));
}).slice(0, 5)"""

ACROSS = """() => [...document.querySelectorAll('svg')].filter(svg => svg.getClientRects().length).flatMap(svg => {
  const cables = [...svg.querySelectorAll('path.link')].map(cable => {
    const into = cable.getScreenCTM(), long = cable.getTotalLength();
    return Array.from({length: 201}, (_, part) => cable.getPointAtLength(long * part / 200).matrixTransform(into));
  });
  return [...svg.querySelectorAll('text.label')].filter(text => {
    const box = text.getBoundingClientRect(), cut = box.height / 6;
    return cables.some(cable => cable.some(point => point.x > box.left && point.x < box.right
      && point.y > box.top + cut && point.y < box.bottom - cut));
  }).map(text => text.textContent);
})"""


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", [*FEATURES, *REPORTS])
def test_nothing_lies_on_anything_else_and_all_text_is_readable(visit, name, width):
    page = visit(name, width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(CROSSING, OVERLAP) == []
    assert page.evaluate(OUTSIDE) == []
    assert page.evaluate(ACROSS) == []
    sizes = page.evaluate(SIZES)
    assert not sizes or SMALLEST <= min(sizes) <= max(sizes) <= LARGEST


@pytest.mark.parametrize("width", [600, 959, 961, 1087, 1089, 1600])
@pytest.mark.parametrize("name", ["law", "hunt", "field"])
def test_text_of_charts_is_readable_where_a_page_changes_its_columns(visit, name, width):
    sizes = visit(name, width).evaluate(SIZES)
    assert SMALLEST <= min(sizes) <= max(sizes) <= LARGEST


@pytest.mark.parametrize("name", [*FEATURES, *REPORTS])
def test_axe_finds_no_violation(visit, name):
    from axe_playwright_python.sync_playwright import Axe

    page = visit(name, 1280)
    page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    found = Axe().run(page).response["violations"]
    assert [(each["id"], [node["target"] for node in each["nodes"]][:3]) for each in found] == []


def test_a_label_across_a_cable_is_found(visit):
    page = visit("law")
    page.evaluate("""() => {
      const cable = document.querySelector('svg path.link'), middle = cable.getPointAtLength(cable.getTotalLength() / 2);
      const label = cable.ownerSVGElement.querySelector('text.label');
      Object.entries({x: middle.x, y: middle.y + 4, 'text-anchor': 'middle'}).forEach(each => label.setAttribute(...each));
    }""")
    assert page.evaluate(ACROSS) != []


def test_two_texts_on_each_other_are_found(visit):
    page = visit("law")
    page.evaluate("""() => {
      const text = document.querySelector('svg text'), copy = text.cloneNode(true);
      text.parentNode.append(copy);
    }""")
    assert page.evaluate(CROSSING, OVERLAP) != []
