"""Copies over SSH, packages from a mirror, and an option of a route, on the lab's network."""

import pytest

from slownet.model.errors import ToolError
from slownet.net.tool import run
from slownet.reproductions.copies import PROGRAMS, Copies
from slownet.reproductions.mirror import APT, PIP, WITHOUT_PIPELINE, Mirror
from slownet.reproductions.own_server import initial_window
from slownet.topologies import TwoHosts

TOPOLOGY = TwoHosts
RTT_MS = 50


@pytest.mark.parametrize("program", PROGRAMS)
def test_each_program_copies(net, tmp_path, program):
    with Copies(net, tmp_path) as copies:
        near = copies.copy(net["client"], program, 1_000_000).times_ms[0]
        with net.link("client", "server").set(rtt=f"{RTT_MS}ms", ping=False):
            far = copies.copy(net["client"], program, 1_000_000).times_ms[0]
    assert (far - near) / RTT_MS > 9  # the login alone


def test_a_client_without_the_key_is_one_line(net, tmp_path, monkeypatch):
    with Copies(net, tmp_path) as copies:
        (copies.sshd.state / "key").unlink()
        with pytest.raises(ToolError, match=r"ended with status 255: .*Permission denied \(publickey\)"):
            copies.copy(net["client"], "ssh", 1)


@pytest.mark.parametrize(("program", "trips"), [(APT, 3), (WITHOUT_PIPELINE, 6), (PIP, 11)])
def test_five_packages_take_their_round_trips(net, tmp_path, program, trips):
    with Mirror(net, tmp_path) as mirror:
        near = mirror.fetch(net["client"], program, 5).times_ms[0]
        with net.link("client", "server").set(rtt=f"{RTT_MS}ms", ping=False):
            far = mirror.fetch(net["client"], program, 5).times_ms[0]
    assert (far - near) / RTT_MS == pytest.approx(trips, abs=0.1)


def test_an_initial_window_is_there_for_the_block_alone(net):
    routes = ["ip", "route", "show", "scope", "link"]
    with initial_window(net["server"], 3):
        assert "initcwnd 3" in run(net["server"], routes).stdout
    assert "initcwnd" not in run(net["server"], routes).stdout
