"""Lookups before a page, captured in a lab (curl 8.14, glibc 2.41, unbound 1.26) at a round-trip time of 120 ms."""

from pathlib import Path

import pytest

from slownet.links.packets import dns
from slownet.model.errors import ToolError

DATA = Path(__file__).parent / "data"
RTT_MS = 120


@pytest.mark.parametrize(
    ("name", "transport", "opened", "round_trips"),
    [("dns-udp", "UDP", False, 1), ("dns-tcp", "TCP", True, 3), ("dns-tls", "TLS", True, 3), ("dns-tls-kept", "TLS", False, 1)],
)
def test_a_capture_shows_how_a_name_was_looked_up(name, transport, opened, round_trips):
    found = dns.read(DATA / f"{name}.pcap")
    assert (found.transports, found.opened) == ((transport,), opened)
    assert found.lookup_ms == pytest.approx(round_trips * RTT_MS, rel=0.003)
    assert found.first_ms - found.lookup_ms == pytest.approx(2 * RTT_MS, rel=0.003)


def test_a_page_without_a_lookup_or_no_page_is_one_line():
    with pytest.raises(ToolError, match="the capture has no lookup before its page"):
        dns.read(DATA / "tcp.pcap")
    with pytest.raises(ToolError, match="the capture has no page"):
        dns.read(DATA / "quic.pcap")


def test_what_is_no_tls_on_its_port_is_one_line(monkeypatch):
    monkeypatch.setitem(dns.DNS_PORTS, "TLS", 53)
    monkeypatch.setattr(dns, "TRANSPORTS", {("TCP", 53): "TLS"})
    with pytest.raises(ToolError, match=r"the capture shows no TLS on the port of TLS instead of TLS 1\.3"):
        dns.read(DATA / "dns-tcp.pcap")
