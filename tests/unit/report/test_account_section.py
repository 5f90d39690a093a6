"""The picture of an account: lanes, arrows, blocks that open, what ran beside it, and the flame graph."""

import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from accounts import Path, mixed, page, repeated

from slownet.report.account_figure import STROKES, account_figure, parts
from slownet.report.account_section import section, write_difference, write_why
from slownet.report.flame import flame_figure, frames
from slownet.waits.account import Cause
from slownet.waits.difference import difference

SVG = "{http://www.w3.org/2000/svg}"


class Places(HTMLParser):
    """The names of places of a page, and the links to them."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.ids += [found["id"]] if "id" in found else []
        self.links += [found["href"]] if tag == "a" else []


def drawn(account):
    return ElementTree.fromstring(account_figure(account, "a run", "why").alone)


def lines(root, kind):
    return [each for each in root.iter(f"{SVG}line") if each.get("class") == kind]


def percent(line, name):
    return float(line.get(name).rstrip("%"))


def test_a_message_is_an_arrow_from_lane_to_lane():
    account = Path().shake("client", "web", 20.0).stay("web", 40.0).trip("web", "client", 20.0).account()
    root = drawn(account)
    lanes = {each.text: float(each.get("y")) + 7 for each in root.iter(f"{SVG}text") if each.get("class") == "group"}
    assert list(lanes) == ["client", "web"]
    arrows = [(float(each.get("y1")), float(each.get("y2"))) for each in lines(root, "message")]
    there = lanes["client"], lanes["web"]
    assert arrows == [there, there[::-1], there[::-1]]
    assert [round((percent(each, "x2") - percent(each, "x1")) / 0.96) for each in lines(root, "message")] == [20, 20, 20]
    (stay,) = (each for each in lines(root, "stay") if each.get("x1").endswith("%"))
    assert (float(stay.get("y1")), round((percent(stay, "x2") - percent(stay, "x1")) / 0.96)) == (lanes["web"], 40)


def test_the_client_has_the_first_lane_whoever_sends_first():
    root = drawn(Path().trip("web", "client").trip("client", "web").account())
    assert [each.text for each in root.iter(f"{SVG}text") if each.get("class") == "group"] == ["client", "web"]


def test_each_cause_has_its_own_colour_and_dashes():
    assert set(STROKES) == set(Cause)
    assert len(set(STROKES.values())) == len(STROKES)


def test_what_ran_beside_it_is_pale_with_its_slack():
    root = drawn(page())
    assert len(lines(root, "pale")) == 2
    said = [each.text for each in root.iter(f"{SVG}text") if each.text and "to spare" in each.text]
    assert said == ["to images: 162 ms to spare", "to images: 42 ms to spare"]


def test_many_steps_are_one_block():
    assert [each.is_block for each in parts(repeated(500))] == [False, True]
    root = drawn(repeated(500))
    assert len([each for each in root.iter(f"{SVG}rect") if each.get("class") == "folded"]) == 1
    assert len(lines(root, "message")) == 2


@pytest.mark.parametrize("account", [page(), repeated(), mixed(), mixed(4000)], ids=["page", "repeated", "mixed", "4000"])
def test_every_part_leads_to_its_steps(account):
    text = section(account)
    found = Places(text)
    assert len(found.ids) == len(set(found.ids))
    assert {each.removeprefix("#") for each in found.links} == {
        each for each in found.ids if "-part-" in each and "-zoom" not in each
    }
    assert 0 < len(found.links) <= 60
    assert len(text) < 1_200_000


def test_two_sections_of_a_page_share_no_place():
    one, two = Places(section(page(), stem="one")), Places(section(page(), stem="two"))
    assert not set(one.ids) & set(two.ids)


def test_a_section_says_the_answer_the_messages_and_the_gains():
    text = section(page(), {("db", "web"): ["db-switch"], ("client", "web"): ["client-switch"]})
    assert "342 ms: 21 round trips between db and web" in text
    assert "SELECT * FROM items WHERE id = 19" in text
    assert "db-switch saves 21 ms" in text
    assert "20 times the same question with other values: SELECT * FROM items WHERE id = ?" in text


def test_what_a_message_says_is_text():
    account = Path().ask("client", "web", "<script>alert(1)</script>", connection="c").account()
    assert "<script>" not in section(account)
    assert "<script>" not in account_figure(account, "<b>", "why").alone


def test_a_page_of_its_own(tmp_path):
    text = write_why(tmp_path / "why.html", "a run", page()).read_text()
    assert text.count("<h1>") == 1
    assert not re.search(r"\{\{|\}\}|None", text)


def test_the_flame_graph_adds_up():
    account = page()
    root = frames(account.steps, "all")

    def whole(frame):
        assert sum(each.ns for each in frame.inside.values()) <= frame.ns
        return all(map(whole, frame.inside.values()))

    assert whole(root)
    assert root.ns == account.elapsed_ns
    assert [each.name for each in root.ordered()][:2] == ["web -> db", "db -> web"]
    figure = flame_figure(account, "the time", "flame")
    assert sum(row[3] for row in figure.rows) == pytest.approx(account.elapsed_ns / 1e6)
    ElementTree.fromstring(figure.alone)


def test_two_accounts_stand_on_one_axis(tmp_path):
    found = difference(repeated(3), page())
    text = write_difference(tmp_path / "two.html", ("runs/a", "runs/b"), found).read_text()
    pictures = re.findall(r'<svg[^>]*aria-label="The deciding path over time.*?</svg>', text, re.DOTALL)
    assert len(pictures) == 2
    ticks = [re.findall(r'<text x="([\d.]+)%" y="[\d.]+" text-anchor="\w+">(\d+)</text>', each) for each in pictures]
    assert ticks[0] == ticks[1]
    places = Places(text)
    assert len(places.ids) == len(set(places.ids))
    assert "20 more round trips between db and web" in text or "21 more round trips between db and web" in text
