"""The package as users see it: imported from a wheel and in a lab, and checked by a type checker."""

import re
import subprocess
import sys
import sysconfig

import pytest

SITE = sysconfig.get_path("purelib")
SEEN = """
import importlib.util, sys, slownet, slownet.experiments, slownet.topologies
from slownet import ClientWebDb, experiment, law
print(*slownet.__path__, slownet.topologies.__path__[0], slownet.experiments.__path__[0], slownet._Rooms in sys.meta_path)
print(*(name for name in ("setup", "tests", "lib", "build") if importlib.util.find_spec(f"slownet.{name}")))
print(ClientWebDb.__name__, callable(experiment), callable(law))
"""


def test_the_wheel_has_its_rooms_inside(installed):
    words = [sys.executable, "-S", "-c", SEEN]
    done = subprocess.run(words, env={"PYTHONPATH": f"{installed}:{SITE}"}, capture_output=True, text=True, check=True)
    package = installed / "slownet"
    assert done.stdout.splitlines() == [
        f"{package} {package}/topologies {package}/experiments False",
        "",
        "ClientWebDb True True",
    ]
    assert (package / "py.typed").is_file()


def test_in_a_lab_they_are_the_checkouts(execute):
    from slownet.lab.run.place import checkout
    from slownet.model.importing import PACKAGE

    done = execute("python", "-c", SEEN, options=["--tdf", "inf"])
    home = checkout()
    assert done.stdout.decode().splitlines() == [
        f"{PACKAGE} {home}/topologies {home}/experiments True",
        "",
        "ClientWebDb True True",
    ], done.stderr.decode()


EXPERIMENT = '''
from pathlib import Path
from typing import Any

from slownet import Ab, Hosts, Network, Nginx, Topology, ab, experiment, law


class Shop(Topology):
    """A reader and a shop on one switch."""

    def build(self, n: int = 1) -> None:
        switch = self.addSwitch("switch", failMode="standalone")
        for name in ("reader", "shop"):
            self.addLink(self.addHost(name), switch)


class Site(Nginx):
    def __init__(self, net: Hosts, directory: str | Path) -> None:
        super().__init__(net["shop"], directory, root="/srv")


@experiment(topology=Shop, service=Site, vary={"rtt": ["0ms", "10ms"]})
def pages(net: Network, site: Site, rtt: str) -> Ab:
    """How much slower is a page?"""
    with net.link("reader", "switch").set(rtt=rtt):
        return ab(net["reader"], site.url, requests=10)


@experiment(topology="two_hosts", cells=[{"loss": "0%"}, {"loss": "1%"}])
def alone(net: Network, **condition: Any) -> Ab:
    """How much slower is it without a service?"""
    with net.link("client", "server").set(**condition):
        return ab(net["client"], "http://10.0.0.2/")


pages.claims(law("time_per_request_ms", round_trips=4, within=0.05))
'''

TESTS = """
from collections.abc import Iterator

import pytest

from slownet import ClientWebDb, MariaDB, Measure, Network, Nginx, Node, Star, WordPress, ab, ping, slowed

pytestmark = pytest.mark.topology(ClientWebDb)


@pytest.fixture
def far(net: Network) -> Iterator[Node]:
    with net.link("client", "switch").set("LTE", loss="1%"):
        yield net["client"]


@pytest.mark.clock("real")
@pytest.mark.topology(Star, n=5)
def test_a_page(net: Network, wordpress: WordPress, mariadb: MariaDB, nginx: Nginx, measure: Measure) -> None:
    near = measure(ab, net["client"], wordpress.url, requests=5)
    away = ab(net["client"], nginx.url)
    assert away.time_per_request == slowed(near.time_per_request, round_trips=4, rtt="10ms", within=0.05)
    assert near.failed == 0
    assert measure(ping, net.hosts[0], net["web"].IP(), count=3).received == 3
    mariadb.stop()


def test_a_reader(far: Node) -> None:
    assert "lo" in far.cmd("ip address")
    assert far.popen(["true"]).wait() == 0
"""

WRONG = """
from slownet import Ab, ClientWebDb, MariaDB, Measure, Network, Nginx, WordPress, ab, experiment, law, ping

number: int = law  # assignment


def wrong(net: Network, site: WordPress, nginx: Nginx, measure: Measure) -> None:
    net.lnik("client", "switch")  # attr-defined
    net["client"].IPP()  # attr-defined
    net.link("client", "switch").set(ping="no")  # arg-type
    ab(net["client"])  # call-arg
    ab("client", "http://10.0.0.2/")  # arg-type
    measure(ab, net["client"])  # call-arg
    measure(ping, net["client"], "10.0.0.2", count="3")  # arg-type
    site.ulr  # attr-defined
    nginx.start(3)  # call-arg


@experiment(topology=ClientWebDb, service=WordPress, vary={"rtt": ["0ms"]})  # arg-type
def other_service(net: Network, site: MariaDB, rtt: str) -> Ab:
    return ab(net["client"], site.log.name)


@experiment(topology=ClientWebDb, vary={"rtt": ["0ms"]})  # arg-type
def no_record(net: Network, rtt: str) -> str:
    return rtt


@experiment(topology=int, vary={"rtt": ["0ms"]})  # arg-type
def no_topology(net: Network, rtt: str) -> Ab:
    return ab(net["client"], "http://10.0.0.2/")
"""


@pytest.fixture(scope="module")
def checked(installed, tmp_path_factory):
    """Run `mypy --strict` on a user's project with the installed package: checked(name=text) -> its output lines."""
    folder = tmp_path_factory.mktemp("project")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    (site,) = folder.glob("venv/lib/python*/site-packages")
    (site / "here.pth").write_text(f"{installed}\n{SITE}\n")

    def check(**files):
        for name, text in files.items():
            (folder / f"{name}.py").write_text(text)
        options = ["--strict", "--no-error-summary", "--python-executable", folder / "venv/bin/python"]
        words = [sys.executable, "-m", "mypy", *options, *(f"{name}.py" for name in files)]
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
        assert not done.stderr
        return done.stdout.splitlines()

    return check


def test_a_users_project_is_clean(checked):
    assert checked(experiment_of_mine=EXPERIMENT, test_mine=TESTS) == []


def test_a_users_mistakes_are_found(checked):
    marked = {(number, line.rpartition("# ")[2]) for number, line in enumerate(WRONG.splitlines(), 1) if "  # " in line}
    lines = checked(wrong=WRONG)
    found = [re.fullmatch(r"wrong\.py:(\d+): error: .* \[([\w-]+)\]", each) for each in lines if ": error: " in each]
    assert {(int(each[1]), each[2]) for each in found} == marked, "\n".join(lines)
