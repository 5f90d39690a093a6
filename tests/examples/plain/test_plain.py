"""The shop's law is the same for its containers and for the same programs started plainly, from Debian's packages."""

import shutil
import subprocess
from contextlib import ExitStack
from pathlib import Path

import pytest
from mininet.link import TCLink
from mininet.topo import Topo

from slownet import Command, ab, http

HERE = Path(__file__).parent
URL = "http://web:8000/checkout?batched="
RTT_MS = 20
PROGRAMS = "/usr/lib/postgresql/17/bin"
ACCESS = "local all postgres trust\nhost shop shop all trust\n"
ROUND_TRIPS = {("client", 0): 2, ("client", 1): 2, ("cache", 0): 1, ("cache", 1): 1, ("db", 0): 8, ("db", 1): 3}
"""Of a checkout to a host, naive (0) and batched (1)."""
found = {}
"""The same as the containers have them."""

pytestmark = pytest.mark.tdf("inf")


class Shop(Topo):
    def build(self):
        switch = self.addSwitch("switch", dpid="1", failMode="standalone")
        for name in ("client", "db", "cache", "web"):
            self.addLink(self.addHost(name), switch, cls=TCLink)


def round_trips(net):
    """Return k of a checkout towards each host, naive and batched."""
    k = {}
    for batched in (0, 1):
        for host in ("client", "cache", "db"):
            near = ab(net["client"], f"{URL}{batched}", requests=20)
            with net.link(host, "switch").set(rtt=f"{RTT_MS}ms"):
                far = ab(net["client"], f"{URL}{batched}", requests=20)
            k[host, batched] = (far.time_per_request_ms - near.time_per_request_ms) / RTT_MS
    return k


@pytest.fixture
def database(net, tmp_path_factory):
    """PostgreSQL on `db`, with a new cluster that holds the stock."""
    folder = tmp_path_factory.mktemp("database")
    for each in (folder, *folder.parents[:2]):
        each.chmod(0o755)  # pytest's own folders are readable by their owner only
    shutil.chown(folder, "postgres", "postgres")
    as_postgres = ["runuser", "-u", "postgres", "--"]
    subprocess.run([*as_postgres, f"{PROGRAMS}/initdb", "-D", folder / "main"], check=True, capture_output=True, cwd="/")
    (folder / "access").write_text(ACCESS)
    settings = {"hba_file": folder / "access", "listen_addresses": "*", "fsync": "off", "unix_socket_directories": folder}
    words = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
    with Command(net["db"], [*as_postgres, f"{PROGRAMS}/postgres", "-D", folder / "main", *words], port=5432, cwd="/"):
        load = [*as_postgres, "psql", "--quiet", f"--host={folder}"]
        subprocess.run(load, input=(HERE / "db" / "stock.sql").read_bytes(), check=True, cwd="/")
        yield


def test_containers(compose, net):
    found["containers"] = round_trips(net)


@pytest.mark.topology(Shop)
def test_plain_programs(net, database):
    redis = ["redis-server", "--save", "", "--protected-mode", "no", "--bind", "0.0.0.0"]
    with ExitStack() as stack:
        stack.enter_context(Command(net["cache"], redis, port=6379, cwd="/tmp"))
        net["client"].cmd("redis-cli -h cache RPUSH cart 1 2 3 4 5 6")
        gunicorn = ["gunicorn", "--bind", "0.0.0.0:8000", "shop:app"]
        stack.enter_context(Command(net["web"], gunicorn, port=8000, ready=http("/health"), cwd=HERE / "web"))
        plain = round_trips(net)
    assert plain == pytest.approx(found["containers"], rel=0.01)
    assert plain == pytest.approx(ROUND_TRIPS, rel=0.01)
