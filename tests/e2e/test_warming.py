"""What psycopg does at first is in no cell's numbers: it prepares a statement when a connection executes it a sixth time."""

import json
import textwrap

import pytest
from command_line import slownet

SERVER = '''
"""A page of seven queries, asked over one of four connections in turn, as psycopg_pool does."""
import http.server
import itertools

import psycopg

URL = "postgresql://slownet:slownet@db/slownet"
pool = itertools.cycle([psycopg.connect(URL, autocommit=True) for _ in range(4)])


class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        database = next(pool)
        rows = [database.execute(f"SELECT {number} + %s", (1,)).fetchone() for number in range(7)]
        self.send_response(200)
        self.end_headers()
        self.wfile.write(repr(rows).encode())


http.server.HTTPServer(("", 8000), Page).serve_forever()
'''
SHOP = '''
from contextlib import contextmanager

from slownet import ClientWebDb, Command, ab, experiment, http
from slownet.services.postgresql import PostgreSQL


@contextmanager
def shop(net, directory):
    with PostgreSQL(net["db"], directory):
        with Command(net["web"], "python3 server.py", directory, port=8000, ready=http("/")) as web:
            yield web


@experiment(topology=ClientWebDb, vary={"rtt": ["0ms", "40ms"]}, service=shop, tdf="inf"%s)
def page(net, web, rtt):
    """How many round trips to the database does a page cost?"""
    with net.link("db", "switch").set(rtt=rtt):
        return ab(net["client"], web.url, requests=30)
'''


@pytest.fixture
def shop(built, tmp_path):
    def write(stated=""):
        (tmp_path / "server.py").write_text(SERVER)
        (tmp_path / "shop.py").write_text(textwrap.dedent(SHOP % stated))
        return tmp_path

    return write


def round_trips(folder, order):
    """Return the round trips of a page, from one boot that measures the cells in this order."""
    done = slownet("run", "shop.py", "--vary", f"rtt={order}", "--repeat", "1", "--out", "json=-", cwd=folder)
    assert done.returncode == 0, done.stderr
    (run,) = json.loads(done.stdout)["runs"]
    took = {cell["condition"]["rtt_ms"]: cell["metrics"]["time_per_request_ms"]["mean"] for cell in run["cells"]}
    return (took[40.0] - took[0.0]) / 40


def test_either_order_of_cells_gives_the_same_round_trips(shop):
    for order in ("40ms,0ms", "0ms,40ms"):
        assert round_trips(shop(), order) == pytest.approx(7, abs=0.01)


def test_without_it_the_table_says_what_the_place_in_a_boot_explains(shop):
    done = slownet("run", "shop.py", "--repeat", "4", cwd=shop(", warm_up=0"))
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    assert (
        "rtt 40ms: its place in a boot explains time_per_request_ms, 280.1 in boots that go through the cells forwards" in said
    )
    assert "programs keep something from cell to cell, try a larger warm_up" in said
