import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from slownet.lab.host import native

ALL = ["mn", "ovs-vsctl", "ovs-vswitchd", "tc", "unshare", "genl", "modprobe"]


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """Return a function that writes a fake program, and its folder, which is all of PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setattr(native.cache, "search_path", lambda: str(folder))
    monkeypatch.setattr(native.os, "geteuid", lambda: 0)
    monkeypatch.delenv(native.INSIDE, raising=False)
    monkeypatch.setenv("PATH", str(folder))

    def write(name, script="exit 0"):
        path = folder / name
        path.write_text(f'#!/bin/sh\necho "$0" "$@" >> {tmp_path}/calls\n{script}\n')
        path.chmod(0o755)

    for each in ALL:
        write(each)
    write.calls = lambda: [line.removeprefix(f"{folder}/") for line in (tmp_path / "calls").read_text().splitlines()]
    write.folder = folder
    return write


def test_nothing_is_tried_without_root(programs, monkeypatch, tmp_path):
    monkeypatch.setattr(native.os, "geteuid", lambda: 1000)
    assert native.lacks() == ["root"]
    assert not (tmp_path / "calls").exists()


def test_an_able_machine_lacks_nothing(programs):
    assert native.lacks() == []
    assert programs.calls() == [
        "modprobe --all --quiet sch_netem sch_htb openvswitch",
        "unshare --net tc qdisc add dev lo root netem delay 1ms",
        "unshare --net tc qdisc add dev lo root htb",
        "genl ctrl get name ovs_datapath",
    ]


def test_a_missing_program_is_named(programs):
    for each in ("mn", "ovs-vswitchd"):
        (programs.folder / each).unlink()
    assert native.lacks() == ["the program mn", "the program ovs-vswitchd"]


def test_what_the_kernel_lacks_is_found_by_trying(programs):
    programs("unshare", 'case "$*" in *netem*) exit 2;; esac')
    programs("genl", "exit 1")
    assert native.lacks() == ["netem", "Open vSwitch in the kernel"]
    (programs.folder / "unshare").unlink()
    assert native.lacks() == ["netem", "HTB", "Open vSwitch in the kernel"]


def test_inside_a_lab_there_are_no_modules(programs, monkeypatch):
    monkeypatch.setenv(native.INSIDE, "inf")
    assert native.inside_lab()
    assert native.cpu_is_free()
    assert native.lacks() == []
    assert not any("modprobe" in call for call in programs.calls())


@pytest.mark.parametrize(
    ("environment", "facts", "free"),
    [
        ({}, {"clock": "real", "tdf": None, "cpu": None}, False),
        ({native.INSIDE: "real", native.CPU: ""}, {"clock": "real", "tdf": None, "cpu": None}, False),
        ({native.INSIDE: "4", native.CPU: "work"}, {"clock": "virtual", "tdf": 4, "cpu": "work"}, False),
        ({native.INSIDE: "4", native.CPU: "time"}, {"clock": "virtual", "tdf": 4, "cpu": "time"}, False),
        ({native.INSIDE: "inf", native.CPU: "free"}, {"clock": "virtual", "tdf": "inf", "cpu": "free"}, True),
        ({native.INSIDE: "inf"}, {"clock": "virtual", "tdf": "inf", "cpu": "free"}, True),
    ],
)
def test_the_clock_of_this_process_is_known_by_its_environment(monkeypatch, environment, facts, free):
    for name in (native.INSIDE, native.CPU):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert (native.clock_facts(), native.cpu_is_free()) == (facts, free)


def test_a_machine_without_modprobe_is_tried_all_the_same(programs):
    (programs.folder / "modprobe").unlink()
    assert native.lacks() == []


def test_this_process_is_not_inside_a_lab(monkeypatch):
    monkeypatch.delenv(native.INSIDE, raising=False)
    assert not native.inside_lab()
    assert os.environ.get(native.INSIDE) is None


@pytest.mark.parametrize("nodes", [("lab", "lab"), ("lab-gw0", "lab-gw1")], ids=["a handler within a call", "two labs"])
def test_real_time_is_asked_twice_at_a_time(tmp_path, monkeypatch, nodes):
    """Processes of two labs have one number and share the folder: the second one took the first one's file away."""
    write, names = Path.write_bytes, iter(nodes)
    monkeypatch.setattr(native.os, "uname", lambda: SimpleNamespace(nodename=next(names)))
    found = []

    def write_and_ask(path, data):
        write(path, data)
        if not found:
            found.append(0.0)
            found.append(native.RealTime(tmp_path)())

    monkeypatch.setattr(Path, "write_bytes", write_and_ask)
    assert native.RealTime(tmp_path)() == pytest.approx(found[1], abs=60)
    assert not list(tmp_path.iterdir())
