"""New connections of real clients to real servers: what a capture shows, and how many round trips they take."""

import json

import pytest

from slownet.model.errors import ToolError
from slownet.reproductions import page_load
from slownet.reproductions.objects import Objects
from slownet.reproductions.program import python
from slownet.reproductions.protocols import NAME, Opening, Protocols, observe
from slownet.services.https import HttpsServer
from slownet.theory import page_loads
from slownet.theory.handshakes import NGINX_QUIC_WINDOW, STACKS, opened, round_trips
from slownet.theory.page_loads import PROTOCOLS
from slownet.topologies import TwoHosts

TOPOLOGY = TwoHosts
RTTS_MS = (10, 60)


def at(net):
    link = net.link("server", "client")
    return lambda rtt: link.set(delay_up=rtt, ping=False)


@pytest.mark.parametrize("stack", ["TCP Fast Open", "TLS 1.2 resumed", "TLS 1.3 0-RTT", "QUIC", "QUIC 0-RTT"])
def test_a_stack_takes_the_round_trips_of_its_rfcs(net, tmp_path, stack):
    with Protocols(net, tmp_path) as protocols:
        found = protocols.handshake(net["client"], stack, at(net), rtts_ms=RTTS_MS)
    assert found.far.traits == STACKS[stack]
    assert found.far.flights == round_trips(stack=stack)
    assert found.metrics()["round_trips"]["mean"] == pytest.approx(round_trips(stack=stack), rel=0.02)
    assert found.files["pcap"][:4] in (b"\x4d\x3c\xb2\xa1", b"\xa1\xb2\x3c\x4d")  # nanoseconds


def test_a_certificate_above_the_initial_window_costs_one_more(net, tmp_path):
    with Protocols(net, tmp_path) as protocols:
        found = protocols.handshake(net["client"], "TLS 1.3", at(net), Opening(certificate=16_000), RTTS_MS)
    assert found.far.certificate == pytest.approx(16_000, rel=0.03)
    assert found.metrics()["round_trips"]["mean"] == pytest.approx(4, rel=0.02)


def test_a_protocol_that_was_negotiated_down_is_one_line(net, tmp_path):
    with HttpsServer(net["server"], tmp_path, files={NAME: 1000}, groups="P-256"), pytest.raises(ToolError) as caught:
        observe(net["client"], net["server"].IP(), NAME, STACKS["TLS 1.3"])
    assert str(caught.value).startswith(
        "the capture shows TCP with TLS 1.3, hello retry instead of TCP with TLS 1.3, host 'client'"
    )


def test_a_program_that_is_missing_is_one_line(net, tmp_path, monkeypatch):
    monkeypatch.setattr("slownet.reproductions.protocols.PROGRAM", "gtlsclient-of-nobody")
    with Protocols(net, tmp_path) as protocols, pytest.raises(ToolError, match="gtlsclient-of-nobody is not installed"):
        protocols.handshake(net["client"], "QUIC 0-RTT", at(net), rtts_ms=RTTS_MS)


def test_a_client_without_a_key_log_is_one_line(net, tmp_path, monkeypatch):
    monkeypatch.setattr("slownet.tools.curl.key_log", lambda keys: {})
    with Protocols(net, tmp_path) as protocols, protocols.serving(opened("TLS 1.3"), Opening()):
        with pytest.raises(ToolError, match="the capture cannot be read without keys"):
            observe(net["client"], net["server"].IP(), NAME, STACKS["TLS 1.3"])
        assert observe(net["client"], net["server"].IP(), NAME, STACKS["TLS 1.2"]).seen.traits == STACKS["TLS 1.2"]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_page_of_objects_takes_the_round_trips_of_its_protocol(net, tmp_path, protocol):
    times = []
    with Objects(net, tmp_path) as site:
        for rtt_ms in RTTS_MS:
            with net.link("server", "client").set(rtt=f"{rtt_ms}ms", ping=False):
                times.append(site.page(net["client"], protocol, 20, 1000).times_ms[0])
    expected = page_loads.round_trips(protocol=protocol, objects=20, size=1000, window=NGINX_QUIC_WINDOW)
    assert (times[1] - times[0]) / (RTTS_MS[1] - RTTS_MS[0]) == pytest.approx(expected, rel=0.02)


def test_a_page_over_another_protocol_is_one_line(net, tmp_path, monkeypatch):
    monkeypatch.setattr(page_load, "python", lambda module, job: python(module, job.replace('"h2"', '"http/1.1"')))
    with Objects(net, tmp_path) as site, pytest.raises(ToolError, match=r"connections? \(http/1.1.*\) instead of HTTP/2, host"):
        site.page(net["client"], "HTTP/2", 2, 1000)


def test_an_object_that_is_missing_is_one_line(net, tmp_path):
    with HttpsServer(net["server"], tmp_path, files={NAME: 1000}) as site:
        with pytest.raises(ToolError, match=r"libcurl: \(22\) .*: https://.*/other\?\d, host 'client'"):
            page_load.page_load(net["client"], f"{site.url}other", "HTTP/2", 3)
        site.stop()
        with pytest.raises(ToolError, match=r"libcurl: \(7\) (Couldn't|Could not) connect to server: "):
            page_load.page_load(net["client"], f"{site.url}{NAME}", "HTTP/1.1", 3)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_each_load_of_a_page_opens_its_own_connections_and_no_more(net, tmp_path, protocol):
    """Transfers of equal objects end together, so that none is under way for a moment: connections must outlive it."""
    with Objects(net, tmp_path) as site, net.link("server", "client").set(rtt="20ms", ping=False):
        found = site.page(net["client"], protocol, 44, 1000, loads=4)
    assert len(found.times_ms) == 4
    assert found.connections == PROTOCOLS[protocol].connections
    for line in found.raw.splitlines():
        transfers = json.loads(line)["transfers"]
        assert sum(each["num_connects"] for each in transfers) == found.connections
        assert {each["size_download"] for each in transfers} == {1000}
        assert len({each["url"] for each in transfers}) == 44
