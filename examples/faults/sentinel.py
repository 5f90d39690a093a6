"""Does Redis keep what it has acknowledged while Sentinel moves the primary? `slownet hunt sentinel.py` finds when it does not.

Three hosts have a Redis and a Sentinel each. The client asks the Sentinels where the primary is, as client libraries do, and
adds numbers to a set there. APPENDONLY=no makes it a Redis that keeps nothing on disk; with WAIT=1 a number counts as added
only when a replica has it, too.
"""

import os
import socket
from contextlib import ExitStack, contextmanager

from slownet import Command, PrimaryReplicas, Recorder, Redis, experiment, faults, no_lost_writes, recovers_within

DATA = ("primary", "replica1", "replica2")
CLIENT = "client"
APPENDONLY = os.environ.get("APPENDONLY", "yes")
WAIT = os.environ.get("WAIT", "0")
SENTINEL = 26379


class RefusedError(Exception):
    """Redis answers with an error: nothing was done."""


class Sentinel(Command):
    """A Sentinel that watches the primary on the first host; two of three must agree that it is gone."""

    def __init__(self, host, directory, primary):
        super().__init__(host, ["redis-server"], directory, port=SENTINEL, name="sentinel")
        self.primary = primary

    def prepare(self):
        """Write the configuration, which Sentinel itself goes on writing."""
        super().prepare()
        (self.state / "sentinel.conf").write_text(
            f"port {SENTINEL}\nbind 0.0.0.0\nprotected-mode no\ndir {self.state}\n"
            f"sentinel announce-ip {self.host.IP()}\n"
            f"sentinel monitor set {self.primary} 6379 2\n"
            "sentinel down-after-milliseconds set 1000\nsentinel failover-timeout set 3000\n"
        )

    def command(self):
        """Return the command line."""
        return ["redis-server", str(self.state / "sentinel.conf"), "--sentinel"]


class Servers:
    """All six, for `net.faults`."""

    def __init__(self, servers):
        self.servers = servers


@contextmanager
def start(net, directory):
    """Start the primary, its replicas and the Sentinels, and wait until they know each other."""
    primary = net[DATA[0]].IP()
    with ExitStack() as stack:
        servers = []
        for name in DATA:
            more = [] if name == DATA[0] else ["--replicaof", primary, "6379"]
            options = [
                "--appendonly",
                APPENDONLY,
                "--replica-announce-ip",
                net[name].IP(),
                "--repl-diskless-sync-delay",
                "0",
                *more,
            ]
            servers.append(stack.enter_context(Redis(net[name], directory, options=options)))
        watching = [stack.enter_context(Sentinel(net[name], directory, primary)) for name in DATA]
        recorder = Recorder()
        for name in DATA:
            recorder.client(net[CLIENT], until_known, net[name].IP())
        recorder.wait()
        yield Servers([*servers, *watching])


def until_known(client, sentinel):
    """Wait until a Sentinel knows two replicas and two other Sentinels."""
    for _ in client.every("100ms", "60s"):
        found = ask(sentinel, SENTINEL, "SENTINEL", "MASTER", "set")
        known = dict(zip(found[::2], found[1::2], strict=True))
        if known["num-slaves"] == "2" and known["num-other-sentinels"] == "2":
            return
    raise TimeoutError("the Sentinels do not find each other")


def ask(address, port, *words):
    """Send a command to Redis over a connection of its own; return the answer. Raises OSError, RefusedError."""
    with socket.create_connection((address, port), timeout=0.5) as connection, connection.makefile("rb") as file:
        text = f"*{len(words)}\r\n" + "".join(f"${len(word)}\r\n{word}\r\n" for word in words)
        connection.sendall(text.encode())
        return answer(file)


def answer(file):
    """Read an answer in Redis's protocol."""
    line = file.readline().decode().rstrip("\r\n")
    kind, rest = line[:1], line[1:]
    if kind == "-":
        raise RefusedError(rest)
    if kind == "$":
        return None if rest == "-1" else file.read(int(rest) + 2)[:-2].decode()
    if kind == "*":
        return [answer(file) for _ in range(int(rest))]
    if not kind:
        raise ConnectionResetError("the connection ended without an answer")
    return int(rest) if kind == ":" else rest


def found(sentinels):
    """Return the primary's address, from the first Sentinel that answers. Raises OSError."""
    error = OSError("there is no Sentinel")
    for each in sentinels:
        try:
            return ask(each, SENTINEL, "SENTINEL", "GET-MASTER-ADDR-BY-NAME", "set")[0]
        except OSError as failed:
            error = failed
    raise error


def adds(client, sentinels):
    """Add a number about every 200 ms for 15 s."""
    for number in client.every("200ms", "15s", jitter=0.5):
        client.do("add", number, lambda number=number: add(found(sentinels), number), failed=(RefusedError,))


def add(address, number):
    """Add a number. Raises TimeoutError if it is to wait for a replica, and none has it within 300 ms."""
    with socket.create_connection((address, 6379), timeout=0.5) as connection, connection.makefile("rb") as file:
        connection.sendall(f"SADD numbers {number}\r\nWAIT {WAIT} 300\r\n".encode())
        answer(file)
        if answer(file) < int(WAIT):
            raise TimeoutError("no replica has it yet")


def reads(client, sentinels):
    """Read all numbers, once the primary answers."""
    for _ in client.every("500ms", "60s"):
        whole = lambda: sorted(map(int, ask(found(sentinels), 6379, "SMEMBERS", "numbers")))  # noqa: E731
        if client.do("read", None, whole, failed=(RefusedError,)) is not None:
            return


@experiment(topology=PrimaryReplicas, service=start, vary={"faults": ["none"]}, tdf="inf")
def sentinel(net, servers, faults):
    """Does Redis keep what it has acknowledged while Sentinel moves the primary?"""
    sentinels = [net[name].IP() for name in DATA]
    with net.faults(faults, servers) as broken:
        recorder = Recorder(broken)
        recorder.client(net[CLIENT], adds, sentinels)
        recorder.wait()
        recorder.client(net[CLIENT], settle)
        recorder.wait()
    recorder.client(net[CLIENT], reads, sentinels)
    recorder.wait()
    return recorder


def settle(client):
    """Let the Sentinels finish what they do: a primary that is back becomes a replica within some seconds."""
    for _ in client.every("1s", "30s"):
        pass


sentinel.hunt(
    faults([*DATA, CLIENT], ["cut", "kill", "pause"], within="10s", services=[f"redis-{name}" for name in DATA], step="500ms"),
    no_lost_writes("add", "read"),
    recovers_within("10s"),
)
