"""How many round trips does a checkout cost the shop: to its database, to its cache, and to its reader?"""

import json

import pytest

from slownet import ab, slowed

ARTICLES = 6
TRANSACTION = 2  # BEGIN and COMMIT
URL = "http://web:8000/checkout?batched="

pytestmark = pytest.mark.tdf("inf")  # the CPU is free: what remains is the network


@pytest.mark.parametrize(("batched", "queries"), [(0, ARTICLES), (1, 1)], ids=["naive", "batched"])
@pytest.mark.parametrize("host", ["db", "cache", "client"])
def test_what_a_checkout_costs(compose, net, host, batched, queries):
    round_trips = {
        "db": queries + TRANSACTION,
        "cache": 1,  # the cart
        "client": 2,  # one opens the connection, one fetches the page
    }
    near = ab(net["client"], f"{URL}{batched}", requests=20)
    with net.link(host, "switch").set(rtt="20ms"):
        far = ab(net["client"], f"{URL}{batched}", requests=20)
    assert far.time_per_request == slowed(near.time_per_request, round_trips=round_trips[host], rtt="20ms", within=0.01)


def test_both_ways_sell_the_same(compose, net):
    for batched in (0, 1):
        answer = json.loads(net["client"].cmd(f"wget -qO- '{URL}{batched}'"))
        assert answer == {"articles": ARTICLES, "total": 100 * sum(range(1, ARTICLES + 1))}
