"""Connections over two paths, captured in a lab: curl 8.14, whose IPv6 path loses everything; 40 ms over IPv4."""

from pathlib import Path

import pytest

from slownet.links.packets import connection_attempts
from slownet.model.errors import ToolError

DATA = Path(__file__).parent / "data"
FIRST, SECOND = DATA / "dead-ipv6-first.pcap", DATA / "dead-ipv6-second.pcap"


@pytest.mark.parametrize("sources", [(FIRST, SECOND), (SECOND, FIRST)])
def test_both_families_are_tried_and_the_one_that_answers_is_found(sources):
    found = connection_attempts.read(sources)
    assert (found.families, found.answered) == (("IPv6", "IPv4"), "IPv4")
    assert found.first_byte_ms == pytest.approx(280, rel=0.002)


def test_a_path_alone():
    assert connection_attempts.read([FIRST]).first_byte_ms == pytest.approx(80, rel=0.002)
    with pytest.raises(ToolError, match="none of 1 connections brought a page"):
        connection_attempts.read([SECOND])
    with pytest.raises(ToolError, match="no connection to port 80 begins in the captures"):
        connection_attempts.read([DATA / "tls13.pcap"])
