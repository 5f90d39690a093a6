"""Slow start's round trips on the lab's own kernel: exact where the CPU is free, each side of each step."""

import sys

import pytest

from slownet.net.tool import run
from slownet.services.nginx import Nginx
from slownet.theory.slow_start import CLOSE, LAST_BYTE, round_trips
from slownet.tools.ab import ab
from slownet.topologies import TwoHosts

TOPOLOGY = TwoHosts
RTT_MS = 100
MSS = {1500: 1448, 9000: 8948, 576: 524}
# (MTU, body, round trips until the connection's end, until the last byte). Two flights are exact; in the third each size
# stays away from the step by more than what the programs' reads and writes move it: see `round_trips`.
TABLE = [
    (1500, 1000, 2, 2), (1500, 12_790, 2, 2), (1500, 12_800, 3, 2), (1500, 14_240, 3, 2), (1500, 14_250, 3, 3),
    (1500, 42_300, 3, 3), (1500, 43_190, 3, 3), (1500, 43_210, 4, 4), (1500, 51_686, 4, 4),
    (1500, 80_000, 4, 4), (1500, 98_000, 4, 4), (1500, 102_000, 5, 5), (1500, 150_000, 5, 5),
    (1500, 200_000, 5, 5), (1500, 220_000, 6, 6), (1500, 400_000, 6, 6),
    (9000, 35_605, 2, 2), (9000, 62_400, 2, 2), (9000, 62_500, 3, 3), (9000, 89_000, 3, 3),
    (576, 4470, 2, 2), (576, 4485, 3, 2), (576, 4990, 3, 2), (576, 5010, 3, 3), (576, 15_470, 3, 3), (576, 15_490, 4, 4),
]  # fmt: skip
HELD = (63_900, 64_100)
"""Bodies that the client's first window holds with their header, and one that it does not."""
CLIENT = """
import socket, sys, time
host, size = sys.argv[1], int(sys.argv[2])
begun = time.monotonic()
with socket.create_connection((host, 80)) as server:
    server.sendall(b"GET /%d HTTP/1.0\\r\\n\\r\\n" % size)
    answer = b""
    while b"\\r\\n\\r\\n" not in answer:
        answer += server.recv(1 << 20)
    left = answer.index(b"\\r\\n\\r\\n") + 4 + size - len(answer)
    while left:
        left -= len(server.recv(1 << 20))
    print(time.monotonic() - begun)
"""


@pytest.fixture(scope="module")
def web(net, tmp_path_factory):
    root = tmp_path_factory.mktemp("files")
    for size in {*HELD, *(row[1] for row in TABLE)}:
        (root / str(size)).write_bytes(b"x" * size)
    for each in (root, *root.parents[:2]):
        each.chmod(0o755)
    with Nginx(net["server"], tmp_path_factory.mktemp("services"), root=root) as running:
        yield running


@pytest.mark.parametrize("mtu", MSS)
def test_round_trips_are_those_of_slow_start(net, web, mtu):
    for size, close, last_byte in (row[1:] for row in TABLE if row[0] == mtu):
        with net.link("client", "server").set(rtt=f"{RTT_MS}ms", mtu=mtu):
            page = ab(net["client"], f"{web.url}{size}", requests=2)
            argv = [sys.executable, "-c", CLIENT, web.host.IP(), str(size)]
            seconds = float(run(net["client"], argv).stdout)
        header = page.facts()["header_length"]
        for until, expected, measured_ms in (
            (CLOSE, close, page.time_per_request_ms), (LAST_BYTE, last_byte, 1000 * seconds),
        ):  # fmt: skip
            assert measured_ms / RTT_MS == pytest.approx(expected, abs=0.01), (mtu, size, until)
            assert round_trips(size, mss=MSS[mtu], until=until, header_bytes=header) == expected, (mtu, size, until)


def test_the_clients_first_window_holds_back_a_server_that_would_send_more(net, web):
    """60 segments at once, of which the client's first window, 64,240 bytes, takes 44 and a small one."""
    (route,) = run(net["server"], ["ip", "route", "show", "10.0.0.0/24"]).stdout.splitlines()
    run(net["server"], ["ip", "route", "change", *route.split(), "initcwnd", "60"])
    try:
        with net.link("client", "server").set(rtt=f"{RTT_MS}ms"):
            pages = {size: ab(net["client"], f"{web.url}{size}", requests=1) for size in HELD}
    finally:
        run(net["server"], ["ip", "route", "change", *route.split()])
    measured = {size: page.time_per_request_ms / RTT_MS for size, page in pages.items()}
    assert [measured[size] for size in HELD] == [pytest.approx(2, abs=0.01), pytest.approx(3, abs=0.01)]
    for size, page in pages.items():
        header = page.facts()["header_length"]
        theory = round_trips(size, initial_window=60, until=CLOSE, header_bytes=header)
        assert theory == round(measured[size])
