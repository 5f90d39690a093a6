"""What a lab is prepared with for a Mininet program."""

import pytest

from slownet.lab import native
from slownet.net import machine


@pytest.fixture
def root(tmp_path, monkeypatch):
    for name in ("SUDOERS", "SSH_RUN", "SSH_KEY"):
        monkeypatch.setattr(machine, name, tmp_path / name)
    return tmp_path


def test_another_machine_stays_as_it_is(root, monkeypatch):
    monkeypatch.setattr(native, "inside_lab", lambda: False)
    machine.prepare("sshd")
    assert list(root.iterdir()) == []


@pytest.mark.parametrize(
    ("program", "made"), [("import mininet", {"SUDOERS"}), ("h1.cmd('sshd')", {"SUDOERS", "SSH_RUN", "SSH_KEY"})]
)
def test_a_lab_has_a_key_only_for_a_program_that_starts_sshd(root, monkeypatch, program, made):
    monkeypatch.setattr(native, "inside_lab", lambda: True)
    monkeypatch.setattr(machine.subprocess, "run", lambda words, **options: machine.SSH_KEY.write_text(words[-1]))
    machine.prepare(program)
    assert {path.name for path in root.iterdir()} == made
    assert machine.SUDOERS.read_text() == 'Defaults env_keep += "NO_COLOR"\n'
