"""Settings of all hosts from the environment, read back by other programs than those that set them."""

import json

import pytest

from slownet import Network, TwoHosts
from slownet.model.errors import NetworkError, ToolError
from slownet.model.host_settings import VARIABLE


def shown(host, *words):
    return host.cmd(*words).strip()


def test_every_host_has_them_and_the_record_too(monkeypatch):
    monkeypatch.setenv(VARIABLE, "initcwnd=33;quickack=1;rto_min=20ms;net.ipv4.tcp_rmem=4096 65536 1048576")
    with Network(TwoHosts) as net:
        for host in net.hosts:
            (route,) = json.loads(host.cmd("ip -json route show"))
            (options,) = route["metrics"]
            assert (options["initcwnd"], options["quickack"], options["rto_min"]) == (33, 1, 20)
            assert shown(host, "sysctl -n net.ipv4.tcp_rmem").split() == ["4096", "65536", "1048576"]
        assert net.kernel_settings()["initcwnd"] == "33"
    monkeypatch.delenv(VARIABLE)
    with Network(TwoHosts) as net:
        assert "initcwnd" not in shown(net.hosts[0], "ip route show")


@pytest.mark.parametrize("text", ["initcwnd=many", "net.ipv4.no_such=1"])
def test_what_is_refused_is_an_error(monkeypatch, text):
    monkeypatch.setenv(VARIABLE, text)
    with pytest.raises((NetworkError, ToolError)), Network(TwoHosts):
        raise AssertionError
