"""How many round trips does a page of the Java shop cost its reader, and how many to the host of the stock?"""

from contextlib import contextmanager
from pathlib import Path

import pytest

from slownet import Command, ab, http, slowed

JAR = Path(__file__).with_name("dist") / "shop.jar"
ARTICLES = 5
PAGE = "".join(f"article {number}: 2 in stock\n" for number in range(ARTICLES))
AT_ONCE = "-Dsun.net.httpserver.nodelay=true"
"""The JDK's HTTP server writes an answer's header and its body apart. Without this it does not disable Nagle's algorithm."""

pytestmark = pytest.mark.tdf("inf")  # the CPU is free: what remains is the network


@contextmanager
def running(net, *options):
    """The shop on `web`, its stock on `db`."""
    java = ["java", *options, "-jar", JAR]
    with (
        Command(net["db"], [*java, "stock"], port=8000, ready=http("/")),
        Command(net["web"], [*java, "web"], port=8000, ready=http("/", status=[200])) as shop,
    ):
        yield shop


def test_what_a_page_costs(net):
    with running(net, AT_ONCE) as shop:
        near = ab(net["client"], shop.url, requests=20)
        with net.link("client", "switch").set(rtt="20ms"):  # one opens the connection, one fetches the page
            far = ab(net["client"], shop.url, requests=20)
        assert far.time_per_request == slowed(near.time_per_request, round_trips=2, rtt="20ms", within=0.05)
        with net.link("db", "switch").set(rtt="20ms"):
            far = ab(net["client"], shop.url, requests=20)
        assert far.time_per_request == slowed(near.time_per_request, round_trips=ARTICLES, rtt="20ms", within=0.05)
        assert net["client"].cmd(f"wget -qO- {shop.url}").replace("\r", "") == PAGE


def test_without_that_option_each_article_waits_for_a_delayed_acknowledgement(net):
    """A delayed acknowledgement takes 40 to 44 ms, also where the network takes none."""
    with running(net) as shop:
        slow = ab(net["client"], shop.url, requests=20)
    assert 40 * ARTICLES <= slow.time_per_request_ms <= 45 * ARTICLES
