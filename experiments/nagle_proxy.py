"""The article's case: PHP asks MariaDB through a proxy that reads 128 bytes at a time, 1200 times a page."""

from slownet import published
from slownet.claim import between, predicted
from slownet.experiment import experiment
from slownet.services.proxied import ProxiedDatabase
from slownet.tools.php_page import QUERIES, php_page
from slownet.topologies import ClientProxyServer

PROXIES = {"proxy": {"size": 128}, "proxy-nodelay": {"size": 128, "nodelay": True}, "proxy-buffer": {"size": 65536}}
ARTICLE = published.article("nagle-delayed-ack")


# One block: a page of 1200 queries is whole or none.
@experiment(
    topology=ClientProxyServer, service=ProxiedDatabase, vary={"way": ["direct", *PROXIES]}, published=published.nagle_proxy(),
    blocks=1,
)  # fmt: skip
def nagle_proxy(net, database, way):
    """Why does a page of 1200 queries take 40 s through a proxy, and 3 s without it?"""
    if way == "direct":
        return php_page(net["client"], database.address)
    with database.through(**PROXIES[way]) as address:
        return php_page(net["client"], address)


def stalled_page(run):
    """Seconds of the direct page, and a stall for each query: the article's 0.039683 s at the least."""
    return run.at({"way": "direct"}).summary("page_s") + QUERIES * run.at({"way": "proxy"}).summary("query_ms") / 1000


nagle_proxy.claims(
    between("stalls", {"way": "direct"}, most=0, because="PHP sends a query in one write"),
    between("stalls", {"way": "proxy"}, QUERIES, QUERIES, "163 bytes leave the proxy as 128 and 35, write-write-read"),
    predicted(
        "query_ms", {"way": "proxy"}, 1000 * ARTICLE["stall_s"], 0.15, "the article's stall; the kernel's tick is 4 ms here"
    ),
    predicted("page_s", {"way": "proxy"}, stalled_page, 0.01, "1200 queries, each with its stall"),
    between("stalls", {"way": "proxy-nodelay"}, most=0, because="TCP_NODELAY sends the second write at once"),
    between("stalls", {"way": "proxy-buffer"}, most=0, because="a buffer as long as the query makes one write of it"),
)
