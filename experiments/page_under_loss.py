"""A page of many objects whose packets get lost: on six connections, on one, and on one with independent streams."""

from slownet import TwoHosts, experiment, ratio
from slownet.reproductions.objects import Objects
from slownet.theory import published

SIX, PROTOCOLS = "HTTP/1.1 on 6 connections", ("HTTP/1.1 on 6 connections", "HTTP/2", "HTTP/3")
LOADS = 60  # three boots then have 180, of which chance leaves 20 % of a ratio at the first look
CLEAN = {"rtt": "40ms"}
ONE, TWO = ({**CLEAN, "loss_up": loss, "seed": "1"} for loss in ("1%", "2%"))
CELLS = [{"protocol": name, **condition} for condition in (CLEAN, TWO) for name in PROTOCOLS]
CELLS += [{"protocol": name, **ONE} for name in PROTOCOLS[:2]]


@experiment(topology=TwoHosts, service=Objects, cells=CELLS, published=published.page_under_loss(), tdf="inf", blocks=1)
def page_under_loss(net, site, protocol, **condition):
    """How much longer does a page of 44 objects take if 1 or 2 % of its packets are lost?"""
    with net.link("server", "client").set(**condition):
        return site.page(net["client"], protocol, 44, 4000, loads=LOADS if "loss_up" in condition else 1)


page_under_loss.claims(
    # Published: 2060 / 1200, 1.72, and 2904 / 1537, 1.89. The direction is claimed, not the size, which belongs to pages that
    # are lost: without loss theory gives 10 / 7, and a loss that harms both alike leaves that.
    *(
        ratio(
            "page_ms", {"protocol": SIX, **lossy}, of={"protocol": "HTTP/2", **lossy}, at_least=1.2,
            because="few packets follow a lost one in a small answer, and they show the loss; in a long flight, there are many",
        )
        for lossy in (ONE, TWO)
    ),
    ratio(
        "page_ms", {"protocol": "HTTP/2", **TWO}, of={"protocol": "HTTP/3", **TWO}, at_least=1.2,
        because="over QUIC a stream waits for its own packets only, and nginx's first window is larger",
    ),
    ratio(
        "object_ms", {"protocol": "HTTP/2", **TWO}, of={"protocol": "HTTP/2", **CLEAN}, at_least=1.05,
        because="TCP holds back the objects behind a lost packet, whosever it is: head-of-line blocking",
    ),
)  # fmt: skip


@page_under_loss.answer
def answer(run):
    def times(name):
        clean, lossy = (run.at({"protocol": name, **condition}) for condition in (CLEAN, TWO))
        factor = lossy.summary("page_ms").mean / clean.summary("page_ms").mean
        return f"{name} {factor:.2g} times as long ({clean.amount('page_ms')} become {lossy.amount('page_ms')})"

    return f"With 2 % loss: {'; '.join(times(name) for name in PROTOCOLS)}."
