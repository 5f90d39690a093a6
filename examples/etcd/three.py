"""Is etcd linearizable, and how soon does it serve again, whatever breaks? `slownet hunt three.py` looks for what breaks that.

Three members, on a host each; one client writes a register, another one reads it, each at any of the three members. Values go
through etcd's JSON gateway.
"""

import base64
import http.client
import json
from contextlib import contextmanager

from slownet import Command, PrimaryReplicas, Recorder, experiment, faults, linearizable, recovers_within

MEMBERS = ("primary", "replica1", "replica2")
CLIENT = "client"
KEY = base64.b64encode(b"register").decode()


class Member(Command):
    """A member of the cluster, with etcd's own heartbeats of 100 ms and elections after 1 s."""

    def __init__(self, net, name, directory):
        super().__init__(net[name], ["etcd"], directory, port=2379, name="etcd")
        self.all = ",".join(f"{each}=http://{net[each].IP()}:2380" for each in MEMBERS)

    def command(self):
        """Return the command line."""
        peer, client = f"http://{self.host.IP()}:2380", f"http://{self.host.IP()}:2379"
        return [
            "etcd", "--name", self.host.name, "--data-dir", str(self.state / "data"), "--initial-cluster", self.all,
            "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--log-level", "error",
            "--listen-client-urls", f"{client},http://127.0.0.1:2379", "--advertise-client-urls", client,
        ]  # fmt: skip


class Cluster:
    """All members, for `net.faults`."""

    def __init__(self, servers):
        self.servers = servers


@contextmanager
def start(net, directory):
    """Start the members together: none is ready before another one is."""
    members = [Member(net, name, directory) for name in MEMBERS]
    try:
        for each in members:
            each.launch()
        for each in members:
            each.wait()
        yield Cluster(members)
    finally:
        for each in members:
            each.stop()


def ask(address, path, **body):
    """Ask a member, and return its answer; an OSError if it has none within a second."""
    connection = http.client.HTTPConnection(address, 2379, timeout=1)
    try:
        connection.request("POST", f"/v3/kv/{path}", json.dumps({"key": KEY, **body}))
        answer = connection.getresponse()
        if answer.status != 200:
            raise OSError(f"status {answer.status}")
        return json.loads(answer.read())
    finally:
        connection.close()


def put(address, number):
    """Write the register."""
    ask(address, "put", value=base64.b64encode(str(number).encode()).decode())


def get(address):
    """Return the register's number, None at first."""
    found = ask(address, "range").get("kvs")
    return int(base64.b64decode(found[0]["value"])) if found else None


def writes(client, members):
    """Write 0, 1, 2 and so on for 15 s."""
    for number in client.every("200ms", "15s", jitter=0.5):
        address = client.random.choice(members)
        client.do("write", number, lambda: put(address, number), unknown=(http.client.HTTPException,))  # noqa: B023


def reads(client, members):
    """Read for 15 s."""
    for _ in client.every("200ms", "15s", jitter=0.5):
        address = client.random.choice(members)
        client.do("read", None, lambda: get(address), unknown=(http.client.HTTPException,))  # noqa: B023


@experiment(topology=PrimaryReplicas, service=start, vary={"faults": ["none"]}, tdf="inf")
def three(net, cluster, faults):
    """Is etcd linearizable, and does it serve again within 5 s, whatever breaks?"""
    members = [net[name].IP() for name in MEMBERS]
    with net.faults(faults, cluster) as broken:
        recorder = Recorder(broken)
        recorder.client(net[CLIENT], writes, members)
        recorder.client(net[CLIENT], reads, members)
        recorder.wait()
    return recorder


three.hunt(
    faults([*MEMBERS, CLIENT], ["cut", "kill", "pause"], within="10s", services=MEMBERS, step="500ms"),
    linearizable("register"),
    recovers_within("5s"),
)
