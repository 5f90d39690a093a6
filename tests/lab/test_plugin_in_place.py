"""The plugin where the kernel is able: it runs in place, as under sudo in a VM."""

import logging
import os
import subprocess
import sys

import pytest

from slownet.lab.host import native

TEST = """
import os

import pytest

from slownet.tools.ping import ping


@pytest.mark.topology("two_hosts")
@pytest.mark.parametrize("number", range(2))
def test_it(net, number):
    with net.link("client", "server").set(rtt="10ms"):
        least = ping(net["client"], net["server"].IP(), count=20, interval=0.05).rtt_ms.min
        assert 10 <= least < 18  # twice the delay would be 20, and an emulated machine adds some
    with open("boots", "a") as file:
        file.write(open("/proc/sys/kernel/random/boot_id").read())


def test_other():
    pass
"""


@pytest.mark.parametrize("more", [[], ["-n2"]], ids=" ".join)
def test_it_runs_in_place(tmp_path, more):
    (tmp_path / "test_it.py").write_text(TEST)
    environment = {name: value for name, value in os.environ.items() if name != native.INSIDE}
    words = [sys.executable, "-m", "pytest", "-p", "slownet.pytest_plugin", "--junitxml=junit.xml", *more]
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 passed" in done.stdout
    with open("/proc/sys/kernel/random/boot_id") as own:
        assert set((tmp_path / "boots").read_text().split()) == {own.read().strip()}
    assert 'name="slownet_clock" value="real"' in (tmp_path / "junit.xml").read_text()


def test_loggers_made_after_mininets_import_are_pythons_own(caplog):
    log = logging.getLogger("a.program.under.test")
    with caplog.at_level(logging.INFO):
        log.info("kept")
    assert type(log) is logging.Logger
    assert "kept" in caplog.text
