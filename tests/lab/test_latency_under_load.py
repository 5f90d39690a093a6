"""A link that is filled in both directions: what its queue holds back, and that both directions were full."""

import pytest

from slownet.model.errors import ToolError
from slownet.tools.under_load import under_load
from slownet.topologies import TwoHosts

TOPOLOGY = TwoHosts
RATE, FRAME, QUEUE = 4e6, 1514, 50


@pytest.mark.parametrize(
    ("fields", "least_ms", "most_ms"),
    [
        # with acknowledgements as every second packet and after a loss at the same time in all connections, see bufferbloat
        ({"queue": f"{QUEUE} packets"}, 20 + 2 * (0.2 * QUEUE * 8e3 * FRAME / RATE - 6), 20 + 2 * QUEUE * 8e3 * FRAME / RATE),
        ({"aqm": "fq_codel"}, 20, 20 + 2 * 3 * 8e3 * FRAME / RATE),
    ],
    ids=["fifo", "fq_codel"],
)
def test_the_queue_is_what_a_ping_waits_for(net, fields, least_ms, most_ms):
    with net.link("client", "server").set(rtt="20ms", rate=f"{RATE:.0f}bit", **fields):
        record = under_load(net["client"], net["server"], seconds=5, settle=5, flows=2)
    assert least_ms <= record.rtt_ms.mean <= most_ms
    for carried in (record.upload_mbit_per_s, record.download_mbit_per_s):
        assert 0.75 * RATE / 1e6 <= carried <= RATE / 1e6


def test_a_server_that_cannot_be_reached_is_one_line(net):
    with net.link("client", "server").set(loss="100%"), pytest.raises(ToolError, match="none of 10 pings") as caught:
        under_load(net["client"], net["server"], seconds=1, settle=0)
    assert len(str(caught.value).splitlines()) == 1
