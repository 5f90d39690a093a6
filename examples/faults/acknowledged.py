"""Does a queue keep what it has acknowledged, whatever breaks? `slownet hunt acknowledged.py` finds what does not let it."""

import json
import os
import socket
from pathlib import Path

from slownet import Command, Recorder, TwoHosts, experiment, faults, no_lost_writes, nothing_invented

PROGRAM = Path(__file__).with_name("queue_server.py")
ACKNOWLEDGE = os.environ.get("ACKNOWLEDGE", "early")
PORT = 7000
KINDS = ["kill", "pause", "crash"] if ACKNOWLEDGE == "written" else ["kill", "pause", "cut", "one-way"]


class Queue(Command):
    """The queue's server; its file is in its private directory, which outlives a kill."""

    def command(self):
        """Return the command line, with the file that exists only once the service is started."""
        return ["python3", str(PROGRAM), str(PORT), str(self.state / "values"), ACKNOWLEDGE]


def start(net, directory):
    """Return the server on its host."""
    queue = Queue(net["server"], ["python3"], directory, port=PORT, name="queue")
    return queue.on_disk("64MB") if "crash" in KINDS else queue


def ask(address, line):
    """Send a line over a connection of its own and return the answer; an OSError if there is none within a second."""
    with socket.create_connection((address, PORT), timeout=1) as connection, connection.makefile("rw") as file:
        file.write(f"{line}\n")
        file.flush()
        answer = file.readline()
        if not answer:
            raise ConnectionResetError("the connection ended without an answer")
        return answer.strip()


def puts(client, address):
    """Put a number about every 100 ms for ten seconds."""
    for number in client.every("100ms", "10s", jitter=1.0):
        client.do("put", number, lambda number=number: ask(address, f"PUT {number}") and None)


def reads(client, address):
    """Read all values, once."""
    client.do("read", None, lambda: json.loads(ask(address, "ALL")))


@experiment(topology=TwoHosts, service=start, vary={"faults": ["none"]}, tdf="inf")
def queue(net, server, faults):
    """Does the queue keep what it has acknowledged?"""
    address = net["server"].IP()
    with net.faults(faults, server) as broken:
        recorder = Recorder(broken)
        recorder.client(net["client"], puts, address)
        recorder.wait()
    server.wait()
    recorder.client(net["client"], reads, address)
    recorder.wait()
    return recorder


queue.hunt(
    faults(["client", "server"], KINDS, within="10s", services=["server"]),
    no_lost_writes("put", "read"),
    nothing_invented("put", "read"),
)
