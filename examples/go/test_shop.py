"""How many round trips does a page of the Go shop cost its reader, and how many to the host of the stock?"""

from pathlib import Path

import pytest

from slownet import Command, ab, http, slowed

SHOP = Path(__file__).with_name("dist") / "shop"
ARTICLES = 5
PAGE = "".join(f"article {number}: 2 in stock\n" for number in range(ARTICLES))

pytestmark = pytest.mark.tdf("inf")  # the CPU is free: what remains is the network


@pytest.fixture(scope="module")
def shop(network):
    """The shop on `web`, its stock on `db`."""
    with (
        Command(network["db"], [SHOP, "stock"], port=8000, ready=http("/")),
        Command(network["web"], [SHOP, "web"], port=8000, ready=http("/", status=[200])) as shop,
    ):
        yield shop


def test_a_page_costs_its_reader_two_round_trips(net, shop):
    """One opens the connection, one fetches the page."""
    near = ab(net["client"], shop.url, requests=20)
    with net.link("client", "switch").set(rtt="20ms"):
        far = ab(net["client"], shop.url, requests=20)
    assert far.time_per_request == slowed(near.time_per_request, round_trips=2, rtt="20ms", within=0.05)


def test_a_page_costs_a_round_trip_to_the_stock_for_each_article(net, shop):
    near = ab(net["client"], shop.url, requests=20)
    with net.link("db", "switch").set(rtt="20ms"):
        far = ab(net["client"], shop.url, requests=20)
    assert far.time_per_request == slowed(near.time_per_request, round_trips=ARTICLES, rtt="20ms", within=0.05)
    assert net["client"].cmd(f"wget -qO- {shop.url}").replace("\r", "") == PAGE
