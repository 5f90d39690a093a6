"""Which clock a run has: what was asked for, what its file states, what its claims need."""

from dataclasses import replace

import pytest

import slownet
from slownet import TwoHosts, bound, experiment, law
from slownet.judge.records.judgement import Judgement
from slownet.judge.records.result import gather
from slownet.lab.run import place
from slownet.lab.run.clock import INF, Clock
from slownet.lab.run.place import Place
from slownet.model.errors import LabError
from slownet.runner import clock_choice
from slownet.runner.run import last_lines

LAW = law("rtt_ms", round_trips=1)
LIMIT = bound("rtt_ms", at={"rtt": "10ms"}, at_most="20ms")
TIMED, COUNTED, FREE = Clock("virtual", 2), Clock("virtual", 1, counter="process"), Clock("virtual", INF)
LAB = Place(TIMED, {}, parts="a kernel and an image")
EXACTLY = Clock("exact")


@pytest.fixture(autouse=True)
def qemu(monkeypatch):
    """QEMU, and all that labs on the exact clock take."""
    monkeypatch.setattr(place, "_exact_facts", lambda parts, clock: {"machine": {}})
    monkeypatch.setattr(clock_choice.emulator.shutil, "which", lambda name: f"/usr/bin/{name}")


@pytest.fixture
def no_qemu(monkeypatch):
    monkeypatch.setattr(clock_choice.emulator.shutil, "which", lambda name: None)
    monkeypatch.setattr(clock_choice.packed, "fits", lambda folders: pytest.fail("the folders were looked at for nothing"))


def of(*claims, tdf=None, measure=None, topology=TwoHosts):
    def mine(net, rtt):
        """How long?"""

    made = experiment(topology=topology, vary={"rtt": ["0ms", "10ms"]}, tdf=tdf)(measure or mine)
    made.claims(*claims)
    return made


@pytest.mark.parametrize(
    ("where", "asked", "clock", "why"),
    [
        (LAB, of(LAW), FREE, "all claims are about round trips or losses"),
        (
            LAB,
            of(LAW, LIMIT),
            EXACTLY,
            "a claim depends on what the CPU costs: instructions are counted in an emulated machine",
        ),
        (replace(LAB, clock=COUNTED), of(LIMIT), COUNTED, "a claim depends on what the CPU costs: instructions are counted"),
        (
            LAB,
            of(),
            EXACTLY,
            "no claim is judged, and what is measured may depend on what the CPU costs: instructions are counted",
        ),
        (LAB, of(LIMIT, tdf="inf"), FREE, "the experiment states it"),
        (LAB, of(LAW, tdf="7"), Clock("virtual", 7), "the experiment states it"),
        (replace(LAB, clock_is_asked_for=True), of(LAW), TIMED, "it was asked for"),
        (replace(LAB, cpu_is_asked_for=True), of(LAW), TIMED, "it was asked for what is charged"),
        (Place(Clock("real"), {}), of(LAW), Clock("real"), "it runs natively"),
    ],
)
def test_who_decides(where, asked, clock, why):
    found = clock_choice.choose(asked, where, asked.judged_by)
    assert found.place.clock == clock
    assert found.why.startswith(why)


def calling(program):
    """Return what measures with a program, whose file imports no other one."""

    def measure(net, rtt):
        """How long?"""
        return program(net["server"])

    return measure


@pytest.mark.parametrize(
    ("asked", "is_sweep", "why"),
    [
        (
            of(LIMIT, measure=calling(slownet.iperf3)),
            False,
            "iperf3 runs for a fixed time, which takes six times longer",
        ),
        (of(LIMIT, measure=calling(slownet.Container)), False, "containers do not run on the exact clock"),
        (of(LAW), True, "a sweep has too many cells for the exact clock"),
    ],
)
def test_cpu_time_is_charged_where_the_exact_clock_would_take_long_or_cannot_be_and_it_is_said_what_that_hides(
    asked, is_sweep, why
):
    found = clock_choice.choose(asked, LAB, () if is_sweep else asked.judged_by, is_sweep=is_sweep)
    assert found.place.clock == TIMED
    assert f"on what the CPU costs: there is no instruction counter, and {why}" in found.why
    assert "CPU time is charged, which differs by 12 % between boots and hides smaller differences (--clock exact" in found.why


def test_cpu_time_is_charged_without_qemu_and_it_is_said_what_to_install(no_qemu):
    found = clock_choice.choose(of(LIMIT), LAB, [LIMIT])
    assert str(found.place.clock) == "virtual clock, TDF 2"
    lack = "the exact clock needs QEMU (qemu-system-x86_64), which is not installed: apt-get install qemu-system-x86"
    assert f", and {lack}. CPU time is charged, which" in found.why


def test_a_kernel_that_was_asked_for_is_not_left_for_the_exact_clock():
    found = clock_choice.choose(of(LIMIT), replace(LAB, kernel_is_asked_for=True), [LIMIT])
    assert found.place.clock == TIMED
    assert "labs on the exact clock have Debian's own kernel, --kernel" in found.why


def test_cpu_time_is_charged_where_there_is_more_to_copy_than_a_lab_holds(tmp_path, monkeypatch):
    (tmp_path / "data").write_bytes(b"x" * 2000)
    monkeypatch.setattr(clock_choice.packed, "MOST_BYTES", 1999)
    assert clock_choice.choose(of(LIMIT), LAB, [LIMIT], [tmp_path]).place.clock == TIMED
    monkeypatch.setattr(clock_choice.packed, "MOST_BYTES", 2000)
    assert clock_choice.choose(of(LIMIT), LAB, [LIMIT], [tmp_path]).place.clock == EXACTLY


def test_cpu_time_is_charged_where_a_part_of_exact_labs_cannot_be_fetched(monkeypatch):
    def fetch(parts, clock):
        raise LabError("downloading Debian's kernel failed", fix="check the network")

    monkeypatch.setattr(place, "_exact_facts", fetch)
    found = clock_choice.choose(of(LIMIT), LAB, [LIMIT])
    assert found.place.clock == TIMED
    assert ", and downloading Debian's kernel failed: check the network. CPU time is charged" in found.why


def test_the_facts_are_those_of_the_machine_that_was_chosen():
    assert clock_choice.choose(of(LIMIT), replace(LAB, facts={"kernel": "6.1"}), [LIMIT]).place.facts == {
        "kernel": "6.1", "machine": {},
    }  # fmt: skip


def judged(verdict, measured=20.0, **facts):
    claim = Judgement("a page takes 20 ms", verdict, measured, 20.0, 10.0, 30.0, (19.0, 21.0))
    made = gather([], {"experiment": "page", "clock": "virtual", "tdf": 1.0, "cpu": "time"} | facts)
    return made.judged([claim])


def test_after_a_run_that_cpu_time_left_open_a_line_names_the_clock_that_decides_and_its_cost(monkeypatch):
    monkeypatch.setattr(clock_choice.emulator, "program", lambda: "/usr/bin/qemu")
    (line,) = last_lines([judged("inconclusive")])
    assert line == (
        "page: CPU time differs by 12 % between boots: --clock exact counts instructions instead, "
        "at about five times the CPU of a boot"
    )


def test_it_says_what_that_clock_needs(monkeypatch):
    monkeypatch.setattr(clock_choice.emulator.shutil, "which", lambda name: None)
    assert last_lines([judged("inconclusive")])[0].endswith(" (apt-get install qemu-system-x86)")


@pytest.mark.parametrize(
    "run",
    [
        judged("supported"), judged("refuted"), judged("inconclusive", None), judged("inconclusive", cpu="work"),
        judged("inconclusive", tdf="inf", cpu="free"), judged("inconclusive", clock="exact"),
        judged("inconclusive", compose={"services": {}}),
    ],
)  # fmt: skip
def test_no_other_run_has_that_line(run):
    assert last_lines([run]) == []


def test_without_the_kernel_of_the_other_clocks_it_is_the_exact_one_but_for_a_tdf_that_is_stated():
    class NoKernel:
        def need_kernel(self):
            raise LabError("the lab's own kernel is not built", fix="slownet lab build")

    where = replace(LAB, clock=EXACTLY, only_exact=True, parts=NoKernel())
    found = clock_choice.choose(of(LAW), where, [LAW])
    assert (found.place.clock, found.why) == (EXACTLY, "labs on other clocks are not built here (slownet lab build)")
    with pytest.raises(LabError, match="own kernel is not built"):
        clock_choice.choose(of(LAW, tdf="inf"), where, [LAW])
