"""The article's case: PHP sends 1200 queries per page to MariaDB, through a proxy that reads 128 bytes at a time."""

from slownet import ClientProxyServer, bound, experiment, predicted
from slownet.reproductions.exchange import DELAYED_ACK_LEAST_MS, DELAYED_ACK_MOST_MS
from slownet.reproductions.proxied import ProxiedDatabase
from slownet.reproductions.queried_page import QUERIES, php_page
from slownet.theory import published

PROXIES = {"proxy": {"size": 128}, "proxy-nodelay": {"size": 128, "nodelay": True}, "proxy-buffer": {"size": 65536}}
ARTICLE = published.article("nagle-delayed-ack")


# One block: a page of 1200 queries cannot be divided.
@experiment(
    topology=ClientProxyServer, service=ProxiedDatabase, vary={"way": ["direct", *PROXIES]}, published=published.nagle_proxy(),
    tdf="inf", blocks=1,
)  # fmt: skip
def nagle_proxy(net, database, way):
    """Why does a page of 1200 queries take 40 s through a proxy, and 3 s without it?"""
    if way == "direct":
        return php_page(net["client"], database.address)
    with database.through(**PROXIES[way]) as address:
        return php_page(net["client"], address)


nagle_proxy.claims(
    bound("stalls", {"way": "direct"}, at_most=0, because="PHP sends a query in one write"),
    bound(
        "stalls", {"way": "proxy"}, at_least=QUERIES, at_most=QUERIES,
        because="the proxy sends 163 bytes as 128 and 35: write-write-read",
    ),
    # The article's kernel may have another tick. The minimum is 40 ms on both, and up to 4 ms more here: 44.1 / 39.7.
    predicted(
        "query_ms", {"way": "proxy"}, expected=1000 * ARTICLE["stall_s"], within=0.12,
        because="this is the article's stall; the kernel's tick is 4 ms here",
    ),
    bound(
        "page_s", {"way": "proxy"},
        at_least=QUERIES * DELAYED_ACK_LEAST_MS / 1000, at_most=QUERIES * DELAYED_ACK_MOST_MS / 1000,
        because="each of 1200 queries stalls for 40 to 44 ms, and there is nothing else to wait for",
    ),
    bound("stalls", {"way": "proxy-nodelay"}, at_most=0, because="TCP_NODELAY sends the second write at once"),
    bound("stalls", {"way": "proxy-buffer"}, at_most=0, because="a buffer that holds the query sends it in one write"),
)  # fmt: skip


@nagle_proxy.answer
def answer(run):
    direct, slow, *cured = (run.at({"way": way}) for way in ("direct", *PROXIES))
    stalls = slow.summary("stalls").mean
    others = max(each.summary("stalls").mean for each in (direct, *cured))
    return (
        f"Because {stalls:.0f} of {QUERIES} queries wait for a delayed ACK, {slow.amount('query_ms')} each: "
        f"{slow.amount('page_s')} a page. Directly, with TCP_NODELAY or with a larger buffer, "
        f"{'none waits' if others == 0 else f'up to {others:.0f} wait'}."
    )
