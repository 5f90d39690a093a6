"""The DevTools protocol over pipes, with a thread in a browser's place; and what keeps a browser from running."""

import json
import os
import shutil
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from slownet.model.errors import ToolError
from slownet.tools.browser import chromium, devices, visit
from slownet.tools.browser.devtools import DevTools

HOST = SimpleNamespace(name="client")


@pytest.fixture
def spoken():
    """Start a thread that answers each command with what a function returns; its end is the browser's end."""
    files = []

    def start(answers, patience=5.0):
        their_in, our_out = os.pipe()
        our_in, their_out = os.pipe()

        def serve():
            with os.fdopen(their_in, "rb") as commands, os.fdopen(their_out, "wb") as out:
                text = b""
                while (block := commands.read1(4096)) and out:
                    *whole, text = (text + block).split(b"\0")
                    for each in whole:
                        said = answers(json.loads(each))
                        if said is None:
                            return
                        out.write(b"".join(json.dumps(one).encode() + b"\0" for one in said))
                        out.flush()

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        files.extend((our_out, our_in))
        return DevTools(our_out, our_in, lambda: ToolError("Chromium ended (SIGTRAP): last words"), patience)

    yield start
    for each in files:
        os.close(each)


def test_a_result_belongs_to_its_command_and_events_to_their_session(spoken):
    def answers(command):
        event = {"method": "Page.loadEventFired", "params": {"timestamp": 1.5}, "sessionId": "page"}
        other = event | {"sessionId": "other"}
        return [event, other, {"id": command["id"], "result": {"asked": command["method"], **command["params"]}}]

    browser, heard = spoken(answers), []
    browser.listen("page", heard.append)
    assert browser.call("Page.navigate", "page", url="http://a/") == {"asked": "Page.navigate", "url": "http://a/"}
    browser.send("Page.ack", "page")
    assert browser.call("Page.enable", "page")["asked"] == "Page.enable"
    assert [each["params"]["timestamp"] for each in heard] == [1.5, 1.5, 1.5]


def test_a_refused_command_says_why(spoken):
    browser = spoken(lambda command: [{"id": command["id"], "error": {"message": "no such page"}}])
    with pytest.raises(ToolError, match=r"refused Page\.enable: no such page"):
        browser.call("Page.enable")


def test_a_browser_that_ends_is_an_error_with_its_last_words(spoken):
    browser = spoken(lambda command: None)
    with pytest.raises(ToolError, match=r"SIGTRAP.*last words"):
        browser.call("Page.enable")


def test_no_answer_in_time_is_an_error(spoken):
    browser = spoken(lambda command: [], patience=0.05)
    with pytest.raises(ToolError, match=r"did not answer Page\.enable within 0\.05 s"):
        browser.call("Page.enable")


def test_without_chromium_the_layer_is_named(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda *args, **options: None)
    with pytest.raises(ToolError) as error:
        chromium.Chromium(HOST)
    assert str(error.value) == (
        "Chromium is not installed, host 'client': write packages = [\"chromium\"] below [tool.slownet] in pyproject.toml "
        "(slownet init --browser), then: slownet lab build"
    )


def test_too_little_memory_is_said_with_how_much(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda *args, **options: "/usr/bin/chromium")
    monkeypatch.setattr(Path, "read_text", lambda self, *args, **options: "MemTotal: 300000 kB\nMemAvailable: 204800 kB\n")
    with pytest.raises(ToolError, match=r"Chromium needs \d+ MB of memory, 200 MB are free, host 'client': --memory"):
        chromium.Chromium(HOST)


def test_versions_of_http_are_options():
    assert chromium.flags() == ()
    assert "--disable-http2" in chromium.flags("1.1")
    assert "--origin-to-force-quic-on=10.0.0.2:443" in chromium.flags("3", "10.0.0.2:443")
    with pytest.raises(ToolError, match="no HTTP version '4'"):
        chromium.flags("4")


def test_a_certificate_is_trusted_by_its_key():
    pem = Path(__file__).parents[2] / "localhost.pem"
    key = chromium.fingerprint(pem)
    assert len(key) == 44
    assert f"--ignore-certificate-errors-spki-list={key}" in chromium.flags(trust=[pem])
    assert chromium.flags(trust=str(pem)) == chromium.flags(trust=pem) == chromium.flags(trust=[pem])
    with pytest.raises(ToolError, match="no certificate in"):
        chromium.fingerprint(__file__)


def test_devices_have_names_or_sizes():
    assert devices.device("phone").mobile
    assert (devices.device("1280x720").width, devices.device("1280x720").height) == (1280, 720)
    assert all(each.source for each in devices.DEVICES.values())
    for wrong in ("fone", "0x5", "12x"):
        with pytest.raises(ToolError, match=f"no device '{wrong}'"):
            devices.device(wrong)


def test_open_requests_are_those_without_an_end():
    def sent(number):
        return {
            "method": "Network.requestWillBeSent",
            "params": {"requestId": number, "request": {"url": f"http://a/{number}"}},
        }

    ended = {"method": "Network.loadingFinished", "params": {"requestId": "1"}}
    failed = {"method": "Network.loadingFailed", "params": {"requestId": "2"}}
    assert visit.open_requests([sent("1"), sent("2"), sent("3"), ended, failed]) == ["http://a/3"]


def page(events=()):
    browser = SimpleNamespace(host=HOST, log="[1:1] CHECK failed\nlast line", runs=True)
    return visit.Tab(browser, "s", "main", [{"method": method, "params": params} for method, params in events])


def test_a_page_that_does_not_load_names_what_is_open():
    request = {"requestId": "1", "request": {"url": "http://a/never"}}
    error = visit._overdue(page([("Network.requestWillBeSent", request)]), "http://a/", 60.0)
    assert str(error) == "the page did not load within 60 s; 1 request is open: http://a/never, host 'client', http://a/"


def test_what_cannot_be_reached_says_why():
    refused = visit._unreached(page(), "http://a/", "net::ERR_CONNECTION_REFUSED")
    assert "nothing listens there" in str(refused)
    untrusted = visit._unreached(page(), "https://a/", "net::ERR_CERT_AUTHORITY_INVALID")
    assert str(untrusted).endswith("host 'client', https://a/: name its file: browse(..., trust=[certificate])")
    assert "certificate is not trusted" in str(untrusted)


def test_a_crash_has_the_last_line_of_the_log():
    with pytest.raises(ToolError, match="the page's process crashed: last line"):
        visit.check_crash(page([("Inspector.targetCrashed", {})]), "http://a/")


def test_a_page_that_crashes_while_it_is_asked_for_says_so():
    tab = page()

    def wait(until, seconds):
        if seconds == visit.CRASH_S:  # Chromium says that the load was aborted, and why a moment later
            tab.events.append({"method": "Inspector.targetCrashed", "params": {}})
        return until()

    answers = {"ask": lambda *words, **options: 1, "answered": lambda number: True, "wait": wait}
    tab.browser.devtools = SimpleNamespace(result=lambda number, method: {"errorText": visit.ABORTED}, **answers)
    with pytest.raises(ToolError, match="the page's process crashed: last line"):
        visit.navigated(tab, "http://a/", 5.0)
