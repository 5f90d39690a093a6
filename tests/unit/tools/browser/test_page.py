"""Pages and elements in Playwright's words: selectors, patterns of addresses, what is not there; without a browser."""

import asyncio
import re
from types import SimpleNamespace

import pytest

from slownet.model.errors import ToolError
from slownet.tools.browser import act as acting
from slownet.tools.browser import locator, page
from slownet.tools.browser.expecting import expect


@pytest.mark.parametrize(
    ("selector", "kind", "value", "exact"),
    [
        ("#buy > .now", "css", "#buy > .now", False), ("css=#buy", "css", "#buy", False), ("[a=b]", "css", "[a=b]", False),
        ("text=Buy now", "text", "Buy now", False), ('text="Buy"', "text", "Buy", True), ("//a[1]", "xpath", "//a[1]", False),
        ("xpath=//a", "xpath", "//a", False), ("data-testid=item", "test_id", "item", False),
    ],
)  # fmt: skip
def test_selectors_are_playwrights(selector, kind, value, exact):
    found = locator.selected(selector)
    assert (found["kind"], found["value"], found["exact"]) == (kind, value, exact)


def test_a_chain_of_selectors_says_what_to_write():
    with pytest.raises(ToolError, match=r"unclear selector 'a >> b', in a page's script: write page\.locator"):
        locator.selected("a >> b")


def test_what_is_looked_for_is_said():
    shop = page.Page(SimpleNamespace(url="http://a/"))
    assert repr(shop.locator("form").get_by_role("button", name="Buy")) == "Locator('form' role=button 'Buy')"
    assert repr(shop.get_by_text("Pay").filter(has_text="now").nth(2)) == "Locator(text=Pay with 'now', number 2)"


@pytest.mark.parametrize(
    ("pattern", "url", "holds"),
    [
        ("http://a/cart", "http://a/cart", True), ("**/cart", "http://a/shop/cart", True), ("**/cart", "http://a/cart?", False),
        ("**/cart?x=*", "http://a/cart?x=1", True), (re.compile("cart$"), "http://a/cart", True),
        (lambda url: "x" in url, "http://a/", False),
    ],
)  # fmt: skip
def test_addresses_match_patterns(pattern, url, holds):
    assert page.matches(pattern, url) is holds


@pytest.mark.parametrize(
    "text", ["() => 1", "async () => { await x }", "n => n + 1", "function () {}", "async function f(a) {}", "(a, b) => a"]
)
def test_functions_are_called(text):
    assert page.FUNCTION.match(text)


@pytest.mark.parametrize(
    "text", ["1 + 1", "document.title", "(() => 1)()", "fetch('/a').then(one => one.status)", "functional"]
)
def test_expressions_are_not(text):
    assert not page.FUNCTION.match(text)


def test_what_is_not_there_names_what_is():
    shop = page.Page(SimpleNamespace(url="http://a/"))
    with pytest.raises(AttributeError, match=r"slownet's page has no wait_for_selectors: did you mean 'wait_for_selector'"):
        shop.wait_for_selectors("a")
    with pytest.raises(AttributeError, match=r"slownet's locator has no hover"):
        shop.locator("a").hover()
    with pytest.raises(AttributeError, match=r"slownet's expected has no to_be_empty"):
        expect(shop).to_be_empty()
    with pytest.raises(ToolError, match=r"no load state 'loaded', in page\.goto: did you mean 'load'"):
        shop.goto("http://a/", wait_until="loaded")
    with pytest.raises(ToolError, match="no state 'seen' of an element"):
        shop.locator("a").wait_for(state="seen")
    with pytest.raises(ToolError, match="no key 'Entr', in a page's script: did you mean 'Enter'"):
        shop.press("a", "Entr")
    with pytest.raises(ToolError, match=r"no key 'Control\+A', in a page's script: press one key"):
        shop.press("a", "Control+A")


def test_an_address_that_is_none_says_what_to_write():
    def refused(number, method):
        raise ToolError(f"the browser refused {method}: Cannot navigate to invalid URL")

    devtools = SimpleNamespace(ask=lambda *words, **options: 1, wait=lambda until, seconds: True, result=refused)
    browser = SimpleNamespace(host=SimpleNamespace(name="client"))
    tab = SimpleNamespace(url="", events=[], session="", devtools=devtools, browser=browser, has=lambda *words: False)
    with pytest.raises(ToolError, match=r"unclear address 'web', host 'client': write one such as http://10\.0\.0\.2/"):
        page.Page(tab).goto("web")


def test_requests_of_earlier_documents_count(monkeypatch):
    sent, other = {"method": "Network.requestWillBeSent", "params": {}}, {"method": "Page.loadEventFired", "params": {}}
    shop = page.Page(SimpleNamespace(url="http://a/", events=[]))
    monkeypatch.setattr(page.visit, "navigated", lambda tab, *words: tab.events.extend([sent, sent, other]) or "")
    assert shop.requests_sent == 0
    assert shop.goto("http://a/") is None
    shop.goto("http://a/b")
    assert shop.requests_sent == 4


def test_an_answer_is_ok_or_not():
    assert page.Response("http://a/", 204).ok
    assert not page.Response("http://a/", 404).ok


def test_steps_are_metrics_of_all_times():
    times = (
        {"steps": [["script", 30.0], ["Add to cart", 10.0]], "requests": 3, "url": "http://a/", "browser": "Chrome/1"},
    ) * 2
    metrics = acting.Act(("chromium",), "", times).metrics()
    assert list(metrics) == ["script_ms", "add_to_cart_ms", "requests"]
    assert (metrics["add_to_cart_ms"]["mean"], metrics["add_to_cart_ms"]["n"]) == (10, 2)


def test_a_script_may_be_asynchronous():
    shop = page.Page(SimpleNamespace(url="http://a/", devtools=SimpleNamespace(wait=lambda until, seconds: False)))
    seen = []

    async def checkout(page):
        async with page.step("wait"):
            await page.wait_for_timeout(1)
        with page.step("look"):
            seen.append((page.url, type(page.locator("a").first).__name__))

    acting._run(checkout, shop, "host 'client'")
    assert seen == [("http://a/", "Awaited")]
    assert [name for name, _ in shop.steps] == ["wait", "look"]
    assert asyncio.iscoroutinefunction(checkout)


def test_a_script_that_raises_is_named_with_its_line():
    def broken(page):
        raise KeyError("sku")

    with pytest.raises(ToolError, match=r"^broken failed at test_page\.py:\d+: KeyError: 'sku', host 'client'$"):
        acting._run(broken, None, "host 'client'")

    def missing(page):
        raise ToolError("no visible element 'a' within 1 s", "host 'client', http://a/")

    with pytest.raises(
        ToolError, match=r"^missing failed at test_page\.py:\d+: no visible element 'a' within 1 s, host 'client', http://a/$"
    ):
        acting._run(missing, None, "host 'client'")
    with pytest.raises(ToolError, match="times is 0, in act: write 1 or more"):
        acting.act(SimpleNamespace(name="client"), broken, times=0)
