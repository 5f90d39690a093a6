"""iperf3 with a free CPU over links without a rate, where sending takes no time."""

import pytest

from slownet import iperf3
from slownet.lab.host import native
from slownet.model.errors import ToolError
from slownet.topologies import TwoHosts

TOPOLOGY = TwoHosts
pytestmark = pytest.mark.skipif(not native.cpu_is_free(), reason="a charged CPU limits what is sent")


def test_what_would_not_end_is_one_line_at_once(net):
    said = r"^iperf3 would not end: no link has a rate or a delay, .*, from host 'server' to 'client': give the link a rate"
    with pytest.raises(ToolError, match=said):
        iperf3(net["server"], net["client"], seconds=10)
    with net.link("client", "server").set(rate="100Mbit"):
        assert 90 < iperf3(net["server"], net["client"], seconds=2).mbit_per_s < 100
    with pytest.raises(ToolError, match=said):  # the queueing discipline stays, without a limit
        iperf3(net["server"], net["client"], seconds=10)
