"""What a user writes first, on the machine's own kernel and clock: two claims that are true, and one that is wrong."""

from slownet import about
from slownet.tools.ping import ping


def rtt(net):
    with net.link("client", "switch").set(rtt="80ms"):
        return ping(net["client"], net["web"].IP(), count=20, interval=0.1).rtt


def test_true(net):
    assert rtt(net) == about("80ms", within=0.05)


def test_true_of_a_limit(net):
    assert rtt(net) > 70


def test_wrong(net):
    assert rtt(net) == about("100ms", within=0.05)
