"""Small changes of known size, each measured with the unchanged page and with an identical copy: do claims detect them?"""

from pathlib import Path

from slownet.hypotheses.experiment import experiment
from slownet.judge.claim import equal
from slownet.services.wordpress import WordPress
from slownet.tools.ab import ab
from slownet.topologies import ClientWebDb

PAGE = "time_per_request_ms"
REQUESTS = 50
COUNTED = 8_000_000
# Half of each change, so that the unchanged page lies as far inside the margin as the changed one lies outside: one more query
# than about 26, on a connection that takes 2 round trips, at 10 ms each with 10 to 60 ms of work (10 of 290 to 340 ms); 1 % of
# a page that is all work; 4 round trips (a handshake and three flights), so 4 ms of 50 to 100.
MARGINS = {"query": 0.015, "work": 0.005, "delay": 0.02}
PAGES = {
    ("query", "more"): "?queries=1",
    ("work", "none"): f"wp-content/count.php?to={COUNTED}",
    ("work", "same"): f"wp-content/count.php?to={COUNTED}",
    ("work", "more"): f"wp-content/count.php?to={COUNTED * 101 // 100}",
}
CABLES = {"query": "db", "work": "client", "delay": "client"}
RTTS = {"query": "10ms", "work": "0ms", "delay": "10ms"}
LONGER = {("delay", "more"): "11ms"}


def site(net, directory):
    """Return WordPress with a page that can make one more query, and a page that counts."""
    folder = Path(__file__).parent
    return WordPress(net, directory, drop_ins=[folder / "db.php", folder / "count.php"])


def cell(what, change):
    return {"what": what, "change": change}


CELLS = [cell(what, change) for what in MARGINS for change in ("none", "same", "more")]


@experiment(topology=ClientWebDb, service=site, cells=CELLS)
def changes(net, site, what, change):
    """Is a page detected as slower if it has one more query, 1 % more work, or 1 ms more delay?"""
    with net.link(CABLES[what], "switch").set(rtt=LONGER.get((what, change), RTTS[what])):
        return ab(net["client"], site.url + PAGES.get((what, change), ""), requests=REQUESTS)


changes.claims(
    *(
        equal(PAGE, cell(what, change), of=cell(what, "none"), within=margin)
        for what, margin in MARGINS.items() for change in ("same", "more")
    )
)  # fmt: skip
