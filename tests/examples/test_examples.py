"""Each example as its page says: the commands of its README, in a copy of its folder, with this checkout's commands on PATH."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
PROGRAMS = ("./", "echo", "slownet", "pytest")
PLAIN = Path(__file__).with_name("plain")
MADE = ("shop", "*.jar", "debian.tar*", "runs", "__pycache__")
NO_MIRROR = re.compile("cannot be reached|Unable to connect|Could not resolve|Temporary failure")
LAW = re.compile(r"^law: T\(d\) = .* ms \+ ([\d.]+) d", re.MULTILINE)
PASSED = re.compile(r"^(\d+) passed in", re.MULTILINE)


def commands(page):
    """Return the commands of a page, in order."""
    lines = "\n".join(re.findall(r"```\n(.*?)```", page, re.DOTALL)).splitlines()
    return [line for line in lines if line.startswith(PROGRAMS)]


def copy(name, folder):
    """Copy an example without what its commands made."""
    return shutil.copytree(EXAMPLES / name, folder / name, ignore=shutil.ignore_patterns(*MADE))


def run(line, folder):
    """Run a command of a page and return what it printed."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYTEST_ADDOPTS": "-q -p no:cacheprovider"}
    done = subprocess.run(line, shell=True, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if NO_MIRROR.search(done.stderr):
        pytest.skip(f"Debian's packages cannot be fetched: {done.stderr.splitlines()[-1]}")
    assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
    return done.stdout


def passed(printed):
    return PASSED.search(printed) and "skipped" not in printed


@pytest.mark.parametrize("name", ["node", "java", "go"])
def test_example(name, tmp_path):
    folder = copy(name, tmp_path)
    found = commands((folder / "README.md").read_text())
    assert [line.split()[0] for line in found][-1] == "pytest"
    printed = [run(line, folder) for line in found]
    assert passed(printed[-1]), printed[-1]


def test_pages_in_a_browser(tmp_path):
    folder = copy("browser", tmp_path)
    build, measured = commands((folder / "README.md").read_text())
    run(build, folder)
    run(measured, folder)  # status 0: every claim is supported
    run("slownet run throttled.py --memory 1500", folder)


def test_routing(tmp_path):
    folder = copy("routing", tmp_path)
    build, *measured = commands((folder / "README.md").read_text())
    run(build, folder)
    for line in measured:
        run(line, folder)  # status 0: every claim is supported


def test_etcd(tmp_path):
    folder = copy("etcd", tmp_path)
    for line in ("slownet lab build", "slownet run etcd_put.py", "slownet run etcd_settings.py"):
        run(line, folder)  # status 0: every claim is supported


@pytest.mark.parametrize(("sync", "lost"), [("2m", True), ("always", False)])
def test_nats(tmp_path, sync, lost):
    folder = copy("nats", tmp_path)
    (folder / "crash.toml").write_text('[faults]\n"4s" = "crash server"\n"5s" = "start server"\n')
    run("slownet lab build", folder)
    printed = run(f"{'! ' if lost else ''}slownet hunt replay crash.toml jetstream.py --env SYNC={sync}", folder)
    assert ("acknowledged sends lost" in printed) == lost


def test_pgbouncer(tmp_path):
    folder = copy("pgbouncer", tmp_path)
    for line in ("slownet lab build", "slownet run pooler.py"):
        run(line, folder)


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    """The copied example of the shop, with what its first command printed: its images are kept then."""
    for program in ("buildah", "mmdebstrap"):
        if not shutil.which(program):
            pytest.skip(f"{program} is not installed here")
    folder = copy("shop", tmp_path_factory.mktemp("examples"))
    return folder, run(commands((folder / "README.md").read_text())[0], folder)


def test_the_shop(shop):
    folder, built = shop
    images, *rest = commands((folder / "README.md").read_text())
    assert (images.split()[0], len(rest)) == ("./images.sh", 4)
    assert [line.split()[0] for line in built.splitlines()] == ["added"] * 3
    checkout, measured, check, tests = (run(line, folder) for line in rest)
    assert '{"articles":6,"total":2100}' in checkout
    assert float(LAW.search(measured)[1]) == pytest.approx(8, rel=0.01)
    assert [line.split()[0] for line in check.splitlines() if "expected" in line and "(within" in line] == ["supported"] * 2
    assert passed(tests), tests


def test_the_shop_costs_the_same_without_containers(shop, tmp_path):
    folder = shutil.copytree(shop[0], tmp_path / "plain", ignore=shutil.ignore_patterns(*MADE))
    shutil.copytree(PLAIN, folder, dirs_exist_ok=True)
    run("slownet lab build", folder)
    printed = run("pytest test_plain.py", folder)
    assert passed(printed), printed


@pytest.mark.parametrize("name", ["ssh", "npm"])
def test_programs_far_from_their_servers(name, tmp_path):
    folder = copy(name, tmp_path)
    for line in commands((folder / "README.md").read_text()):
        run(line, folder)  # status 0: every claim is supported
