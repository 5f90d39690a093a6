"""How many round trips to the host of the stock does a page cost: with `await` in a loop, and with `Promise.all`?"""

from pathlib import Path

import pytest

from slownet import Command, ab, http, slowed

HERE = Path(__file__).parent
PAGE = "".join(f"article {number}: 2 in stock\n" for number in range(5))

pytestmark = pytest.mark.tdf("inf")  # the CPU is free: what remains is the network


@pytest.fixture(scope="module")
def stock(network):
    """The stock on `db`."""
    with Command(network["db"], "node shop.js stock", cwd=HERE, port=8000, ready=http("/")) as stock:
        yield stock


@pytest.mark.parametrize(("how", "round_trips"), [("", 5), ("at-once", 1)], ids=["one after the other", "at once"])
def test_a_page_costs_a_round_trip_for_each_await(net, stock, how, round_trips):
    with Command(net["web"], f"node shop.js web {how}", cwd=HERE, port=8000, ready=http("/", status=[200])) as shop:
        near = ab(net["client"], shop.url, requests=20)
        with net.link("db", "switch").set(rtt="20ms"):
            far = ab(net["client"], shop.url, requests=20)
        assert far.time_per_request == slowed(near.time_per_request, round_trips=round_trips, rtt="20ms", within=0.05)
        assert net["client"].cmd(f"wget -qO- {shop.url}").replace("\r", "") == PAGE
