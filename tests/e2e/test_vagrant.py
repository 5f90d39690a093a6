"""Checks the Vagrantfile as far as possible without a virtual machine."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
NO_PROVIDER = "No usable default provider"


def judge(folder):
    """Run `vagrant validate`; without VirtualBox and libvirt it ignores the providers' settings."""
    words = ["vagrant", "validate"]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    if NO_PROVIDER in done.stdout + done.stderr:
        words.append("--ignore-provider")
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    return done


@pytest.fixture
def vagrant(monkeypatch, tmp_path):
    if not shutil.which("vagrant"):
        pytest.skip("vagrant is not installed")
    monkeypatch.setenv("VAGRANT_CWD", str(tmp_path))
    monkeypatch.setenv("VAGRANT_HOME", str(tmp_path / "home"))
    shutil.copy(CHECKOUT / "Vagrantfile", tmp_path)
    return tmp_path


def test_vagrant_takes_it(vagrant):
    done = judge(vagrant)
    assert done.returncode == 0, done.stdout + done.stderr


def test_vagrant_refuses_a_setting_that_it_does_not_know(vagrant):
    file = vagrant / "Vagrantfile"
    file.write_text(file.read_text().replace("config.vm.box =", "config.vm.bxo ="))
    assert judge(vagrant).returncode == 1


def test_it_is_ruby():
    if not shutil.which("ruby"):
        pytest.skip("ruby is not installed")
    subprocess.run(["ruby", "-wc", CHECKOUT / "Vagrantfile"], check=True, capture_output=True)


def test_it_provisions_with_a_script_of_the_checkout():
    (path,) = re.findall(r'provision "shell", inline: "/vagrant/(.*)"', (CHECKOUT / "Vagrantfile").read_text())
    assert (CHECKOUT / path).stat().st_mode & 0o111


def test_its_first_line_runs_tests_of_links():
    (command,) = re.findall(r"vagrant ssh -c '(.*)'", (CHECKOUT / "Vagrantfile").read_text().splitlines()[0])
    paths = [word for word in command.split() if word.startswith("tests/")]
    assert paths
    assert all((CHECKOUT / path).is_file() for path in paths)
    assert command in (CHECKOUT / "docs/howto/native.md").read_text()
