"""Exactly one lost packet of a page, and the objects that wait for it."""

import pytest

from slownet.model.errors import ToolError
from slownet.net.tool import run
from slownet.reproductions import objects
from slownet.reproductions.objects import OPTIONS, Objects
from slownet.topologies import TwoHosts

TOPOLOGY = TwoHosts
RTT_MS = 60
OBJECTS, SIZE = 6, 1200


@pytest.fixture(scope="module")
def site(net, tmp_path_factory):
    with Objects(net, tmp_path_factory.mktemp("objects")) as found, net.link("server", "client").set(rtt=f"{RTT_MS}ms"):
        yield found


@pytest.mark.parametrize(
    ("protocol", "of", "held_back"),
    [("HTTP/2", 1, 6), ("HTTP/2", 2, 5), ("HTTP/2", 3, 4), ("HTTP/3", 1, 1), ("HTTP/3", 3, 1), ("HTTP/3", 5, 1)],
)
def test_what_one_lost_packet_holds_back(net, site, protocol, of, held_back):
    found = site.page_with_lost_packet(net["client"], protocol, OBJECTS, SIZE, of=of)
    assert len(found.held_back_ms) == held_back
    assert found.held_back_ms == pytest.approx([RTT_MS] * held_back, rel=0.02)
    assert all(abs(each) < 1 for each in found.later_ms if each not in found.held_back_ms)
    assert found.facts()["objects_in_lost_packet"] == 1
    assert run(net["client"], ["nft", "list", "ruleset"]).stdout == ""


def test_the_last_objects_have_too_few_packets_behind_them(net, site):
    with pytest.raises(ToolError, match=r"2 packets of the page follow the first one of object 4, so a timer would repair"):
        site.page_with_lost_packet(net["client"], "HTTP/2", OBJECTS, SIZE, of=4)


def test_without_counted_packets_none_is_dropped_which_is_one_line(net, site, monkeypatch):
    monkeypatch.setattr(objects, "COUNTING", "net.netfilter.nf_conntrack_acct=0")
    with pytest.raises(ToolError, match=r"^0 packets were dropped instead of one, host 'client', https://"):
        site.page_with_lost_packet(net["client"], "HTTP/2", OBJECTS, SIZE)
    assert run(net["client"], ["nft", "list", "ruleset"]).stdout == ""


def test_a_page_over_another_protocol_is_one_line(net, site, monkeypatch):
    monkeypatch.setitem(OPTIONS, "h2", "--http1.1")
    with pytest.raises(ToolError, match=r"^the capture shows \d+ connections? \(http/1.1.*\) instead of HTTP/2, host 'client'"):
        site.page_with_lost_packet(net["client"], "HTTP/2", OBJECTS, SIZE)
