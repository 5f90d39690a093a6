"""Does NATS JetStream keep what it has acknowledged? `slownet hunt jetstream.py` finds when it does not.

A server keeps a stream in files on a disk of its own. A client sends numbers, each on a subject of its own, and counts one
as sent when JetStream acknowledges it. SYNC is the server's sync_interval, how often it calls fsync: "2m" is its default,
"always" is before each acknowledgement.
"""

import json
import os
import socket
from contextlib import contextmanager

from slownet import Command, Recorder, TwoHosts, experiment, faults, no_lost_writes, nothing_invented

SYNC = os.environ.get("SYNC", "2m")
PORT = 4222
STREAM = {"name": "NUMBERS", "subjects": ["numbers.*"], "storage": "file"}


class RefusedError(Exception):
    """JetStream answers with an error: nothing was done."""


class Nats(Command):
    """The server; its stream is in its private directory."""

    def __init__(self, host, directory):
        super().__init__(host, ["nats-server"], directory, port=PORT, name="nats")

    def prepare(self):
        """Write the configuration."""
        super().prepare()
        text = f"port: {PORT}\njetstream {{ store_dir: '{self.state}', sync_interval: {SYNC} }}\n"
        (self.state / "nats.conf").write_text(text)

    def command(self):
        """Return the command line."""
        return ["nats-server", "--config", str(self.state / "nats.conf")]


@contextmanager
def start(net, directory):
    """Start the server with an empty stream, which has been on its disk for long."""
    with Nats(net["server"], directory).on_disk("64MB") as server:
        recorder = Recorder()
        recorder.client(net["client"], lambda client: ask(net["server"].IP(), "$JS.API.STREAM.CREATE.NUMBERS", STREAM))
        recorder.wait()
        server.disk.sync()
        yield server


def ask(address, subject, body):
    """Send a request over a connection of its own; return the answer. Raises OSError, also after a second, or RefusedError."""
    text = json.dumps(body)
    with socket.create_connection((address, PORT), timeout=1) as connection, connection.makefile("rwb") as file:
        file.write(f"CONNECT {{}}\r\nSUB answer 1\r\nPUB {subject} answer {len(text)}\r\n{text}\r\n".encode())
        file.flush()
        while line := file.readline():
            if line.startswith(b"MSG"):
                answer = json.loads(file.read(int(line.split()[-1])))
                if "error" in answer:
                    raise RefusedError(answer["error"]["description"])
                return answer
        raise ConnectionResetError("the connection ended without an answer")


def sends(client, address):
    """Send a number about every 100 ms for 12 s."""
    for number in client.every("100ms", "12s", jitter=1.0):
        client.do("send", number, lambda number=number: ask(address, f"numbers.{number}", number) and None)


def reads(client, address):
    """Read which numbers the stream has, once the server answers."""

    def whole():
        found = ask(address, "$JS.API.STREAM.INFO.NUMBERS", {"subjects_filter": ">"})
        return sorted(int(subject.split(".")[1]) for subject in found["state"].get("subjects") or {})

    for _ in client.every("500ms", "60s"):
        if client.do("read", None, whole, failed=(RefusedError,)) is not None:
            return


@experiment(topology=TwoHosts, service=start, vary={"faults": ["none"]}, tdf="inf")
def jetstream(net, server, faults):
    """Does NATS JetStream keep what it has acknowledged?"""
    address = net["server"].IP()
    with net.faults(faults, server) as broken:
        recorder = Recorder(broken)
        recorder.client(net["client"], sends, address)
        recorder.wait()
    recorder.client(net["client"], reads, address)
    recorder.wait()
    return recorder


jetstream.hunt(
    faults(["client", "server"], ["kill", "pause", "cut", "crash"], within="10s", step="500ms", services=["server"]),
    no_lost_writes("send", "read"),
    nothing_invented("send", "read"),
)
