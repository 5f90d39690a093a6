"""What a lab is prepared with for a Mininet program."""

import subprocess

import pytest

from slownet.lab.host import native
from slownet.net import machine

ALWAYS = {"SUDOERS", "CONTROLLER", "KERNEL_CONFIG"}


@pytest.fixture
def root(tmp_path, monkeypatch):
    for name in ("SUDOERS", "SSH_RUN", "SSH_KEY", "CONTROLLER", "KERNEL_CONFIG"):
        monkeypatch.setattr(machine, name, tmp_path / name)
    monkeypatch.setattr(machine.shutil, "which", {"ovs-testcontroller": "/usr/bin/ovs-testcontroller"}.get)
    return tmp_path


def test_another_machine_stays_as_it_is(root, monkeypatch):
    monkeypatch.setattr(native, "inside_lab", lambda: False)
    machine.prepare("sshd")
    assert list(root.iterdir()) == []


@pytest.mark.parametrize(("program", "made"), [("import mininet", ALWAYS), ("h1.cmd('sshd')", {*ALWAYS, "SSH_RUN", "SSH_KEY"})])
def test_a_lab_has_a_key_only_for_a_program_that_starts_sshd(root, monkeypatch, program, made):
    monkeypatch.setattr(native, "inside_lab", lambda: True)
    monkeypatch.setattr(machine.subprocess, "run", lambda words, **options: machine.SSH_KEY.write_text(words[-1]))
    machine.prepare(program)
    assert {path.name for path in root.iterdir()} == made
    assert machine.SUDOERS.read_text() == 'Defaults env_keep += "NO_COLOR"\n'


def test_a_program_that_runs_ovs_vsctl_itself_finds_its_daemons_running(root, monkeypatch):
    started = []
    monkeypatch.setattr(native, "inside_lab", lambda: True)
    monkeypatch.setattr(machine.openvswitch, "ensure", lambda may_start: started.append(may_start))
    machine.prepare("from mininet.node import OVSSwitch")
    assert started == []
    machine.prepare("switch.cmd('ovs-vsctl add-br dp0')")
    assert started == [True]


@pytest.mark.parametrize(
    ("given", "passed"), [("-v ptcp:", "-v ptcp:6633"), ("ptcp:6653 -v", "ptcp:6653 -v"), ("", "")], ids=repr
)
def test_the_reference_controller_has_its_own_port(root, monkeypatch, given, passed):
    monkeypatch.setattr(native, "inside_lab", lambda: True)
    machine.prepare()
    program = root / "ovs-testcontroller"
    program.write_text('#!/bin/sh\necho "$@"\n')
    program.chmod(0o755)
    env = {"PATH": f"{root}:/usr/bin:/bin"}
    done = subprocess.run([machine.CONTROLLER, *given.split()], env=env, capture_output=True, text=True, check=True)
    assert done.stdout == f"{passed}\n"
