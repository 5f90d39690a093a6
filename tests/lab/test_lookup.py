"""Names that are looked up over each transport before a page: what a capture shows, and how many round trips it takes."""

import pytest

from slownet.model.errors import ServiceError, ToolError
from slownet.reproductions.named_pages import PROGRAM, RESOLVER, NamedPages, asking, observe
from slownet.services.unbound import Unbound
from slownet.theory import lookups
from slownet.topologies import TwoHosts

TOPOLOGY = TwoHosts
RTTS_MS = (10, 60)


@pytest.fixture(scope="module")
def pages(net, tmp_path_factory):
    with NamedPages(net, tmp_path_factory.mktemp("pages")) as found:
        yield found


def at(net):
    link = net.link("server", "client")
    return lambda rtt: link.set(delay_up=rtt, ping=False)


@pytest.mark.parametrize(
    ("transport", "more", "theory"),
    [
        ("UDP", {"by": PROGRAM}, {}),
        ("TCP", {"by": PROGRAM, "questions": 1}, {}),
        ("HTTPS", {"by": PROGRAM}, {}),
        ("TLS", {"by": RESOLVER}, {}),
        ("TCP", {"by": RESOLVER, "kept": True}, {"kept": True, "held": True}),
    ],
)
def test_a_lookup_takes_the_round_trips_of_its_transport(net, pages, transport, more, theory):
    found = pages.page(net["client"], transport, at(net), rtts_ms=RTTS_MS, **more)
    assert found.far.transports == (transport,)
    expected = lookups.round_trips(transport=transport, **theory)
    assert found.metrics()["lookup_round_trips"]["mean"] == pytest.approx(expected, rel=0.02)
    assert found.metrics()["round_trips"]["mean"] == pytest.approx(expected + 2, rel=0.02)


def test_another_transport_than_asked_for_is_one_line(net, pages):
    with (
        asking(net["client"], net["server"].IP()),
        pytest.raises(ToolError, match="the capture shows a lookup over UDP instead of TLS, opened for it, host 'client'"),
    ):
        observe(net["client"], "http://page.example/page", "TLS", opened=True)


def test_a_forwarder_that_cannot_be_is_one_line(net):
    with pytest.raises(ServiceError, match="unbound does not ask over 'HTTPS', Unbound"):
        Unbound(net["client"], forward=("10.0.0.2", "HTTPS"))
