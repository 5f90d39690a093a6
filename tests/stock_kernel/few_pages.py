"""client_delay's page without WordPress: an emulated processor is slow, and its speed varies with this machine's load."""

from functools import partial

from slownet.hypotheses.experiment import experiment
from slownet.judge.claim import law
from slownet.services.files import StaticPage
from slownet.theory.slow_start import round_trips
from slownet.tools.ab import ab
from slownet.topologies import ClientWebDb

LENGTH = 51_686  # the front page's
# Three would leave one degree of freedom for the law's straightness, where Student's t is 64; with four it is 9.9.
DELAYS = ["0ms", "200ms", "400ms", "600ms"]


@experiment(topology=ClientWebDb, service=partial(StaticPage, length=LENGTH, on="web"), vary={"rtt": DELAYS})
def few_pages(net, site, rtt):
    """How much slower is a page when its reader is 200, 400 or 600 ms away?"""
    with net.link("client", "switch").set(rtt=rtt):
        return ab(net["client"], site.url, requests=10)


def of_the_page(run):
    return round_trips(LENGTH, until="close", header_bytes=run.fact("header_length"))


few_pages.claims(law("time_per_request_ms", round_trips=of_the_page, within=0.05))
