"""Runs the provisioning script of the Vagrant VM in a clean Debian 13."""

import shutil
from pathlib import Path

import pytest

from slownet.lab.build import cache, debian, distribution, image, wheels
from slownet.model.errors import SlownetError

CHECKOUT = Path(__file__).parents[2]
SOURCES = ["lib", "topologies", "experiments", "tests", "docs", "examples", "setup.py", "pyproject.toml", "LICENSE", "LICENSES",
           ".github", ".devcontainer", "REUSE.toml", "Makefile", "Vagrantfile", "CITATION.cff",
           *(path.name for path in CHECKOUT.glob("*.md"))]  # fmt: skip
SERVERS = ["mariadb", "nginx", "memcached", "redis-server", "varnish", "varnishncsa", "openvswitch-switch", "php8.4-fpm"]
# Lists, from outside, the processes with that root: a service that was started would be among them.
LEFT_RUNNING = """for each in /proc/[0-9]*; do
    [ "$(readlink "$each/root")" != "$1" ] || tr '\\0' ' ' <"$each/cmdline"
done >"$1/report/running" """


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """The folder with the report of `inside`."""
    work = tmp_path_factory.mktemp("provision")
    kit = work / "kit"
    (kit / "vagrant").mkdir(parents=True)
    for name in SOURCES:
        path, target = CHECKOUT / name, kit / "vagrant" / name
        if path.is_dir():
            shutil.copytree(path, target, ignore=shutil.ignore_patterns("__pycache__", "_build"))
        else:
            shutil.copy(path, target)
    # As for the image, this machine's pip downloads. To install a checkout, pip also needs its build system.
    (kit / "requirements.txt").write_text("\n".join([*image.requirements(), *image.ON_THE_HOST, "setuptools>=77"]) + "\n")
    argv = [
        "mmdebstrap", "--variant=minbase", "--format=null",
        "--customize-hook=mkdir $1/vagrant $1/wheels", f"--customize-hook=sync-in {kit}/vagrant /vagrant",
        f"--customize-hook=sync-in {kit}/wheels /wheels", '--customize-hook=chroot "$1" /vagrant/tests/provision/inside',
        f"--customize-hook={LEFT_RUNNING}", f"--customize-hook=copy-out /report {work}", distribution.IMAGE.suite, "/dev/null",
    ]  # fmt: skip
    try:
        cache.need_programs(debian.PROGRAMS, "a clean Debian")
        wheels.fetch(kit / "requirements.txt", kit / "wheels", work / "provision.log")
        cache.run(argv, work / "provision.log", "provisioning a clean Debian", cwd=Path("/"), hints=debian.HINTS)
    except SlownetError as error:
        pytest.fail(str(error), pytrace=False)
    return work / "report"


def lines(path):
    return path.read_text().splitlines()


def test_the_second_run_changes_nothing(report):
    first, second = (dict(each.split("\t") for each in lines(report / name)) for name in ("first", "second"))
    changed = {path for path in first.keys() | second.keys() if first.get(path) != second.get(path)}
    assert len(first) > 10_000
    assert changed == set()
    assert lines(report / "second.log") == ["provision: done"]


def test_no_service_was_started_and_none_will_be(report):
    assert (report / "running").read_text() == ""
    states = {words[0]: words[1] for words in map(str.split, lines(report / "units"))}
    assert {name: states[f"{name}.service"] for name in SERVERS} == dict.fromkeys(SERVERS, "disabled")
    assert "/usr/sbin/policy-rc.d" not in (report / "second").read_text()


def test_what_experiments_need_is_there(report):
    paths = {line.split("\t")[0] for line in lines(report / "first")}
    assert {
        "/opt/slownet/venv/bin/python", "/opt/slownet/bin/php-fpm", "/var/lib/slownet/wordpress/www/wp-config.php",
        "/var/lib/slownet/openvswitch/conf.db", "/usr/local/bin/slownet", "/usr/local/bin/pytest",
    } <= paths  # fmt: skip


def test_the_two_commands_work(report):
    assert any(line.split()[:1] == ["client_delay"] for line in lines(report / "experiments"))
    log = (report / "pytest.log").read_text()
    named = [line for line in log.splitlines() if line.startswith(("FAILED", "ERROR"))]
    assert (report / "pytest.status").read_text() == "0\n", "\n".join([*named[:30], log[-1000:]])
