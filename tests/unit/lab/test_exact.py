"""An exact lab before it boots: the machine's arguments, what its command may have, and what is missing."""

import os
from pathlib import Path

import pytest

from slownet.errors import LabError
from slownet.lab import exact
from slownet.lab.boot import Share
from slownet.lab.clock import Clock
from slownet.lab.kernel_package import Kernel


@pytest.fixture
def lab(tmp_path):
    for name in ("vmlinuz", "modules", "init", "image"):
        (tmp_path / name).write_bytes(b"x")
    return exact.ExactLab(
        Kernel(tmp_path / "vmlinuz", tmp_path / "modules", "6.12", "linux-image"), tmp_path / "init", tmp_path / "confine",
        tmp_path / "image", shares=[Share(tmp_path)],
    )  # fmt: skip


def arguments(lab: exact.ExactLab, tmp_path: Path) -> str:
    with (tmp_path / "image").open("rb") as file:
        return " ".join(exact.qemu(lab, file, file, [file, file, file], file, file))


def test_the_machine_has_one_clock_and_nothing_comes_from_outside(lab, tmp_path):
    words = arguments(lab, tmp_path)
    for each in ("-icount shift=0,sleep=off,align=off,rr=record,",
                 "-rtc base=2026-01-01T00:00:00,clock=vm", "-smp 1", "-accel tcg,thread=single",
                 "-M pc-i440fx-7.2,", "-cpu Nehalem", "-nodefaults", "-no-user-config", "-monitor none",
                 "tsc_early_khz=3000000"):  # fmt: skip
        assert each in words
    for each in ("-netdev", "-nic", "-drive", "-virtfs", "stdio", "socket", "-qmp", "-accel kvm"):
        assert each not in words
    assert words.count("readonly=on") == words.count("unarmed=on") == 3


def test_each_boot_draws_other_random_numbers_and_the_same_the_next_time(lab, tmp_path):
    first = arguments(lab, tmp_path)
    lab.turn = 4
    assert "-seed 5 " in arguments(lab, tmp_path)
    assert "slownet_exact=5" in arguments(lab, tmp_path)
    lab.turn = 0
    assert arguments(lab, tmp_path) == first


def test_speed_is_instructions_in_a_nanosecond(lab, tmp_path):
    lab.clock = Clock("exact", speed=1)
    assert "tsc_early_khz=1000000 " in arguments(lab, tmp_path)


def test_memory_devices_are_multiples_of_two_megabytes():
    assert [exact.aligned(each) >> 20 for each in (0, 1, 2 << 20, (2 << 20) + 1)] == [2, 2, 2, 4]


def test_a_terminal_is_refused(lab):
    with pytest.raises(LabError, match="source of time"):
        lab.run(["true"], terminal=(24, 80))


def test_no_emulator_is_one_line_with_its_package(lab, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(LabError, match="needs QEMU") as caught:
        exact.program()
    assert caught.value.fix == "apt-get install qemu-system-x86"


def test_the_version_is_read_and_what_has_none_is_one_line(monkeypatch, tmp_path):
    fake = tmp_path / exact.PROGRAM
    fake.write_text("#!/bin/sh\necho 'QEMU emulator version 7.2.22 (Debian 1:7.2)'\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert exact.facts(Clock("exact")) == {
        "emulator": "QEMU 7.2.22", "machine": "pc-i440fx-7.2", "processor": "Nehalem", "instructions_per_ns": 3
    }  # fmt: skip
    fake.write_text("#!/bin/sh\necho nothing\n")
    with pytest.raises(LabError, match="does not tell its version"):
        exact.version()


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
    monkeypatch.setattr(exact, "program", lambda: Path("/usr/bin/qemu-system-x86_64"))
    for found in ("7.2.22", "10.0.13", "9.1.0"):
        monkeypatch.setattr(exact, "version", lambda found=found: found)
        assert exact.facts(Clock("exact"))["emulator"] == f"QEMU {found}"
    assert (
        capsys.readouterr().err
        == "slownet: QEMU 9.1.0 was not tried (7.2 and 10.0 were): compare its numbers with its own alone\n"
    )
    monkeypatch.setattr(exact, "version", lambda: "6.2.0")
    with pytest.raises(LabError) as error:
        exact.facts(Clock("exact"))
    assert str(error.value) == (
        "QEMU 6.2.0 has no machine pc-i440fx-7.2; 7.2 is the first that has, /usr/bin/qemu-system-x86_64: "
        "apt-get install qemu-system-x86"
    )
