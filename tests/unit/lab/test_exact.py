"""An exact lab before it boots: the machine's arguments, what its command may have, and what is missing."""

import contextlib
import os
from pathlib import Path

import pytest

from slownet.lab.build.kernel_package import Kernel
from slownet.lab.exact import emulator, exact
from slownet.lab.run.clock import Clock
from slownet.lab.run.lab import Share
from slownet.model.errors import LabError


@pytest.fixture
def lab(tmp_path):
    for name in ("vmlinuz", "modules", "init", "image"):
        (tmp_path / name).write_bytes(b"x")
    return exact.ExactLab(
        kernel=Kernel(tmp_path / "vmlinuz", tmp_path / "modules", "6.12", "linux-image"), init=tmp_path / "init",
        confine=tmp_path / "confine", image=tmp_path / "image", shares=[Share(tmp_path)],
    )  # fmt: skip


@pytest.fixture
def machine(lab):
    with contextlib.ExitStack() as files:
        file = files.enter_context(lab.image.open("rb"))

        def made(**other: object) -> emulator.Machine:
            given = {"megabytes": 1024, "speed": 3, "kernel": file, "initrd": file, "devices": [file, file, file],
                     "output": file, "console": file, "said": file, "memory": None}  # fmt: skip
            changed = {name: file if each == "a file" else each for name, each in other.items()}
            return emulator.Machine(**given | changed)

        yield made


def test_the_machine_has_one_clock_and_nothing_comes_from_outside(machine):
    words = " ".join(machine().words())
    for each in ("-icount shift=0,sleep=off,align=off,rr=record,",
                 "-rtc base=2026-01-01T00:00:00,clock=vm", "-smp 1", "-accel tcg,thread=single",
                 "-M pc-i440fx-7.2,", "-cpu Nehalem", "-nodefaults", "-no-user-config", "-monitor none",
                 "tsc_early_khz=3000000", "-seed 1 ", "migration.send-configuration=off"):  # fmt: skip
        assert each in words
    for each in ("-netdev", "-nic", "-drive", "-virtfs", "stdio", "socket", "-qmp", "-accel kvm"):
        assert each not in words
    assert words.count("readonly=on") == words.count("unarmed=on") == 3


def test_machines_that_may_go_on_with_one_memory_have_one_identity_and_others_another(machine):
    own = machine().identity()
    assert own == machine(memory="a file", writes=True, saved="a file").identity()
    assert own == machine(memory="a file", state=b"x").identity()
    others = {machine(**each).identity() for each in ({"megabytes": 512}, {"speed": 1}, {"devices": []})}
    assert len({own, *others}) == 4


def test_only_a_machine_that_is_saved_stops_and_is_talked_to(machine):
    saved = " ".join(machine(memory="a file", writes=True, saved="a file").words())
    restored = " ".join(machine(memory="a file", state=b"x").words())
    for each in ("panic=pause", "share=on -cpu", "mode=control"):
        assert each in saved
    for each in ("panic=none -monitor none", "share=off -cpu"):
        assert each in restored
    assert "stdio" not in restored


def test_speed_is_instructions_in_a_nanosecond(machine):
    assert machine(speed=1).words()[-1].endswith("tsc_early_khz=1000000")


def test_devices_whose_content_differs_have_few_sizes():
    assert [emulator.roomy(each) >> 20 for each in (0, 32 << 20, (32 << 20) + 1, 100 << 20)] == [32, 32, 64, 128]


def test_memory_devices_are_multiples_of_two_megabytes():
    assert [emulator.aligned(each) >> 20 for each in (0, 1, 2 << 20, (2 << 20) + 1)] == [2, 2, 2, 4]


def test_a_terminal_is_refused(lab):
    with pytest.raises(LabError, match="source of time"):
        lab.run(["true"], terminal=(24, 80))


def test_no_emulator_is_one_line_with_its_package(lab, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(LabError, match="needs QEMU") as caught:
        emulator.program()
    assert caught.value.fix == "apt-get install qemu-system-x86"


def test_the_version_is_read_and_what_has_none_is_one_line(monkeypatch, tmp_path):
    fake = tmp_path / emulator.PROGRAM
    fake.write_text("#!/bin/sh\necho 'QEMU emulator version 7.2.22 (Debian 1:7.2)'\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert exact.facts(Clock("exact")) == {
        "emulator": "QEMU 7.2.22", "machine": "pc-i440fx-7.2", "processor": "Nehalem", "instructions_per_ns": 3
    }  # fmt: skip
    fake.write_text("#!/bin/sh\necho nothing\n")
    with pytest.raises(LabError, match="does not print its version"):
        emulator.version()


def test_input_is_read_to_its_end_before_the_lab_boots(tmp_path, monkeypatch):
    (tmp_path / "input").write_text("from a file")
    with (tmp_path / "input").open() as file:
        assert exact._input(file.fileno()) == b"from a file"
    near, far = os.pipe()
    os.write(far, b"from a pipe")
    os.close(far)
    assert exact._input(near) == b"from a pipe"
    os.close(near)
    assert exact._input(None) == b""
    with open(os.devnull) as nothing:
        assert exact._input(nothing.fileno()) == b""
    monkeypatch.setattr(exact, "MOST_INPUT", 3)
    with (tmp_path / "input").open() as file, pytest.raises(LabError, match="input has more than"):
        exact._input(file.fileno())


def test_a_version_that_was_not_tried_is_said_and_one_without_the_machine_refused(monkeypatch, capsys):
    monkeypatch.setattr(emulator, "program", lambda: Path("/usr/bin/qemu-system-x86_64"))
    for found in ("7.2.22", "10.0.13", "9.1.0"):
        monkeypatch.setattr(emulator, "version", lambda found=found: found)
        assert exact.facts(Clock("exact"))["emulator"] == f"QEMU {found}"
    assert (
        capsys.readouterr().err
        == "slownet: QEMU 9.1.0 was not tried (7.2 and 10.0 were): compare its numbers with its own alone\n"
    )
    monkeypatch.setattr(emulator, "version", lambda: "6.2.0")
    with pytest.raises(LabError) as error:
        exact.facts(Clock("exact"))
    assert str(error.value) == (
        "QEMU 6.2.0 has no machine pc-i440fx-7.2; 7.2 is the first that has, /usr/bin/qemu-system-x86_64: "
        "apt-get install qemu-system-x86"
    )


def test_the_state_of_a_machine_may_be_larger_than_a_pipe():
    state = os.urandom(3_000_000)
    with emulator._piped(state) as pipe, os.fdopen(os.dup(pipe), "rb") as file:
        assert file.read() == state


def test_a_machine_that_does_not_read_its_state_holds_nobody_up():
    with emulator._piped(bytes(3_000_000)):
        pass
    with emulator._piped(b"") as pipe:
        assert pipe is None
