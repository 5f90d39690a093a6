"""A page of the shop on the exact clock: `shop.py` says what variables change. LIMITS claims that no page takes longer."""

import os
from contextlib import contextmanager
from pathlib import Path

from slownet import ClientWebDb, Command, ab, bound, experiment, http

SHOP = Path(__file__).with_name("shop.py")
NAMES = ("ARTICLES", "COUNTED", "RTT_MS")
TIME = "time_per_request_ms"
REQUESTS = 20
RTTS = ("0ms", "10ms")


@contextmanager
def shop(net, folder):
    """Start the shop, with the variables that it was given."""
    given = " ".join(f"{name}={os.environ[name]}" for name in NAMES if name in os.environ)
    stock = Command(net["db"], f"env {given} python3 {SHOP} stock", folder / "stock", port=8000, ready=http("/"))
    with stock, Command(net["web"], f"env {given} python3 {SHOP} web", folder / "web", port=8000, ready=http("/")) as web:
        yield web


@experiment(topology=ClientWebDb, service=shop, vary={"rtt": RTTS}, clock="exact")
def page(net, web, rtt):
    """What does a page of the shop cost near and far away?"""
    far, stock = ("0ms", "0ms") if rtt == "0ms" else (f"{os.environ.get('RTT_MS', '10')}ms", "2ms")
    with net.link("client", "switch").set(rtt=far), net.link("db", "switch").set(rtt=stock):
        return ab(net["client"], web.url, requests=REQUESTS)


if "LIMITS" in os.environ:
    page.claims(
        *(bound(TIME, at={"rtt": rtt}, at_most=limit) for rtt, limit in zip(RTTS, os.environ["LIMITS"].split(), strict=True))
    )
