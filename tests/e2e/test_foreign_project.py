"""pytest in a project of somebody else's: an environment of its own with the wheel in it, every warning an error."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from conftest import LIGHT, environment, of_ones_own

from slownet.lab.host import native

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
        command = ["pytest", *LIGHT, "-W", "error", "--slownet-tdf=inf", *words]
        return subprocess.run(command, cwd=project, env=variables, capture_output=True, text=True, check=False)

    return run


def test_every_fixture_twice_and_after_a_failure(run, project):
    (project / "test_fixtures.py").write_text(FIXTURES)
    done = run("test_fixtures.py")
    text = done.stdout + done.stderr
    assert re.findall(r"=+ (.*) in [\d.]+s", text) == ["2 failed, 16 passed"], text
    assert done.returncode == 1
    assert text.count("assert 0 == 1") == 2


# Of workers, test_pytest_writes.py and test_pytest_plugin.py have files, coverage and reports.
@pytest.mark.long
def test_workers(run, project):
    (project / "test_fixtures.py").write_text(FIXTURES)
    done = run("-n2", "test_fixtures.py")
    text = done.stdout + done.stderr
    assert "warning" not in text, text
    assert re.findall(r"=+ (.*) in [\d.]+s", text) == ["2 failed, 16 passed"], text
    assert done.returncode == 1
    assert text.count("test session starts") == 2


LIMITS = """
def test_here_fails():
    raise AssertionError


def test_net_passes(net): pass


def test_net_fails(net):
    raise AssertionError


def test_net_never(net): pass
"""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--maxfail=2"], "2 failed, 1 passed"), (["-x"], "1 failed"), (["-x", "-knet"], "1 failed, 1 passed, 1 deselected"),
    ],
)  # fmt: skip
def test_a_limit_of_failures_counts_those_of_the_lab_too(run, project, words, said):
    (project / "test_limits.py").write_text(LIMITS)
    done = run("test_limits.py", *words)
    assert re.findall(r"=+ (.*) in [\d.]+s", done.stdout) == [said], done.stdout + done.stderr
    assert done.returncode == 1


COVERED = "def here():\n    return 1\n\n\ndef there():\n    return 2\n"
COVERS = "import covered\n\n\ndef test_here():\n    covered.here()\n\n\ndef test_there(net):\n    covered.there()\n"


def test_the_least_coverage_counts_that_of_the_lab(run, project):
    (project / "covered.py").write_text(COVERED)
    (project / "test_covers.py").write_text(COVERS)
    words = ["test_covers.py", "--cov=covered", "--cov-fail-under=100"]
    whole, there = run(*words), run(*words, "-k", "there")
    assert (whole.returncode, there.returncode) == (0, 1), whole.stdout + whole.stderr + there.stdout
    assert re.search(r"Required test coverage of 100(\.0)?% reached", whole.stdout)
    assert whole.stdout.count("TOTAL") == 1
    assert re.search(r"FAIL Required test coverage of 100(\.0)?% not reached. Total coverage: 75.00%", there.stdout)


ERRORS = """
import pytest
from slownet import Command


@pytest.mark.parametrize("time", range(2))
@pytest.mark.parametrize("folder", [True, False])
def test_log(net, tmp_path, folder, time):
    with Command(net["web"], "sh -c 'echo the reason; exit 3'", *([tmp_path] if folder else []), port=8000):
        pass


@pytest.mark.parametrize("time", range(2))
def test_error(net, time):
    net.link("client", "nowhere").set(rtt="10ms")


@pytest.mark.tdf("fast")
def test_marker(net):
    pass


def test_other(net):
    pass
"""


def test_errors_show_the_callers_line_and_their_log_is_where_they_say(run, project):
    (project / "test_errors.py").write_text(ERRORS)
    done = run("test_errors.py", "-k", "not True")
    text = done.stdout + done.stderr
    assert re.findall(r"=+ (.*) in [\d.]+s", done.stdout) == ["4 failed, 1 passed, 2 deselected, 1 error"], text
    for log in re.findall(r"its log is (\S+\.log)", done.stdout.split("short test summary")[0]):
        assert "the reason" in Path(log).read_text()
    assert len(set(re.findall(r"its log is (\S+\.log)", done.stdout))) >= 1
    assert "site-packages/slownet/" not in text
    shown = [line for line in text.splitlines() if line.startswith(">")]
    assert len([line for line in shown if 'net.link("client", "nowhere")' in line]) == 2
    assert len(shown) == 4  # one line of each failure: the caller's
    assert "test_marker: write a whole number" in text
    assert " --tdf" not in text
    assert "invalid time dilation factor 'slow', --slownet-tdf: " in run("test_errors.py", "--slownet-tdf=slow").stderr


PACKAGE = """
[project]
name = "{name}"
version = "1"

[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"
"""
USES = """
import sys

import {name}
from slownet import Command, ab


def test_here():
    assert {name}.PORT == 8000


def test_there(net, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for number, python in enumerate(("python3", sys.executable)):
        port = {name}.PORT + number
        with Command(net["web"], [python, "-m", "{name}.serve", str(port)], port=port) as server:
            assert ab(net["client"], server.url, requests=5).failed == 0
"""


@pytest.mark.parametrize("layout", ["flat", "src", "copied"])
def test_a_package_installed_from_here_is_imported_by_tests_and_by_the_programs_that_they_start(run, project, layout):
    name, folder = f"{layout}_shop", project / layout
    code = folder / ("" if layout == "flat" else "src") / name
    (folder / "tests").mkdir(parents=True)
    code.mkdir(parents=True)
    (code / "__init__.py").write_text("PORT = 8000\n")
    (code / "serve.py").write_text("import runpy\n\nrunpy.run_module('http.server', run_name='__main__')\n")
    (folder / "pyproject.toml").write_text(PACKAGE.format(name=name))
    (folder / "tests/test_uses.py").write_text(USES.format(name=name))
    install = ["pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-build-isolation"]
    install += [f"./{layout}"] if layout == "copied" else ["-e", layout]
    subprocess.run(install, cwd=project, env=of_ones_own(project / "venv/bin"), check=True)
    done = run("--import-mode=importlib", f"{layout}/tests")
    assert re.findall(r"=+ (.*) in [\d.]+s", done.stdout) == ["2 passed"], done.stdout + done.stderr
