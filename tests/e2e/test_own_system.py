"""A system of one's own with an experiment and a hypothesis of one's own, as `slownet run` and `slownet check` take them."""

import json
import os
from pathlib import Path

import pytest
from command_line import slownet

SERVER = """
import http.server


class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"a page")


http.server.ThreadingHTTPServer(("", 8000), Page).serve_forever()
"""
HELPER = """
import os

QUERIES = int(os.environ.get("SHOP_QUERIES", "3"))
"""
SHOP = """
import os
import time
from pathlib import Path

from mininet.topo import Topo
from slownet import Command, experiment, http, law

from helper import QUERIES


class Pair(Topo):
    def build(self):
        switch = self.addSwitch("switch")
        for name in ("client", "web"):
            self.addLink(self.addHost(name), switch)


def serve(net, directory):
    return Command(net["web"], "python3 server.py", directory, port=8000, ready=http("/"))


def visits(net, service, queries=1):
    took = []
    for _ in range(2):
        began = time.monotonic()
        for _ in range(queries):
            assert net["client"].popen(["wget", "-qO/dev/null", service.url]).wait() == 0
        took.append(1000 * (time.monotonic() - began))
    return took


@experiment(topology=Pair, vary={"rtt": ["0ms", "20ms"]}, service=serve, tdf="inf", unit="ms")
def checkout(net, service, rtt):
    \"\"\"How many round trips does a checkout cost?\"\"\"
    for folder in filter(None, os.environ.get("NOTES", "").split()):
        Path(folder, f"note-{rtt}").write_text("here")
    with net.link("client", "switch").set(rtt=rtt):
        return visits(net, service, QUERIES)


checkout.claims(law("checkout_ms", round_trips=2 * QUERIES, within=0.05))
"""
HYPOTHESIS = """
question = "How many round trips does a checkout cost?"
topology = "shop.py:Pair"
service = "shop.py:serve"
tool = "shop.py:visits"
unit = "ms"

[options]
queries = 2

[conditions]
link = ["client", "switch"]
rtt = ["0ms", "20ms"]

[[prediction]]
claim = "law"
metric = "guess_ms"
round_trips = 4
"""


@pytest.fixture
def shop(built, tmp_path):
    for name, text in {"server": SERVER, "helper": HELPER, "shop": SHOP}.items():
        (tmp_path / f"{name}.py").write_text(text)
    return tmp_path


def k(done):
    (run,) = json.loads(done.stdout)["runs"]
    return [claim["verdict"] for claim in run["claims"]], run["claims"][0]["measured"], Path(run["directory"])


def test_the_environment_is_the_same_here_and_in_the_lab(shop, monkeypatch):
    """The claim is made here and the queries there: both have SHOP_QUERIES, exported or given."""
    monkeypatch.setenv("SHOP_QUERIES", "3")
    done = slownet("run", "shop.py", "--out", "json=-", "--repeat", "1", cwd=shop)
    _, measured, directory = k(done)
    assert measured == pytest.approx(6, rel=0.05)
    assert json.loads(done.stdout)["runs"][0]["claims"][0]["expected"] == 6
    assert "GET / HTTP" in (directory / "services" / "python3-web.log").read_text()
    given = slownet("run", "shop.py", "--out", "json=-", "--env", "SHOP_QUERIES=2", "--env", "TOKEN=pass-word-4711",
                    "--repeat", "1", cwd=shop)  # fmt: skip
    assert k(given)[1] == pytest.approx(4, rel=0.05)
    assert json.loads(given.stdout)["runs"][0]["claims"][0]["expected"] == 4
    directory = k(given)[2]
    assert json.loads((directory / "run.json").read_text())["given"] == {"env": ["SHOP_QUERIES", "TOKEN"], "shares": []}
    assert not [path for path in directory.rglob("*") if path.is_file() and b"pass-word-4711" in path.read_bytes()]


def test_shares_are_read_only_unless_asked(shop, tmp_path_factory):
    notes = tmp_path_factory.mktemp("notes")
    words = ["run", "shop.py", "--out", "json=-", "--repeat", "1", "--env", f"NOTES={notes}", "--env", "SHOP_QUERIES=1"]
    refused = slownet(*words, "--share", str(notes), cwd=shop)
    assert refused.returncode == 2
    assert "Read-only file system" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert not list(notes.iterdir())
    done = slownet(*words, "--share", f"{notes}:rw", cwd=shop)
    assert done.returncode == 1, done.stderr  # one boot is too few for a verdict
    assert k(done)[1] == pytest.approx(2, rel=0.05)
    assert {each.name for each in notes.iterdir()} == {"note-0ms", "note-20ms"}
    beside = slownet(*words[:6], "--env", f"NOTES={shop}", cwd=shop)
    assert "Read-only file system" in beside.stderr
    assert not list(shop.glob("note-*"))


def test_a_hypothesis_about_it(shop):
    (shop / "guess.toml").write_text(HYPOTHESIS)
    done = slownet("check", "guess.toml", "--tdf", "inf", "--out", "json=-", cwd=shop)
    assert done.returncode == 0, done.stderr
    (run,) = json.loads(done.stdout)["runs"]
    assert run["marks"] == ["right"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("return visits(net, service, QUERIES)", "return None", "no measurement: None, returned by checkout"),
        (', unit="ms")', ")", 'a number without a unit, returned by checkout: return {"checkout_ms": ...}'),
        ("python3 server.py", "nosuchprogram", "nosuchprogram is not installed, host 'web'"),
        (
            "python3 server.py",
            "sleep 999",
            "sleep does not answer GET / on port 8000 after 60 s of the virtual clock, 0.0 s of them CPU",
        ),
        ("from helper import", "from helpre import", "No module named 'helpre'"),
    ],
)
def test_mistakes_are_one_line(shop, old, new, said):
    text = (shop / "shop.py").read_text()
    assert old in text
    (shop / "shop.py").write_text(text.replace(old, new))
    done = slownet("run", "shop.py", "--repeat", "1", cwd=shop)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert os.listdir(shop)  # nothing of it is lost
