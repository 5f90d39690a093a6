"""Which clock a run has: what was asked for, what its file states, what its claims need."""

from dataclasses import replace

import pytest

from slownet import TwoHosts, bound, experiment, law
from slownet.lab.clock import INF, Clock
from slownet.lab.place import Place
from slownet.records.judgement import Judgement
from slownet.records.result import gather
from slownet.runner import clock_choice
from slownet.runner.run import last_lines

LAW = law("rtt_ms", round_trips=1)
LIMIT = bound("rtt_ms", at={"rtt": "10ms"}, at_most="20ms")
TIMED, COUNTED, FREE = Clock("virtual", 2), Clock("virtual", 1, counter="process"), Clock("virtual", INF)
LAB = Place(TIMED, {}, parts="a kernel and an image")


def of(*claims, tdf=None):
    def mine(net, rtt):
        """How long?"""

    made = experiment(topology=TwoHosts, vary={"rtt": ["0ms", "10ms"]}, tdf=tdf)(mine)
    made.claims(*claims)
    return made


@pytest.mark.parametrize(
    ("place", "asked", "clock", "why"),
    [
        (LAB, of(LAW), FREE, "all claims are about round trips or losses"),
        (LAB, of(LAW, LIMIT), TIMED, "a claim depends on what the CPU costs: there is no instruction counter"),
        (replace(LAB, clock=COUNTED), of(LIMIT), COUNTED, "a claim depends on what the CPU costs: instructions are counted"),
        (LAB, of(), TIMED, "no claim is judged"),
        (LAB, of(LIMIT, tdf="inf"), FREE, "the experiment states it"),
        (LAB, of(LAW, tdf="7"), Clock("virtual", 7), "the experiment states it"),
        (replace(LAB, clock_is_asked_for=True), of(LAW), TIMED, "it was asked for"),
        (replace(LAB, cpu_is_asked_for=True), of(LAW), TIMED, "it was asked for what is charged"),
        (Place(Clock("real"), {}), of(LAW), Clock("real"), "it runs natively"),
    ],
)
def test_who_decides(place, asked, clock, why):
    found = clock_choice.choose(asked, place, asked.judged_by)
    assert found.place.clock == clock
    assert found.why.startswith(why)


def test_a_sweep_maps_numbers_whatever_the_experiment_claims():
    assert clock_choice.choose(of(LAW), LAB, ()).place.clock == TIMED


def test_it_says_what_cpu_time_cannot_see():
    found = clock_choice.choose(of(LIMIT), LAB, [LIMIT])
    assert str(found.place.clock) == "virtual clock, TDF 2"
    assert found.why.startswith("a claim depends")
    assert "differs by 12 % between boots and hides smaller differences (--clock exact shows them" in found.why


def judged(verdict, measured=20.0, **facts):
    claim = Judgement("a page takes 20 ms", verdict, measured, 20.0, 10.0, 30.0, (19.0, 21.0), "")
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
