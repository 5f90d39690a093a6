"""`vagrant up` with the unchanged Vagrantfile, what its first line runs, a user's claims ten times, and the way of results out.

It needs vagrant with a provider that works, and takes half an hour where the machine is emulated; `prepare` makes a Debian 12
machine without KVM such a one. Nothing is skipped: a machine that cannot do it fails.
"""

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
FIRST_LINE = (CHECKOUT / "Vagrantfile").read_text().splitlines()[0]
UP_S, RUN_S = 3 * 3600, 3600
OUTCOMES = re.compile(r"=+ (.*) in [\d.:() ]+s?.*=+$", re.MULTILINE)


def vagrant(*words, limit=RUN_S, check=True):
    done = subprocess.run(["vagrant", *words], cwd=CHECKOUT, capture_output=True, text=True, timeout=limit, check=False)
    assert not check or done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]
    return done


@pytest.fixture(scope="module")
def machine():
    assert shutil.which("vagrant"), "vagrant is not installed: see tests/vagrant/prepare"
    vagrant("destroy", "-f")
    try:
        vagrant("up", "--no-color", limit=UP_S)
        yield lambda command, **options: vagrant("ssh", "-c", command, **options)
    finally:
        vagrant("destroy", "-f", check=False)


def test_what_the_first_line_runs(machine):
    (command,) = re.findall(r"vagrant ssh -c '(.*)'", FIRST_LINE)
    done = machine(command)
    (outcome,) = OUTCOMES.findall(done.stdout)
    assert re.fullmatch(r"\d+ passed", outcome), done.stdout


def test_a_users_claims_are_decided_ten_times_of_ten(machine):
    for _ in range(10):
        done = machine("cd /vagrant && sudo pytest -p no:cacheprovider tests/vagrant/users.py", check=False)
        assert OUTCOMES.findall(done.stdout) == ["1 failed, 2 passed"], done.stdout
        assert "about 100ms, within 5 %: refuted: " in done.stdout


def test_results_come_out(machine, tmp_path):
    done = machine("cd /vagrant && sudo slownet run client_delay --repeat 1", check=False)
    # One repetition shows the way out, and is too few for a verdict: the command says so, and ends with 1.
    assert done.returncode == 1, done.stdout + done.stderr
    assert "1 repetition: too few for a verdict" in done.stdout + done.stderr
    config = tmp_path / "ssh"
    config.write_text(vagrant("ssh-config").stdout)
    ssh = f"ssh -F {shlex.quote(str(config))}"
    command = ["rsync", "-a", "--rsync-path=sudo rsync", "-e", ssh, "default:/vagrant/runs", str(tmp_path)]
    subprocess.run(command, check=True, timeout=RUN_S)
    (report,) = tmp_path.glob("runs/*/report.html")
    assert "client_delay" in report.read_text()


def test_provisioning_again_changes_nothing(machine):
    done = vagrant("provision", "--no-color")
    assert "error" not in done.stdout.lower(), done.stdout
