"""The parts of a run that need no lab."""

import io
import json
import threading
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console

from slownet.hypotheses.experiment import experiment
from slownet.judge.claim import INCONCLUSIVE, NOT_JUDGED, REFUTED, SUPPORTED, bound, law, more_round_trips
from slownet.judge.records import result
from slownet.judge.records.samples import of_lab, read_samples
from slownet.lab.run.caller import Given
from slownet.lab.run.clock import INF, Clock
from slownet.lab.run.events import line
from slownet.lab.run.place import Place
from slownet.model.errors import ExperimentError, LabError, ServiceError, SlownetError
from slownet.report.comparison import tally
from slownet.report.table import show
from slownet.report.view import sampling_notes
from slownet.report.words import verdicts_counted
from slownet.runner import planning, repetition, run
from slownet.runner.booting import BootCheck
from slownet.runner.job import Job
from slownet.runner.rule import Rule
from slownet.topologies import ClientWebDb


@experiment(topology=ClientWebDb, vary={"rtt": ["0ms", "10ms"]})
def example(net, rtt):
    """How long does it take?"""


example.claims(law("time_per_request_ms", round_trips=4, within=0.05))


@pytest.fixture(autouse=True)
def known(monkeypatch):
    """One boot is enough, as of programs that slownet knows."""
    monkeypatch.setattr(planning, "has_own_programs", lambda *parts: False)


class FakePlace:
    """Replaces a lab: prints the given events and writes the given samples."""

    kind, python, clock, facts = "lab", "python", Clock("virtual", INF), {"kernel": "k", "place": "lab"}
    given = Given()
    parts = "a kernel and an image"
    clock_is_asked_for = True
    received = ()
    printed = b""

    def __init__(self, output=b"", samples=(), errors=b"", status=0):
        self.output, self.samples, self.errors, self.status = output, samples, errors, status

    def on(self, tdf, clock=None):
        return self

    def with_clock(self, clock):
        return self

    def run(self, argv, *, shares, stdout, stderr, turn=0, pinned=lambda processor: None, **around):
        directory = next(Path(json.loads(each)["directory"]) for each in argv if each.startswith("{"))
        writable = {each.path.name for each in shares if each.writable and each.path.parent == directory}
        number = json.loads(next(each for each in argv if each.startswith("{")))["lab"]
        assert writable == {of_lab(name, number) for name in ("raw", "captures", "services")}
        assert [each.writable for each in shares if each.path == directory] == [False]
        own = b"".join(line("sample", index=each["index"], sample=each) for each in self.samples)
        output = self.output or self.printed + own + line("end", virtual_s=7.5)
        for byte in output if len(output) < 5000 else (output,):  # events may be split anywhere
            stdout(bytes([byte]) if isinstance(byte, int) else byte)
        stderr(self.errors)
        return self.status


def sample(rtt_ms, mean, index):
    return {
        "experiment": "example", "cell": {"rtt": f"{rtt_ms}ms"}, "condition": {"rtt_ms": float(rtt_ms)}, "index": index,
        "tool": "ab", "status": "ok", "error": None, "metrics": {"time_per_request_ms": {"mean": mean, "sd": 0.0, "n": 100}},
        "verified_rtt_ms": float(rtt_ms), "raw": [], "virtual_s": 1.0, "wall_s": None,
    }  # fmt: skip


@pytest.fixture
def plan(tmp_path, monkeypatch):
    monkeypatch.setattr(planning, "find", lambda name: example)
    return planning.plan("example", FakePlace(), tmp_path, {})


def test_a_plan_is_on_disk_before_anything_runs(plan):
    facts = json.loads((plan.directory / "run.json").read_text())
    assert facts["planned"] == [{"rtt": "0ms"}, {"rtt": "10ms"}]
    assert facts["tdf"] == "inf"
    assert facts["clock"] == "virtual"


def test_events_are_followed_and_claims_judged(plan):
    seen = []
    pair = [sample(0, 5.0, 0), sample(10, 45.0, 1)]
    measured = [{"event": "sample", "index": each["index"], "sample": each} for each in pair]
    stated = {"event": "facts", "settings": {"a": "b"}}
    events = [stated, *measured, {"event": "end", "virtual_s": 7.5}]
    place = FakePlace(b"".join(line(**each) for each in events))
    (done,) = run.execute([plan], place, lambda name, event: seen.append((name, event["event"])))
    assert seen == [("example", "facts"), ("example", "sample"), ("example", "sample"), ("example", "end")]
    assert [claim.verdict for claim in done.claims] == [SUPPORTED]
    assert run.status([done]) == 0
    facts = json.loads((plan.directory / "run.json").read_text())
    assert facts["virtual_s"] == 7.5
    assert facts["settings"] == {"a": "b"}
    assert facts["samples"]["lines"] == 2
    assert (plan.directory / "report.html").exists()


def test_what_the_cpu_carries_is_measured_only_where_a_link_stated_a_rate(plan, monkeypatch):
    monkeypatch.setattr(run.ceiling, "known", lambda place: 50e6)
    plan.facts |= {"tdf": 4, "cpu": "work"}
    slow = [sample(0, 5.0, 0), sample(10, 45.0, 1)]
    (done,) = run.execute([plan], FakePlace(samples=slow), lambda name, event: None)
    assert "ceiling_bit_s" not in done.facts
    (plan.directory / "samples.jsonl").unlink()
    fast = [sample(0, 5.0, 0) | {"rate_bit_s": 10e6}, sample(10, 45.0, 1) | {"rate_bit_s": 100e6}]
    (done,) = run.execute([planning.resume(plan.directory)], FakePlace(samples=fast), lambda name, event: None)
    assert [cell["beyond_cpu"] for cell in done.to_json()["cells"]] == [False, True]
    facts = json.loads((plan.directory / "run.json").read_text())
    assert facts["ceiling_bit_s"] == 50e6
    assert [cell["beyond_cpu"] for cell in facts["cells"]] == [False, True]


def test_a_free_cpu_carries_every_rate(plan, monkeypatch):
    """A run at TDF inf was advised to run again with --tdf inf."""
    monkeypatch.setattr(run.ceiling, "known", lambda place: 50e6)
    fast = [sample(0, 5.0, 0) | {"rate_bit_s": 10e6}, sample(10, 45.0, 1) | {"rate_bit_s": 100e6}]
    (done,) = run.execute([plan], FakePlace(samples=fast), lambda name, event: None)
    assert "ceiling_bit_s" not in done.facts
    known = replace(done, facts={**done.facts, "ceiling_bit_s": 50e6})  # a record of an older version
    assert not any(known.beyond_cpu(cell) for cell in known.cells)


def test_a_refuted_claim_is_status_1(plan):
    (done,) = run.execute([plan], FakePlace(samples=[sample(0, 5.0, 0), sample(10, 15.0, 1)]), lambda name, event: None)
    assert run.status([done]) == 1


def test_a_failed_cell_is_status_1(plan):
    failed = sample(10, 15.0, 1) | {"status": "failed", "error": "no", "metrics": {}}
    (done,) = run.execute([plan], FakePlace(samples=[sample(0, 5.0, 0), failed]), lambda name, event: None)
    assert run.status([done]) == 1


class SideBySide(FakePlace):
    """A place where two labs measure one boot each at the same time; those in `dies` fail after their first sample."""

    clock, facts = Clock("virtual", 1), {**FakePlace.facts, "cpu": "work"}

    def __init__(self, dies=(), pages=None):
        super().__init__()
        self.dies, self.pages, self.jobs, self.lock = dies, pages or {}, [], threading.Lock()
        self.all_there = threading.Barrier(2)

    def run(self, argv, *, shares, stdout, stderr, turn=0, pinned=lambda processor: None, **around):
        job = json.loads(argv[-1])
        lab = job["lab"]
        pinned(7 - turn)
        with self.lock:
            self.jobs.append(job)
        self.all_there.wait(10)  # fails unless both run at the same time
        self.tell(stdout, "facts", service={"page_length": self.pages.get(lab, 51686)}, openvswitch="3.5")
        for index, _, cell in job["steps"]:
            self.tell(stdout, "cell", index=index, cell=cell)
            rtt_ms = int(cell["rtt"][:-2])
            self.tell(stdout, "sample", index=index, sample=sample(rtt_ms, 5.0 + 4 * rtt_ms, index))
            if lab in self.dies:
                raise LabError(f"lab {lab} is gone")
        stderr(f"lab {lab} says".encode())
        self.tell(stdout, "end", virtual_s=2.5)
        return 0

    @staticmethod
    def tell(stdout, event, **values):
        stdout(line(event, **values))


class OneEndsEarly(SideBySide):
    """The second lab mounts its folders when the first one has ended."""

    mounted = ()

    def run(self, argv, *, shares, stdout, **around):
        job = json.loads(argv[-1])
        if job["lab"] == 2:
            deadline = time.monotonic() + 10
            while not any(Path(job["directory"]).glob("stderr*.txt")) and time.monotonic() < deadline:
                time.sleep(0.01)
            self.mounted = [each.path.is_dir() for each in shares if each.writable]
        return super().run(argv, shares=shares, stdout=stdout, **around)


FOUR = {"rtt": ["0ms", "10ms", "40ms", "120ms"]}
TWICE = Rule(repeat=2)


def places(job):
    return [(index, block, cell["rtt"]) for index, block, cell in job["steps"]]


@pytest.fixture
def two_processors(monkeypatch):
    monkeypatch.setattr(planning, "find", lambda name: example)
    monkeypatch.setattr(repetition.cpu, "count", lambda: 2)


def test_a_lab_that_ends_leaves_the_others_their_folders(two_processors, tmp_path):
    place = OneEndsEarly()
    place.all_there = threading.Barrier(1)  # they need not be there at the same time
    each = planning.plan("example", place, tmp_path, FOUR, TWICE)
    (done,) = run.execute([each], place, lambda name, event: None)
    assert place.mounted == [True, True, True]
    folders = {*Job([], lab=1).folders(), *Job([], lab=2).folders()}
    assert not {path.name for path in done.directory.iterdir()} & folders


def test_labs_side_by_side_measure_a_boot_each_with_all_its_cells(two_processors, tmp_path):
    place, seen = SideBySide(), []
    each = planning.plan("example", place, tmp_path, FOUR, TWICE)
    (done,) = run.execute([each], place, lambda name, event: seen.append((event["event"], event.get("lab"))))
    first, second = sorted(place.jobs, key=lambda job: job["boot"])
    forwards = [(index, ["0ms", "10ms", "40ms", "120ms"][index]) for index in range(4)]
    assert places(first) == [(index, 1, rtt) for index, rtt in forwards] + [
        (7 - index, 2, rtt) for index, rtt in forwards[::-1]
    ]
    # The second boot starts backwards.
    assert places(second) == [(11 - index, 1, rtt) for index, rtt in forwards[::-1]] + [
        (12 + index, 2, rtt) for index, rtt in forwards
    ]
    assert {job["lab"] for job in place.jobs} == {1, 2}
    assert [(cell.repetitions, sorted(cell.labs), len(cell.samples)) for cell in done.cells] == [(2, [1, 2], 4)] * 4
    assert sorted(set(seen)) == sorted((event, lab) for event in ("facts", "cell", "sample", "end") for lab in (1, 2))
    facts = json.loads((each.directory / "run.json").read_text())
    assert (facts["labs"], facts["blocks"], facts["virtual_s"]) == (2, 2, 5.0)
    assert facts["service"] == {"page_length": 51686}
    assert "contradicted" not in facts
    lab_of = {job["boot"]: job["lab"] for job in place.jobs}
    assert facts["boots"] == [
        {"boot": 1, "first": 0, "places": 8, "blocks": 2, "lab": lab_of[1], "processor": 7},
        {"boot": 2, "first": 8, "places": 8, "blocks": 2, "lab": lab_of[2], "processor": 6},
    ]
    assert [claim.verdict for claim in done.claims] == [SUPPORTED]
    assert (each.directory / "stderr.txt").read_text() == "lab 1 says"
    assert (each.directory / "stderr-2.txt").read_text() == "lab 2 says"
    assert len((each.directory / "samples.jsonl").read_text().splitlines()) == 16
    assert {path.name for path in each.directory.glob("samples*")} == {"samples.jsonl", "samples.parquet"}


def test_a_lab_that_dies_leaves_the_boot_of_the_other_and_only_what_it_lacks_is_measured_again(two_processors, tmp_path):
    place = SideBySide(dies=[2])
    each = planning.plan("example", place, tmp_path, FOUR, TWICE)
    with pytest.raises(LabError, match="lab 2 is gone"):
        run.execute([each], place, lambda name, event: None)
    (broken,) = (job for job in place.jobs if job["lab"] == 2)
    first = broken["steps"][0][0]
    whole = range(0, 8) if first == 8 else range(8, 16)
    assert [taken["index"] for taken in read_samples(each.directory)] == sorted([first, *whole])
    again = planning.resume(each.directory, labs=1)
    place = Repeating({"0ms": 5.0, "10ms": 45.0, "40ms": 165.0, "120ms": 485.0})
    (done,) = run.execute([again], place, lambda name, event: None)
    assert [job["steps"] for job in place.jobs] == [broken["steps"][1:]]  # the same places, blocks and cells
    assert [(job["boot"], job["blocks"]) for job in place.jobs] == [(broken["boot"], 2)]
    assert [(cell.label["rtt"], cell.repetitions, len(cell.samples)) for cell in done.cells] == [
        (rtt, 2, 4) for rtt in FOUR["rtt"]
    ]
    assert (done.facts["labs"], done.facts["blocks"]) == (2, 2)


def test_both_labs_that_die_are_one_error_that_the_others_survive(two_processors, tmp_path):
    place = SideBySide(dies=[1, 2])
    each = planning.plan("example", place, tmp_path, FOUR, Rule(repeat=5))
    (done,) = run.execute([each], place, lambda name, event: None, go_on=True)
    assert done.facts["error"] == "lab 1 is gone"
    assert sorted(cell.label["rtt"] for cell in done.cells) == ["0ms", "120ms"]  # the first places of both boots
    assert [job["boot"] for job in sorted(place.jobs, key=lambda job: job["boot"])] == [1, 2]  # no third one is started


def test_what_failed_in_one_boot_is_not_tried_in_the_next(tmp_path, monkeypatch):
    monkeypatch.setattr(planning, "find", lambda name: example)
    monkeypatch.setattr(repetition.cpu, "count", lambda: 1)
    each = planning.plan("example", FakePlace(), tmp_path, {}, Rule(repeat=3))
    place = Repeating(*[{"0ms": 5.0, "10ms": None}] * 3)
    run.execute([each], place, lambda name, event: None)
    assert [[cell["rtt"] for _, _, cell in job["steps"]] for job in place.jobs] == [["0ms", "10ms"], ["0ms"], ["0ms"]]


def test_every_experiment_has_a_lab_before_any_has_two_and_what_is_left_over_helps(two_processors, tmp_path, monkeypatch):
    """Two processors, three experiments of two boots: the last experiment gets both as soon as they are free."""
    monkeypatch.setattr(planning, "find", lambda name: {"example": example, "other": other, "third": third}[name])
    began = []

    class Slow(Repeating):
        def run(self, argv, **options):
            job = json.loads(argv[-1])
            with lock:
                began.append((job["experiment"], job["boot"], job["lab"]))
            if job["experiment"] == "third" or job["boot"] == 1:
                both.wait(10)  # fails unless two run at the same time
            own = [sample(int(cell["rtt"][:-2]), 5.0, index) for index, _, cell in job["steps"]]
            return FakePlace(samples=own).run(argv, **options)

    lock, both = threading.Lock(), threading.Barrier(2)
    place = Slow()
    place.clock = Clock("virtual", 1)
    plans = [planning.plan(name, place, tmp_path, {}, TWICE) for name in ("example", "other", "third")]
    run.execute(plans, place, lambda name, event: None)
    assert sorted(began[:2]) == [("example", 1, 1), ("other", 1, 1)]
    assert {(boot, lab) for name, boot, lab in began if name == "third"} == {(1, 1), (2, 2)}
    assert [each.facts["labs"] for each in plans][2] == 2


def test_of_the_boots_that_labs_could_begin_a_plans_first_lab_comes_first_then_an_earlier_plan(
    two_processors, tmp_path, monkeypatch
):
    monkeypatch.setattr(planning, "find", lambda name: {"example": example, "other": other}[name])
    place = SideBySide()
    plans = [planning.plan(name, place, tmp_path, {}, Rule(repeat=3)) for name in ("example", "other")]
    boots = repetition.Repetition(plans, place, lambda name, event: None)
    begun = [boots.next() for _ in range(5)]
    assert begun.pop() is None  # each plan has two labs
    names = [(each.round.plan.experiment.name, each.lab, each.boot.number) for each in begun]
    assert names == [("example", 1, 1), ("other", 1, 1), ("example", 2, 2), ("other", 2, 2)]
    boots.done([(begun[3], None)])
    boots.failed(begun[0], LabError("it is gone"))
    last = boots.next()
    assert (last.round.plan.experiment.name, last.lab, last.boot.number) == ("other", 2, 3)
    assert boots.next() is None
    boots.done([(each, None) for each in (begun[1], begun[2], last)])
    assert boots.next() is None
    assert {rank: str(error) for rank, error in boots.errors.items()} == {0: "it is gone"}


def test_labs_that_contradict_each_other_are_told(two_processors, tmp_path):
    place = SideBySide(pages={1: 51686, 2: 51690})
    each = planning.plan("example", place, tmp_path, FOUR, TWICE)
    (done,) = run.execute([each], place, lambda name, event: None)
    (values,) = done.facts["contradicted"].values()
    assert sorted(values) == [51686, 51690]
    assert done.facts["service"]["page_length"] == values[0]
    (note,) = [note for note in sampling_notes(done) if "page_length" in note]
    assert note == f"circumstances differed between repetitions: service.page_length was {values[0]}, then {values[1]}"


def test_a_run_of_which_nothing_is_left_boots_nothing(two_processors, tmp_path):
    place = SideBySide()
    each = planning.plan("example", place, tmp_path, FOUR, TWICE)
    run.execute([each], place, lambda name, event: None)
    run.execute([planning.resume(each.directory)], place, lambda name, event: None)
    assert len(place.jobs) == 2


class Repeating(FakePlace):
    """A place that returns the given times, repetition by repetition, for the requested cells; None is a failure."""

    def __init__(self, *rounds, sd=0.0):
        super().__init__()
        self.rounds, self.sd, self.jobs = list(rounds), sd, []

    def run(self, argv, *, shares, stdout, stderr, turn=0, pinned=lambda processor: None, **around):
        job = json.loads(argv[-1])
        self.jobs.append(job)
        times = self.rounds.pop(0)
        self.samples = []
        for index, block, cell in job["steps"]:
            one = sample(int(cell["rtt"][:-2]), times[cell["rtt"]], index) | {"boot": job["boot"], "block": block}
            one["metrics"]["time_per_request_ms"]["sd"] = self.sd
            self.samples.append(one | ({} if times[cell["rtt"]] else {"status": "failed", "error": "no", "metrics": {}}))
        return super().run(argv, shares=shares, stdout=stdout, stderr=stderr, turn=turn, pinned=pinned, **around)


def test_a_run_is_repeated_while_a_claim_is_open(plan):
    seen = []
    place = Repeating({"0ms": 5.0, "10ms": 46.0}, {"0ms": 5.01, "10ms": 45.99}, {"0ms": 5.0, "10ms": 46.0}, sd=30.0)
    (done,) = run.execute([plan], place, lambda name, event: seen.append(event))
    assert [places(job) for job in place.jobs[:2]] == [[(0, 1, "0ms"), (1, 1, "10ms")], [(2, 1, "10ms"), (3, 1, "0ms")]]
    assert [job["boot"] for job in place.jobs] == list(range(1, len(place.jobs) + 1))
    assert [cell.repetitions for cell in done.cells] == [len(place.jobs)] * 2
    assert done.claims[0].verdict == SUPPORTED
    assert {"event": "planned", "cells": 4, "why": "1 repetition, 1 of 1 claim open"} in seen
    facts = json.loads((plan.directory / "run.json").read_text())
    assert facts["sampling"]["why"].startswith(f"{len(place.jobs)} repetitions: all decidable claims are decided")
    assert facts["virtual_s"] == 7.5 * len(place.jobs)
    assert done.claims[0].confidence == facts["sampling"]["confidence"] > 0.99


@pytest.mark.parametrize("needs_the_other", [False, True])
def test_an_open_run_goes_on_while_another_is_measured_unless_a_claim_needs_both(
    two_processors, tmp_path, monkeypatch, needs_the_other
):
    more = [more_round_trips("time_per_request_ms", at_least=0.5, of="other")] if needs_the_other else []
    monkeypatch.setattr(example, "judged_by", [*example.judged_by, *more])
    monkeypatch.setattr(planning, "find", lambda name: {"example": example, "other": other}[name])
    repeated = threading.Event()

    class Waits(Repeating):
        def run(self, argv, **options):
            job = json.loads(argv[-1])
            if job["experiment"] == "other":
                went_on.append(repeated.wait(1 if needs_the_other else 10))
                return FakePlace.run(self, argv, **options)
            if job["boot"] == 2:
                repeated.set()
            return super().run(argv, **options)

    went_on = []
    place = Waits(*[{"0ms": 5.0, "10ms": 46.0}, {"0ms": 5.01, "10ms": 45.99}] * 15, sd=30.0)
    plans = [planning.plan(name, place, tmp_path, {}) for name in ("example", "other")]
    runs = run.execute(plans, place, lambda name, event: None, go_on=True)
    assert went_on[0] is not needs_the_other
    assert [each.experiment for each in runs] == ["example", "other"]
    assert runs[0].cells[0].repetitions > 1


def test_as_often_as_told(tmp_path, monkeypatch):
    monkeypatch.setattr(planning, "find", lambda name: example)
    monkeypatch.setattr(repetition.cpu, "count", lambda: 1)
    each = planning.plan("example", FakePlace(), tmp_path, {}, Rule(repeat=3))
    place = Repeating(*[{"0ms": 5.0, "10ms": 45.0}] * 3)
    (done,) = run.execute([each], place, lambda name, event: None)
    assert [cell["rtt"] for job in place.jobs for _, _, cell in job["steps"]] == [
        "0ms",
        "10ms",
        "10ms",
        "0ms",
        "0ms",
        "10ms",
    ]
    assert done.facts["sampling"] == {
        "repeat": 3, "budget_s": 3600.0, "most": 30, "confidence": 0.99, "why": "3 repetitions, as requested", "last_line": "",
    }  # fmt: skip
    assert done.cells[0].label == {"rtt": "0ms"}
    assert planning.resume(each.directory).rule == Rule(repeat=3)
    assert planning.resume(each.directory).cells == done.facts["planned"]


def test_an_error_from_inside_keeps_its_log_lines(plan):
    event = {"event": "error", "line": "mariadb does not answer", "log": "one\ntwo"}
    with pytest.raises(ServiceError) as caught:
        run.execute([plan], FakePlace(line(**event), status=2), lambda name, event: None)
    assert str(caught.value) == "mariadb does not answer\n    one\n    two"


def test_a_crash_inside_is_one_line_and_kept(plan):
    trace = b"Traceback (most recent call last):\n  ...\nZeroDivisionError: division by zero\n"
    with pytest.raises(Exception, match="example failed: ZeroDivisionError"):
        run.execute([plan], FakePlace(errors=trace, status=1), lambda name, event: None)
    assert (plan.directory / "stderr.txt").read_bytes() == trace


@experiment(topology=ClientWebDb, vary={"rtt": ["0ms", "10ms"]})
def other(net, rtt):
    """And how long does that take?"""


@experiment(topology=ClientWebDb, vary={"rtt": ["0ms", "10ms"]})
def third(net, rtt):
    """And that?"""


class OneBreaks(FakePlace):
    """A place where `other` measures one cell and then fails or is interrupted."""

    def __init__(self, status):
        super().__init__()
        self.ends_with = status

    def run(self, argv, *, shares, stdout, stderr, turn=0, pinned=lambda processor: None, **around):
        breaks = json.loads(argv[-1])["experiment"] == "other"
        self.samples = [sample(0, 5.0, 0), sample(10, 45.0, 1)][: 1 if breaks else 2]
        self.status, self.errors = (self.ends_with, b"ValueError: no\n") if breaks else (0, b"")
        return super().run(argv, shares=shares, stdout=stdout, stderr=stderr, turn=turn, pinned=pinned, **around)


@pytest.mark.parametrize(
    ("status", "received", "why"),
    [(1, (), "other failed: ValueError: no"), (-2, (2,), "interrupted"), (1, (2,), "interrupted")],
)
def test_one_that_breaks_off_is_marked_and_the_others_go_on(tmp_path, monkeypatch, status, received, why):
    monkeypatch.setattr(planning, "find", lambda name: {"example": example, "other": other}[name])
    monkeypatch.setattr(repetition.cpu, "count", lambda: 1)
    monkeypatch.setattr(other, "judged_by", example.judged_by)
    plans = [planning.plan(name, FakePlace(), tmp_path, {}) for name in ("other", "example")]
    place = OneBreaks(status)
    place.received = received
    broken, good = run.execute(plans, place, lambda name, event: None, go_on=True)
    assert [claim.verdict for claim in good.claims] == [SUPPORTED]
    assert run.status([good]) == 0
    facts = json.loads((broken.directory / "run.json").read_text())
    assert facts["error"].startswith(why)
    assert len(facts["cells"]) == 1  # its samples are kept
    (claim,) = broken.claims
    assert (claim.verdict, claim.text) == ("not judged", "rtt 10ms was not measured; only one delay was measured, 0 ms")
    assert (broken.directory / "report.html").exists()
    assert run.status([broken]) == 1
    assert not planning.resume(broken.directory).error


def test_one_that_breaks_off_before_its_first_sample_has_a_report_all_the_same(plan):
    (done,) = run.execute([plan], FakePlace(errors=b"OSError: no\n", status=1), lambda name, event: None, go_on=True)
    assert done.cells == ()
    (claim,) = done.claims
    assert (claim.verdict, claim.name) == ("not judged", "4 round trips per operation, within 5 %")
    assert claim.text == "rtt 0ms and rtt 10ms were not measured; no delay was measured"
    assert (plan.directory / "report.html").exists()


def test_a_claim_that_cannot_be_judged_leaves_the_others_judged_and_recorded(plan, monkeypatch):
    monkeypatch.setattr(example, "judged_by", [law("nothing_ms", round_trips=4, within=0.05), *example.judged_by])
    place = FakePlace(samples=[sample(0, 5.0, 0), sample(10, 45.0, 1)])
    with pytest.raises(run.ClaimsError, match="no metric 'nothing_ms'") as caught:
        run.execute([plan], place, lambda name, event: None)
    assert caught.value.directories == [plan.directory]
    for done in (*caught.value.runs, result.load(plan.directory)):
        assert [claim.verdict for claim in done.claims] == [NOT_JUDGED, SUPPORTED]
    assert "no metric 'nothing_ms'" in done.claims[0].text
    (done,) = run.execute([plan], place, lambda name, event: None, go_on=True)
    assert "no metric 'nothing_ms'" in done.facts["error"]
    assert [claim.verdict for claim in done.claims] == [NOT_JUDGED, SUPPORTED]
    assert run.status([done]) == 1


def test_what_an_experiment_prints_is_no_event(plan, capsys):
    place, seen = FakePlace(samples=[sample(0, 5.0, 0), sample(10, 45.0, 1)]), []
    place.printed = b"hello\n[1, 2]\n"
    run.execute([plan], place, lambda name, event: seen.append(event["event"]))
    assert seen == ["sample", "sample", "end"]
    assert capsys.readouterr().err == "hello\n[1, 2]\n"


def events(*names, samples=()):
    """The output of a boot that says so: samples by their index, and events by their names."""
    of = {"sample": lambda each: line("sample", index=each["index"], sample=each)}
    said = [line("cell", index=0, cell={"rtt": "0ms"}), *map(of["sample"], samples)]
    return b"".join([*said, *(line(name, virtual_s=1.0) for name in names)])


BOTH = [sample(0, 5.0, 0), sample(10, 45.0, 1)]
FORGED = "the lab sent an invalid event"
ENDINGS = {
    "status 0 and one of two": (events("end", samples=BOTH[:1]), 0, "example ended with 1 of 2 measurements in cell rtt 0ms, "),
    "status 0 and no end": (events(samples=BOTH), 0, "example ended with 2 of 2 measurements in cell rtt 0ms, "),
    "status 0 and nothing": (b"", 0, "example ended with 0 of 2 measurements, "),
    "status 3": (events("end", samples=BOTH), 3, "example failed: status 3"),
    "killed": (events(samples=BOTH[:1]), -9, "example was killed by signal 9 (Killed) in cell rtt 0ms: its samples so far are"),
    "twice the same": (events("end", samples=[BOTH[0], *BOTH]), 0, f"{FORGED}: a second 'sample' of 0: "),
    "one that is not asked for": (events("end", samples=[sample(0, 5.0, 7)]), 0, f"{FORGED}: 'sample'."),
    "no index": (line("sample", sample={}), 0, f"{FORGED}: 'sample'"),
    "no sample": (line("sample", index=0), 0, f"{FORGED}: 'sample'"),
    "wrong types": (events(samples=[{**BOTH[0], "metrics": 7}]), 0, f"{FORGED}: 'sample'.sample.metrics"),
}  # fmt: skip


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_boot_that_did_not_measure_all_is_no_run(plan, ending):
    output, status, why = ENDINGS[ending]
    with pytest.raises(SlownetError) as error:
        run.execute([plan], FakePlace(output, status=status), lambda name, event: None)
    assert error.value.line.startswith(why)


def test_a_place_cannot_say_which_cell_it_measured(plan):
    forged = BOTH[1] | {"cell": {"rtt": "7ms"}, "experiment": "another", "lab": 5, "boot": 9, "block": 9}
    (done,) = run.execute([plan], FakePlace(samples=[BOTH[0], forged]), lambda name, event: None)
    assert [cell.label for cell in done.cells] == [{"rtt": "0ms"}, {"rtt": "10ms"}]
    own = done.cells[1].samples[0]
    assert (own["experiment"], own["lab"], own["boot"], own["block"]) == ("example", 1, 1, 1)


def test_only_a_run_can_be_continued(tmp_path, plan):
    assert planning.resume(plan.directory).cells == plan.cells
    with pytest.raises(ExperimentError, match=r"not a run that can be resumed: name a directory with the run\.json of a run$"):
        planning.resume(tmp_path)
    (tmp_path / "sweep.json").write_text("{}")
    with pytest.raises(ExperimentError, match=r"resumed: write slownet sweep, or slownet hunt, --out \S+ --resume$"):
        planning.resume(tmp_path)


def test_a_run_that_is_being_measured_is_not_resumed_besides(plan):
    """Both would append to the same samples, and what one is just writing is damage to the other."""
    refused = []

    def follow(name, event):
        with pytest.raises(ExperimentError, match=r"^another process is measuring in \S+: wait until it has ended, or end it$"):
            planning.resume(plan.directory)
        refused.append(event)

    run.execute([plan], FakePlace(samples=BOTH), follow)
    assert refused
    assert planning.resume(plan.directory).cells == plan.cells


def test_tdf_as_records_hold_it():
    assert [Clock("real").tdf_json, Clock("virtual", 4).tdf_json, Clock("virtual", INF).tdf_json] == [None, 4, "inf"]


def test_an_experiment_may_state_its_clock_where_the_caller_does_not():
    lab = Place(Clock("virtual", 4), {}, parts=SimpleNamespace())
    assert lab.on("inf").clock == Clock("virtual", INF)
    assert lab.on("inf")._running is lab._running  # so that signals reach it too
    assert lab.on(None) is lab
    assert lab.on("auto") is lab
    assert Place(Clock("virtual", 4), {}, parts=SimpleNamespace(), clock_is_asked_for=True).on("inf").clock.tdf == 4
    assert Place(Clock("real"), {}).on("inf").clock == Clock("real")  # natively there is no other clock


def test_a_claim_about_cells_that_were_not_measured_is_told_and_is_status_1(tmp_path, monkeypatch):
    monkeypatch.setattr(planning, "find", lambda name: example)
    monkeypatch.setattr(example, "judged_by", [*example.judged_by, bound("time_per_request_ms", at_most=60)])
    each = planning.plan("example", FakePlace(), tmp_path, {"rtt": ["25ms"]})
    (done,) = run.execute([each], FakePlace(samples=[sample(25, 50.0, 0)]), lambda name, event: None)
    assert [claim.verdict for claim in done.claims] == [NOT_JUDGED, SUPPORTED]
    assert done.claims[0].text == "rtt 0ms and rtt 10ms were not measured; only one delay was measured, 25 ms"
    assert run.status([done]) == 1
    record = json.loads((each.directory / "run.json").read_text())
    assert [claim["verdict"] for claim in record["claims"]] == ["not judged", "supported"]
    assert [claim.verdict for claim in result.load(each.directory).claims] == [NOT_JUDGED, SUPPORTED]
    page = (each.directory / "report.html").read_text()
    assert '<span class="verdict not-judged">not judged</span>' in page
    assert "A claim is not judged if its cells were not measured." in page
    shown = io.StringIO()
    Console(file=shown, width=160).print(show(done))
    said = "A request costs four round trips (within 5 %): rtt 0ms and rtt 10ms were not measured"
    assert f"not judged   {said}" in shown.getvalue()
    assert verdicts_counted(done.claims) == "1 of 2 claims supported, 1 not judged"
    assert verdicts_counted([]) == "no claims"
    counted = tally(done)
    assert (counted.supported, counted.claims, counted.not_judged) == (1, 2, 1)


def test_the_claims_of_an_experiment_share_their_error(tmp_path, monkeypatch):
    """Each claim alone would be refuted; of ten such claims together none is, because each needs more confidence."""
    monkeypatch.setattr(planning, "find", lambda name: example)
    ten = [bound("time_per_request_ms", {"rtt": "10ms"}, at_most=44.3 - at / 1e6) for at in range(10)]
    times = [sample(0, 5.0, 0), sample(10, 45.0, 1)]
    times[1]["metrics"]["time_per_request_ms"]["sd"] = 2.3  # t with 99 degrees of freedom is 3.04 at 0.3 %

    def judged(claims):
        monkeypatch.setattr(example, "judged_by", claims)
        each = planning.plan("example", FakePlace(), tmp_path, {}, Rule(repeat=1))
        (done,) = run.execute([each], FakePlace(samples=times), lambda name, event: None)
        return {claim.verdict for claim in done.claims}

    assert judged(ten[:1]) == {REFUTED}
    assert judged(ten) == {INCONCLUSIVE}


def test_files_of_a_sample_are_named_as_on_this_machine(plan):
    """On the exact clock the lab does not know its number."""
    told = []
    job = Job([(0, 1, {"rtt": "0ms"})], lab=2)
    names = dict(zip(replace(job, lab=1).folders(), job.folders(), strict=True))
    check = BootCheck(plan.folder, job, told.append, "/opt/slownet/run", names)
    files = {"raw": ["raw/000-ping.txt", "../raw/x", "raw"], "captures": [{"file": "captures/000-a.pcap"}, {}]}
    check.take({"event": "sample", "index": 0, "sample": sample(0, 5.0, 0) | files})
    assert told[0]["sample"]["raw"] == ["raw-2/000-ping.txt", "../raw/x", "raw-2"]
    assert [each["file"] for each in told[0]["sample"]["captures"]] == ["captures-2/000-a.pcap", ""]
