"""What a network leaves behind: nothing, however it ends."""

import json
import subprocess

import pytest

from slownet.errors import NetworkError
from slownet.net import Network
from slownet.topologies import ClientWebDb


def interfaces():
    links = subprocess.run(["ip", "-json", "link"], capture_output=True, text=True, check=True).stdout
    return {each["ifname"] for each in json.loads(links)}


def processes():
    return subprocess.run(["pgrep", "-c", "mnexec|bash"], capture_output=True, text=True, check=False).stdout


def bridges():
    return subprocess.run(["ovs-vsctl", "list-br"], capture_output=True, text=True, check=True).stdout.split()


def test_a_network_leaves_nothing():
    with Network(ClientWebDb):
        pass  # Open vSwitch's own interface comes with the first network and stays
    before = interfaces(), processes(), bridges()
    with pytest.raises(ZeroDivisionError), Network(ClientWebDb):
        print(1 / 0)
    assert (interfaces(), processes(), bridges()) == before


def test_a_network_that_cannot_be_built_leaves_nothing_and_says_why():
    with Network(ClientWebDb):
        pass
    subprocess.run(["ip", "link", "add", "switch-eth2", "type", "dummy"], check=True)
    try:
        before = interfaces(), processes(), bridges()
        with pytest.raises(NetworkError, match="switch-eth2") as caught, Network(ClientWebDb):
            pytest.fail("built over another's interface")
        assert len(str(caught.value).splitlines()) == 1
        assert (interfaces(), processes(), bridges()) == before
    finally:
        subprocess.run(["ip", "link", "del", "switch-eth2"], check=True)
