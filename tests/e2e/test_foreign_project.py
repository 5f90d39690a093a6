"""pytest in a project of somebody else's: an environment of its own with the wheel in it, every warning an error."""

import os
import re
import subprocess

import pytest
from conftest import environment, of_ones_own

from slownet.lab import native

pytestmark = pytest.mark.skipif(not native.lacks(), reason="this machine runs them in place")

FIXTURES = """
import os
from pathlib import Path

import pytest
from slownet import Command, ab, ping

WHERE = {"here": os.environ["HERE"]}


@pytest.fixture(scope="module")
def far(network):
    with network.link("client", "switch").set(rtt="20ms"):
        yield network


@pytest.fixture(scope="module")
def own(network):
    with Command(network["db"], "python3 -m http.server 8000", port=8000) as server:
        yield server


def page(nginx):
    Path(nginx.root, "index.html").write_text("a page")


@pytest.mark.parametrize("time", range(2))
class TestTwice:
    def test_no_network(self, time):
        assert os.uname().nodename == WHERE["here"]

    def test_net(self, net, time):
        with net.link("client", "switch").set(rtt="10ms"):
            assert ping(net["client"], net["web"].IP(), count=2, interval=0.05).rtt_ms.min == pytest.approx(10, abs=1)

    def test_network(self, far, time):
        assert ping(far["client"], far["web"].IP(), count=2, interval=0.05).rtt_ms.min >= 0

    def test_own(self, own, net, time):
        assert ab(net["client"], own.url, requests=5).failed == 0

    def test_nginx(self, nginx, net, time):
        page(nginx)
        assert ab(net["client"], nginx.url, requests=5).failed == 0

    def test_wordpress(self, wordpress, net, time):
        assert ab(net["client"], wordpress.url, requests=5).failed == 0

    def test_mariadb(self, mariadb, time):
        assert mariadb.query("select 6 * 7") == [["42"]]

    def test_measure(self, nginx, net, measure, time):
        page(nginx)
        assert measure(ab, net["client"], nginx.url, requests=5).failed == 0

    def test_it_fails(self, nginx, mariadb, net, measure, time):
        page(nginx)
        assert measure(ab, net["client"], nginx.url, requests=5).failed == 1
"""


@pytest.fixture(scope="module")
def project(installed, tmp_path_factory):
    """A folder with an environment of its own in it."""
    folder = tmp_path_factory.mktemp("foreign")
    environment(installed, folder / "venv")
    return folder


@pytest.fixture
def run(built, project):
    """Runs pytest in the project: run("-q") -> the completed process."""

    def run(*words):
        variables = of_ones_own(project / "venv/bin", HERE=os.uname().nodename)
        command = ["pytest", "-W", "error", "--slownet-tdf=inf", *words]
        return subprocess.run(command, cwd=project, env=variables, capture_output=True, text=True, check=False)

    return run


def test_every_fixture_twice_and_after_a_failure(run, project):
    (project / "test_fixtures.py").write_text(FIXTURES)
    done = run("test_fixtures.py")
    text = done.stdout + done.stderr
    assert re.findall(r"=+ (.*) in [\d.]+s", text) == ["2 passed, 16 deselected", "2 failed, 14 passed, 2 deselected"], text
    assert done.returncode == 1
    assert text.count("assert 0 == 1") == 2


def test_workers(run, project):
    (project / "test_fixtures.py").write_text(FIXTURES)
    done = run("-n2", "test_fixtures.py")
    text = done.stdout + done.stderr
    assert "warning" not in text, text
    assert re.findall(r"=+ (.*) in [\d.]+s", text) == ["2 passed", "2 failed, 14 passed"], text
    assert done.returncode == 1
    assert text.count("test session starts") == 2
