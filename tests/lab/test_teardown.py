"""A network leaves nothing behind, however it ends."""

import json
import subprocess

import pytest
from mininet.topo import Topo

from slownet.model.errors import NetworkError
from slownet.net.network import Network
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

    class TwiceTheSame(Topo):
        def build(self):
            switch = self.addSwitch("switch", dpid="1")
            self.addLink(self.addHost("h1"), switch, intfName1="mine")
            self.addLink("h1", switch, intfName1="mine")

    before = interfaces(), processes(), bridges()
    with pytest.raises(NetworkError, match="mine") as caught, Network(TwiceTheSame):
        pytest.fail("built over another interface")
    assert len(str(caught.value).splitlines()) == 1
    assert (interfaces(), processes(), bridges()) == before
