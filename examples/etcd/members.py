"""etcd's members, one on each of three hosts."""

import json
from contextlib import ExitStack, contextmanager

from slownet import Command, http
from slownet.net.tool import run

MEMBERS = ("primary", "replica1", "replica2")
PATIENCE_S = 20


class Member(Command):
    """A member of the cluster, whose data are in memory: fdatasync takes no time."""

    def __init__(self, net, name, directory, options=()):
        super().__init__(
            net[name], ["etcd", *options], directory, port=2379, ready=http("/health"), name="etcd", timeout=PATIENCE_S
        )
        self.all = ",".join(f"{each}=http://{net[each].IP()}:2380" for each in MEMBERS)

    def command(self):
        """Return the command line."""
        peer, client = f"http://{self.host.IP()}:2380", f"http://{self.host.IP()}:2379"
        return [
            *self.argv, "--name", self.host.name, "--data-dir", str(self.state / "data"), "--initial-cluster", self.all,
            "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--log-level", "error",
            "--listen-client-urls", f"{client},http://127.0.0.1:2379", "--advertise-client-urls", client,
        ]  # fmt: skip

    def ask(self, path, body, times=1):
        """Ask it on its own host, so often on one connection; return the last answer, and the times in ms."""
        urls = [f"http://127.0.0.1:2379/v3/{path}"] * times
        done = run(self.host, ["curl", "-sS", "--fail", "-d", body, "-w", "\n%{time_total}\n", *urls])
        lines = [line for line in done.stdout.splitlines() if line]
        return json.loads(lines[-2]), [1000 * float(line) for line in lines[1::2]]

    def leads(self):
        """Return whether it is the leader."""
        status, _ = self.ask("maintenance/status", "{}")
        return status["leader"] == status["header"]["member_id"]


@contextmanager
def start(net, directory, options=()):
    """Start the members together, with more options of etcd: none is ready before they have a leader."""
    members = [Member(net, name, directory, options) for name in MEMBERS]
    with ExitStack() as stack:
        for each in members:
            stack.callback(each.stop)
            each.launch()
        for each in members:
            each.wait()
        yield members


@contextmanager
def apart(net, ms):
    """Set the round trip between any two members for a ``with`` block: each link adds half of it."""
    with ExitStack() as stack:
        for name in MEMBERS:
            stack.enter_context(net.link(name, "switch").set(rtt=f"{float(ms) / 2:g}ms"))
        yield
