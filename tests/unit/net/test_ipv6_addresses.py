"""Which IPv6 address belongs to an IPv4 address, and the hosts file with both."""

from types import SimpleNamespace

import pytest

from slownet.links.ip import IPV4, IPV6
from slownet.model.errors import NetworkError
from slownet.net import addresses, ipv6

HOSTS = {"web": "10.0.0.1", "db": "10.0.0.2"}


def test_an_address_and_a_network_keep_their_numbers():
    assert ipv6.of("10.0.0.1") == "2001:db8::a00:1"
    assert [ipv6.address(ip, "10.0.0.1") for ip in (IPV4, IPV6)] == ["10.0.0.1", "2001:db8::a00:1"]
    assert ipv6.network("10.0.2.0/24") == "2001:db8::a00:200/120"
    assert ipv6.network("10.0.2.7") == "2001:db8::a00:207/128"


def test_what_is_no_address_is_one_line():
    with pytest.raises(NetworkError, match=r"'10\.0\.0' is not an IPv4 address: give one such as 10\.0\.0\.1"):
        ipv6.of("10.0.0")


def test_a_hosts_file_has_the_names_with_ipv4_first():
    hosts = [SimpleNamespace(name=name, IP=lambda address=address: address) for name, address in HOSTS.items()]
    own = "10.0.0.1\tweb\n10.0.0.2\tdb\n"
    assert addresses.lines(hosts, "127.0.0.1 localhost\n") == f"{own}127.0.0.1 localhost\n"
    assert addresses.lines(hosts, "", ipv6.of) == f"{own}2001:db8::a00:1\tweb\n2001:db8::a00:2\tdb\n"
