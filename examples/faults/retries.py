"""Does a service serve again once a fault is over? `slownet hunt retries.py` finds the pause after which it never does.

A server does one request after the other, C = 50/s (busy_server.py). Each of 35 clients asks once a second, at a random moment;
one that has no answer after 300 ms asks again at once, and after three times gives up. So what is asked is

    35/s, 0.7 C, as long as answers come within 300 ms, that is, fewer than 0.3 s * C = 15 requests wait;
    35/s * 3 = 105/s, 2.1 C, as soon as more do: each attempt is given up before its turn comes.

Both last: the queue of the first state is short (M/D/1 at 0.7 waits 0.7 / (2 * 0.3) * 20 ms = 23 ms), that of the second one
grows until it is full, and 100 requests wait for 2 s. Any fault after which 15 requests wait leads from one state to the other:
a pause of P seconds leaves 35 P + 35 (P - 0.3) of them, so 0.36 s are enough. A cut leaves none, but after one of 0.5 s the
clients of that time ask again within 0.3 s, 17 of them beside 10 new ones, of which 15 are done. Nothing leads back, however
long the fault is gone: a metastable failure (Bronson, Aghayev, Charapko and Zhu, "Metastable Failures in Distributed Systems",
HotOS 2021).

RETRIES says what clients do: "immediate" as above; "none"; "budget": retries are at most a tenth of the requests, so 38.5/s are
asked, and a full queue is gone after 100 / (50 - 38.5) = 8.7 s; "backoff": they wait before they try again, a random time of up
to 1 s, then up to 2 s (full jitter). One who tries three times then takes 3 * 0.3 + 0.5 + 1 = 2.4 s in the mean and asks anew
with the third second: that is again 35/s, less than C. Clients that do not wait for one request before the next would ask 105/s
with backoff, too.
"""

import os
import socket
import time
from pathlib import Path

from slownet import Command, Recorder, TwoHosts, experiment, faults, recovers_within

RETRIES = os.environ.get("RETRIES", "immediate")
PROGRAM, PORT = Path(__file__).with_name("busy_server.py"), 7000
CLIENTS, TIMES, TIMEOUT_S, SHARE = 35, 1 if RETRIES == "none" else 3, 0.3, 0.1


def start(net, directory):
    """Return the server on its host."""
    return Command(net["server"], ["python3", str(PROGRAM), str(PORT)], directory, port=PORT, name="busy")


class Caller:
    """Sends the requests of one client."""

    def __init__(self, client, address):
        self.client, self.address = client, address
        self.budget = 1.0

    def ask(self, number):
        """Ask until there is an answer, as often as RETRIES allows. Raises OSError."""
        self.budget = min(1.0, self.budget + SHARE)
        for turn in range(TIMES):
            if turn and RETRIES == "backoff":
                time.sleep(self.client.random.random() * turn)
            if turn and RETRIES == "budget":
                if self.budget < 1:
                    break
                self.budget -= 1
            try:
                return self.attempt(number)
            except OSError as error:
                failed = error
        raise failed

    def attempt(self, number):
        """Ask once. Raises OSError, TimeoutError after 300 ms."""
        with socket.create_connection((self.address, PORT), timeout=TIMEOUT_S) as connection:
            connection.sendall(f"{number}\n".encode())
            answer = connection.recv(100)
        if answer != f"{number}\n".encode():
            raise OSError(answer.decode().strip() or "the connection ended without an answer")


def asks(client, address):
    """Ask once a second for 40 s, each time at a random moment of the second."""
    caller = Caller(client, address)
    for number in client.every("1s", "40s", jitter=1.0):
        client.do("ask", number, lambda number=number: caller.ask(number))


@experiment(topology=TwoHosts, service=start, vary={"faults": ["none"]}, tdf="inf")
def retries(net, server, faults):
    """Is each client served again within 15 s after the fault?"""
    with net.faults(faults, server) as broken:
        recorder = Recorder(broken)
        for _ in range(CLIENTS):
            recorder.client(net["client"], asks, net["server"].IP())
        recorder.wait()
    return recorder


retries.hunt(
    faults(["client", "server"], ["kill", "pause", "cut"], within="10s", services=["server"], most=2), recovers_within("15s")
)
