"""Judges client.py: it may only speak to the server here, which keeps what it was asked. A mark for each test."""

import json
import sys
import time

import pytest

from slownet import TwoHosts
from slownet.net.tool import run

pytestmark = [pytest.mark.topology(TwoHosts), pytest.mark.tdf("inf")]
REQUESTS = 20
SERVER = """
import json, socket, struct
kept = []
listening = socket.create_server(("", 7000))
while True:
    peer, _ = listening.accept()
    with peer:
        while True:
            head = peer.recv(4, socket.MSG_WAITALL)
            if len(head) < 4:
                break
            body = peer.recv(struct.unpack(">I", head)[0], socket.MSG_WAITALL)
            kept.append(body.decode())
            open("/tmp/kept.json", "w").write(json.dumps(kept))
            peer.sendall(b"ok")
"""


@pytest.fixture
def spent(net):
    """`spent(rtt)` runs the client and returns its seconds, and what the server was sent."""

    def spent(rtt):
        open("/tmp/kept.json", "w").write("[]")
        server = net["server"].popen([sys.executable, "-c", SERVER])
        try:
            time.sleep(1)
            with net.link("client", "server").set(rtt=rtt):
                done = run(net["client"], ["timeout", "60", "python3", "submission/client.py", net["server"].IP()])
            return done.seconds, json.loads(open("/tmp/kept.json").read())
        finally:
            server.kill()

    return spent


@pytest.mark.parametrize("rtt_ms", [10])
def test_every_order_arrives_whole_and_in_turn(spent, rtt_ms):
    assert spent(f"{rtt_ms}ms")[1] == [f"order {number}" for number in range(REQUESTS)], "the orders are not those asked for"


def test_an_order_near_by_costs_one_round_trip(spent):
    seconds, orders = spent("10ms")
    assert len(orders) == REQUESTS, "orders are missing"
    assert seconds < 1.1 * (REQUESTS + 1) * 0.010, f"{seconds:.2f} s: the client waits for more than the way"


def test_an_order_far_away_costs_one_round_trip(spent):
    seconds, orders = spent("80ms")
    assert len(orders) == REQUESTS, "orders are missing"
    assert seconds < 1.1 * (REQUESTS + 1) * 0.080, f"{seconds:.2f} s: the client waits for more than the way"
