"""`make trust`: its figures for invented runs, and how it continues after an interrupt."""

import importlib
import json
import math
import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from slownet.comparison import row
from slownet.theory.stats import Summary

FOLDER = Path(__file__).parents[2]
MODULES = ("__main__", "aa", "coverage", "digits", "exact", "figures", "power", "simulated", "steps", "t0", "verdicts")


@pytest.fixture
def trust(monkeypatch):
    """The package's modules, as attributes."""
    monkeypatch.syspath_prepend(FOLDER)

    class Trust:
        main = importlib.import_module("trust.__main__")

    for name in MODULES[1:]:
        setattr(Trust, name, importlib.import_module(f"trust.{name}"))
    return Trust


@pytest.fixture
def options(trust, tmp_path):
    return trust.steps.Options(tmp_path, rounds=2, experiments=(), processors=0)


def log_of(trust, records):
    return trust.steps.Log(Path("nowhere"), list(records))


def claim(verdict, measured=1.0, **parameters):
    numbers = {"measured": measured, "low": 0.9, "high": 1.1, "expected": 1.0, "margin": [0.95, None]}
    return {"verdict": verdict, **numbers, "parameters": parameters}


def run(claims, failed="", wall_s=5.0, cells=(), directory="."):
    return {"claims": claims, "failed": failed, "wall_s": wall_s, "cells": list(cells), "single": [], "directory": directory}


def reproduced(beside, number, seconds=100.0, **experiments):
    return {
        "section": "verdicts", "name": beside, "number": number, "beside": beside, "seconds": seconds, "all": True,
        "others": 0.1, "experiments": experiments,
    }  # fmt: skip


def figures(report):
    return {each.what: (each.measured, each.met) for each in report.figures}


class TestVerdicts:
    def records(self):
        good, open_ = claim("supported"), claim("inconclusive", 0.123456)
        return [
            reproduced("alone", 1, 100, oltp=run({"a": good, "b": good}), download=run({"c": good})),
            reproduced("beside hogs", 1, 400, oltp=run({"a": good, "b": open_}), download=run({"c": good})),
            reproduced("alone", 2, 310, oltp=run({"a": good, "b": good}), download=run({}, failed="no boot", wall_s=7)),
            reproduced("beside hogs", 2, 420, oltp=run({"a": good, "b": claim("refuted")}), download=run({"c": good})),
        ]

    def test_they_are_counted_by_experiment_and_surroundings(self, trust):
        records = self.records()
        assert trust.verdicts.verdicts(records, "oltp", "alone") == {"supported": 4}
        assert trust.verdicts.verdicts(records, "oltp", "beside hogs") == {"supported": 2, "inconclusive": 1, "refuted": 1}

    def test_a_claim_that_a_run_lacks_is_not_judged(self, trust):
        assert trust.verdicts.verdicts(self.records(), "download", "alone") == {"supported": 1, "not judged": 1}

    def test_claims_that_change_are_shown_with_their_numbers(self, trust, options):
        assert trust.verdicts.unlike(self.records(), "oltp") == ["b"]
        lines = trust.verdicts.report(log_of(trust, self.records()), options).lines
        assert "oltp: b" in lines
        assert "    alone 2: supported, 1 (0.9 to 1.1), expected 1, margin 0.95 to -" in lines
        assert "    beside hogs 1: inconclusive, 0.1235 (0.9 to 1.1), expected 1, margin 0.95 to -" in lines
        assert "    alone 2: not judged" in lines
        assert "download failed alone 2: no boot" in lines
        assert lines[1].split() == ["oltp", "4/0/0/0", "2/1/1/0", "1", "5", "5"]

    def test_the_figures(self, trust, options):
        assert figures(trust.verdicts.report(log_of(trust, self.records()), options)) == {
            "claims refuted in any run": ("1", False),
            "claims whose verdict was not the same in all runs": ("2 of 3", False),
            "runs alone with every claim supported": ("1 of 2", False),
            "reproduce alone, longest of 2": ("310 s", False),
            "    median": ("410 s", None),
            "runs beside hogs with every claim supported": ("0 of 2", False),
            "reproduce beside hogs, longest of 2": ("420 s", None),
            "processors used by other programs, maximum of 2 steps alone": ("0.10", None),
        }

    def test_what_is_always_the_same_is_as_wanted(self, trust, options):
        good = {"a": claim("supported")}
        records = [reproduced(beside, number, oltp=run(good)) for beside in ("alone", "beside hogs") for number in (1, 2)]
        report = trust.verdicts.report(log_of(trust, records), options)
        assert report.missed == 0
        assert sum(met is True for _, met in figures(report).values()) == 5

    def test_what_the_command_prints_is_kept(self, trust, tmp_path):
        directory = tmp_path / "run"
        directory.mkdir()
        metrics = {"time_ms": {"mean": 5.0, "sd": 1.0, "n": 9}, "p99_ms": {"mean": 8.0, "sd": None, "n": 9}}
        sample = {"cell": {"rtt": "0ms"}, "index": 0, "status": "ok", "metrics": metrics}
        (directory / "samples.jsonl").write_text(json.dumps(sample) + "\n")
        cell = {"condition": {"rtt_ms": 0.0}, "metrics": {"time_ms": {"mean": 5.0}}, "repetitions": 1, "counters": {}}
        claims = [{"name": "a", "text": "long", **claim("supported")}, {"name": "b", **claim("refuted")}]
        shown = {
            "experiment": "oltp",
            "directory": str(directory),
            "clock": "virtual",
            "tdf": 1,
            "cells": [cell],
            "claims": claims,
        }
        end = {"experiment": "oltp", "wall_s": 3.5, "error": "", "failed": ["rtt 0ms: no page"]}
        found = trust.verdicts.summary({"runs": [shown], "reproduction": {"experiments": [end]}})
        assert found["said"] == "1 supported, 1 refuted; failed: oltp"
        kept = found["experiments"]["oltp"]
        assert kept["single"] == ["p99_ms"]
        assert kept["claims"] == {"a": claim("supported"), "b": claim("refuted")}
        assert kept["cells"] == [{name: cell[name] for name in ("condition", "metrics", "repetitions")}]
        assert (kept["wall_s"], kept["failed"]) == (3.5, "rtt 0ms: no page")


def boot(way, beside, number, seconds, *times):
    boots = [{"times": {"0": t0, "10": t0 + 40}, "directory": f"/{way}-{beside}-{number}"} for t0 in times]
    return {
        "section": "t0", "name": f"{way} {beside}", "number": number, "way": way, "beside": beside, "seconds": seconds,
        "boots": boots, "others": 0.0,
    }  # fmt: skip


class TestT0:
    def records(self):
        dear = ((19, 23.0), (22, 23.01), (40, 23.02))
        return [
            *(boot("time", "alone", number, 10, t0) for number, t0 in enumerate((20.0, 24.0, 28.0), 1)),
            *(boot("time", "beside hogs", number, 15, t0) for number, t0 in enumerate((30.0, 31.0, 32.0), 1)),
            *(boot("work", "alone", number, took, t0) for number, (took, t0) in enumerate(dear, 1)),
            *(boot("work", "beside hogs", number, 30, t0) for number, t0 in enumerate((23.1, 23.11, 23.12), 1)),
            boot("work", "two labs", 1, 25, 23.5, 23.6),
        ]  # fmt: skip

    def test_deviations_changes_and_prices(self, trust):
        records = self.records()
        assert trust.t0.relative_sd([20.0, 24.0, 28.0]) == pytest.approx(4 / 24)
        assert trust.t0.at(records, "work", "0", "two labs") == [23.5, 23.6]
        changed = trust.t0.change(records, "time", "beside hogs")
        assert changed.part == pytest.approx(31 / 24 - 1)
        assert changed.error == pytest.approx(31 / 24 * math.sqrt((4 / 24) ** 2 / 3 + (1 / 31) ** 2 / 3))
        assert trust.t0.price(records, "work") == pytest.approx(2.2)
        largest, delay = trust.t0.largest_change(records, "work", "two labs")
        assert (largest.part, delay) == (pytest.approx(23.55 / 23.01 - 1), "0")
        assert trust.t0.change(records, "time", "two labs") is None

    def test_the_figures(self, trust, options):
        found = figures(trust.t0.report(log_of(trust, self.records()), options))
        assert found["work: sd of T0 over 6 boots, beside hogs or not"] == ("0.24%", True)
        assert found["work: mean T0 beside hogs"] == ("+0.43% ± 0.04%", True)
        assert found["work: two labs, largest change (at 0 ms)"] == ("+2.35% ± 0.22%", False)
        assert found["time: mean T0 beside hogs"] == ("+29.17% ± 12.66%", None)
        assert found["a way with sd under 1.0% at 1.5 times the wall time or less"] == ("none", False)
        assert found["a way with sd under 0.3% at 2.5 times the wall time or less"] == ("work", True)

    @pytest.mark.parametrize(
        ("part", "error", "met"), [(0.009, 0.002, True), (0.009, 0.03, None), (-0.011, 0.002, False), (0.011, math.inf, False)]
    )
    def test_what_is_the_same_by_luck_is_not_judged(self, trust, part, error, met):
        assert trust.t0.Change(part, error).met is met

    def test_a_way_that_was_refused_is_not_asked_for_again(self, trust, options, monkeypatch):
        monkeypatch.setattr(trust.t0, "ways", lambda: ("time", "work"))
        log = log_of(trust, [{"section": "t0", "name": "work alone", "number": 1, "refused": "no counter here"}])
        names = [step.name for step in trust.t0.steps(options, log)]
        assert Counter(names) == {f"time {beside}": 2 for beside in ("alone", "beside hogs", "two labs")}
        assert trust.t0.report(log, options).lines == ["work alone: no counter here"]

    def test_ways_take_turns(self, trust, options, monkeypatch):
        monkeypatch.setattr(trust.t0, "ways", lambda: ("time", "work"))
        steps = list(trust.t0.steps(options, log_of(trust, [])))
        assert [f"{step.name} {step.number}" for step in steps][:5] == [
            "time alone 1", "work alone 1", "time beside hogs 1", "work beside hogs 1", "time two labs 1",
        ]  # fmt: skip
        assert len({step.key for step in steps}) == len(steps) == 12


def interval(trust, number, mean, half):
    return trust.coverage.Interval(number, mean, mean - half, mean + half)


class TestCoverage:
    @pytest.mark.parametrize("runs", [2, 4, 20])
    def test_honest_intervals_hold_the_mean_in_95_of_100(self, trust, runs):
        """With few runs, intervals of 1.96 known standard deviations on either side still have the stated coverage."""
        draw, found = random.Random(1), trust.coverage.Hits()
        for _ in range(20_000 // runs):
            means = [draw.gauss(100, 5) for _ in range(runs)]
            found += trust.coverage.covered([interval(trust, number, mean, 1.96 * 5) for number, mean in enumerate(means)])
        assert found.part.mean == pytest.approx(0.95, abs=0.008)

    def test_it_is_leaving_the_run_out(self, trust):
        """Of 0, 0 and 3, the last deviates by 3 from the others' mean, which is scaled by sqrt(2/3) to 2.449."""
        means = (0.0, 0.0, 3.0)
        for half, last in ((2.45, 1), (2.44, 0)):
            found = trust.coverage.covered([interval(trust, number, mean, half) for number, mean in enumerate(means)])
            assert found.by_run == {0: (1, 1), 1: (1, 1), 2: (last, 1)}

    def test_what_is_the_same_in_all_runs_does_not_count(self, trust):
        found = trust.coverage.covered([interval(trust, number, 5.0, 0.0) for number in range(3)])
        assert (found.n, found.same, found.met, str(found)) == (0, 1, None, "- (1 the same)")

    def test_an_interval_without_width_holds_nothing_that_varies(self, trust):
        found = trust.coverage.covered([interval(trust, number, mean, 0.0) for number, mean in enumerate((1.0, 2.0, 5.0))])
        assert found.by_run == {0: (0, 1), 1: (0, 1), 2: (0, 1)}

    def test_one_run_says_nothing(self, trust):
        assert trust.coverage.covered([interval(trust, 1, 5.0, 1.0)]) == trust.coverage.Hits()

    def test_intervals_that_miss_together_are_worth_less(self, trust):
        apart = trust.coverage.Hits(dict.fromkeys(range(10), (9, 10)))
        together = trust.coverage.Hits({number: (10 * (number > 0), 10) for number in range(10)})
        assert apart.part.mean == together.part.mean == 0.9
        assert apart.worth == 100
        assert together.worth == pytest.approx(9)
        assert together.part.low < apart.part.low < apart.part.high < together.part.high

    def test_all_or_none_are_worth_as_many_as_runs(self, trust):
        assert trust.coverage.Hits(dict.fromkeys(range(5), (8, 8))).worth == 5
        assert trust.coverage.Hits(dict.fromkeys(range(5), (0, 8))).worth == 5

    @pytest.mark.parametrize(("hits", "met"), [(95, True), (22, False), (89, None), (100, None), (80, False)])
    def test_what_is_wanted(self, trust, hits, met):
        ones = [1] * hits + [0] * (100 - hits)
        by_run = {number: (sum(ones[number::10]), 10) for number in range(10)}
        assert trust.coverage.Hits(by_run).met is met

    def runs(self, *rows):
        """Return runs of one cell each, with a mean and a percentile."""
        for number, (condition, mean) in enumerate(rows):
            numbers = {"mean": mean, "low": mean - 1, "high": mean + 1}
            metrics = {"time_ms": numbers, "p99_ms": numbers, "max_ms": {"mean": 3.0, "low": None, "high": None}}
            yield number, "oltp", {"cells": [{"condition": condition, "metrics": metrics}], "single": ["p99_ms"]}

    def test_means_and_single_numbers_are_apart_and_unknown_intervals_left_out(self, trust):
        found = trust.coverage.hits(self.runs(({"rtt_ms": 1.0}, 1.0), ({"rtt_ms": 1.0}, 1.5), ({"rtt_ms": 2.0}, 9.0)))
        assert {kind: each.n for kind, each in found.items()} == {("oltp", "means"): 2, ("oltp", "single numbers"): 2}

    def test_cells_are_the_same_but_for_their_seeds(self, trust):
        found = trust.coverage.intervals(self.runs(({"loss": 1.0, "seed": 1100}, 1.0), ({"loss": 1.0, "seed": 1200}, 1.5)))
        assert [len(cell) for cell in found["oltp", "means"]] == [2]

    def test_every_source_has_a_column(self, trust, options):
        cell = {"condition": {"rtt_ms": 0.0}, "metrics": {"time_ms": {"mean": 5.0, "low": 4.0, "high": 6.0}}}
        records = [
            reproduced(beside, number, oltp=run({}, cells=[cell])) for number in (1, 2) for beside in ("alone", "beside hogs")
        ]
        report = trust.coverage.report(log_of(trust, records), options)
        assert report.lines[0].split("  ")[-1].strip() == "alone or beside hogs"
        assert report.lines[1].count("(1 the same)") == 3

    def test_experiments_with_seeds_are_run_with_others(self, trust, options, monkeypatch):
        asked = []

        def slownet(words):
            asked.append(words)
            return [(1.0, {"runs": [{"experiment": "x", "directory": "/nowhere", "cells": [], "claims": []}]})]

        monkeypatch.setattr(trust.coverage, "slownet", slownet)
        steps = [step for step in trust.coverage.steps(options, log_of(trust, [])) if step.name == "download"]
        assert [step.measure()["said"] for step in steps] == ["seed 1100", "seed 1200"]
        file = asked[1][1]
        from slownet.hypotheses.catalogue import find

        found = find(str(file))
        assert (found.name, found.judged_by) == ("download", [])
        assert {cell["seed"] for cell in found.cells()} == {"1200"}
        assert find("download").judged_by


class TestAA:
    def test_pairs(self, trust):
        records = [
            reproduced(beside, number, oltp=run({}, directory=f"{beside[0]}{number}"))
            for number in (1, 2, 3) for beside in ("alone", "beside hogs")
        ]  # fmt: skip
        found = {(str(one), str(other)) for _, one, other in trust.aa.pairs(records)}
        assert found == {("a1", "a2"), ("a2", "a3"), ("b1", "b2"), ("b2", "b3"), ("a1", "b1"), ("a2", "b2"), ("a3", "b3")}

    def test_rows_that_differ_are_counted_and_shown(self, trust, options, monkeypatch):
        def compare(one, other, within):
            same, more = Summary(5.0, 4.9, 5.1, 100), Summary(6.0, 5.9, 6.1, 100)
            found = [row.compared("rtt 0ms", "time_ms", same, more if (one, other) == wrong else same, within)]
            return type("Comparison", (), {"rows": found})

        wrong = Path("/work-alone-1"), Path("/work-alone-2")
        monkeypatch.setattr(trust.aa, "compare", compare)
        boots = [boot("work", beside, number, 9, 23.0) for number in (1, 2) for beside in ("alone", "beside hogs")]
        runs = [reproduced("alone", number, oltp=run({})) for number in (1, 2)]
        report = trust.aa.report(log_of(trust, [*runs, *boots]), options)
        assert figures(report) == {
            "rows that differ, A against A": ("0 of 1", True),
            "rows that differ, A against A, one boot, work": ("1 of 4", False),
        }
        assert report.lines[-1].startswith("client_delay, one boot, work: rtt 0ms time_ms differs: 5 (4.86")

    def test_runs_that_are_gone_are_said(self, trust, options, tmp_path):
        records = [reproduced("alone", number, oltp=run({}, directory=str(tmp_path / str(number)))) for number in (1, 2)]
        (line,) = trust.aa.report(log_of(trust, records), options).lines
        assert line.startswith("oltp: no run here")


class TestPower:
    def record(self, trust, more, same, took, cpu="work"):
        claims = {
            f"{what} {change}": claim(verdict, at={"what": what, "change": change}, of={"what": what, "change": "none"})
            for what in trust.power.CHANGES for change, verdict in (("more", more), ("same", same))
        }  # fmt: skip
        cells = [
            {"condition": {"what": what, "change": change}, "metrics": {trust.power.PAGE: {"mean": mean}}, "repetitions": 3}
            for what in trust.power.CHANGES for change, mean in zip(("none", "same", "more"), took, strict=True)
        ]  # fmt: skip
        kept = {"claims": claims, "cells": cells, "directory": "/nowhere", "cpu": cpu}
        return {"section": "power", "name": "changes", "number": 1, **kept}

    def test_what_was_found(self, trust, options):
        records = [
            self.record(trust, "refuted", "supported", (100, 100, 101)),
            self.record(trust, "inconclusive", "refuted", (100, 100, 102)),
        ]
        report = trust.power.report(log_of(trust, records), options)
        assert report.lines[1].split("  ")[0] == "one query more"
        assert report.lines[1].split()[-4:] == ["+1.50", "0.71", "1/1/0", "3.0"]
        assert figures(report)["1 % more CPU work: found by a claim"] == ("1 of 2", False)
        assert figures(report)["    the same again, found to differ"] == ("1 of 2", False)

    def test_work_is_to_be_found_where_work_is_charged(self, trust, options, tmp_path):
        records = [self.record(trust, "inconclusive", "supported", (100, 100, 101), cpu="time")]
        found = figures(trust.power.report(log_of(trust, records), options))
        assert found["1 % more CPU work: found by a claim"] == ("0 of 1", None)
        assert found["one query more: found by a claim"] == ("0 of 1", False)
        for facts, cpu in (({}, "time"), ({"cpu": "work"}, "work")):
            (tmp_path / "run.json").write_text(json.dumps(facts))
            assert trust.power.charged(tmp_path) == cpu

    def test_the_claims_are_those_of_its_experiment(self, trust):
        from slownet.hypotheses.catalogue import find
        from slownet.judge.records.result import gather

        experiment = find(str(trust.power.FILE))
        samples = [
            {
                "cell": cell,
                "condition": dict(cell),
                "status": "ok",
                "metrics": {trust.power.PAGE: {"mean": 5.0, "sd": 1.0, "n": 9}},
            }
            for cell in experiment.cells()
        ]
        judged = [each.judge(gather(samples, {"clock": "virtual", "tdf": "inf"})) for each in experiment.judged_by]
        record = {"claims": {each.name: each.to_json() for each in judged}}
        verdicts = {trust.power.verdict(record, what, change) for what in trust.power.CHANGES for change in ("same", "more")}
        assert len(judged) == 6
        assert "not judged" not in verdicts
        assert {each.within for each in experiment.judged_by} == set(trust.power.MARGINS.values())


def of_a_part(runs, seed):
    return {"seeds": seed, "runs": runs}


class TestSimulated:
    def test_every_case_is_a_step(self, trust, options):
        from trust import rates

        steps = list(trust.simulated.steps(options, log_of(trust, [])))
        assert len(steps) == len({step.key for step in steps}) == len(rates.CASES) * len(rates.NOISES) + len(rates.BENDS)

    def test_a_step_counts_wrong_verdicts(self, trust, tmp_path):
        options = trust.steps.Options(tmp_path, simulated=3)
        step = next(each for each in trust.simulated.steps(options, log_of(trust, [])) if each.name == "ratio, calm")
        found = step.take()
        assert found.items() >= {"refuted": 0.0, "supported": 0.0, "margin": 0.0, "runs": 3, "name": "ratio, calm"}.items()
        assert found["said"].endswith("0.0% decide on the margin")

    def test_the_runs_of_a_case_are_divided(self, trust):
        found = trust.simulated.in_parts(of_a_part, 100)
        assert found == {"seeds": sum(seed * len(range(seed - 1, 100, 8)) for seed in range(1, 9)) / 100, "runs": 12.52}

    def test_the_worst_case_counts(self, trust, options):
        records = [
            {"section": "simulated", "name": name, "runs": 1000, "refuted": refuted, "supported": supported, **more}
            for name, refuted, supported, more in (
                ("law, calm", 0.001, 0.002, {"margin": 0.009}),
                ("equal, rough", 0.003, 0.03, {"margin": 0.012}),
                ("law, bent", 0.0, 0.0, {}),
            )
        ]
        report = trust.simulated.report(log_of(trust, records), options)
        assert figures(report) == {
            "wrong verdicts, the worst case (equal, rough)": ("3.0%", False),
            "verdicts on the margin, the worst case (equal, rough)": ("1.2%", None),
        }
        assert figures(trust.simulated.report(log_of(trust, records[:1]), options)) == {
            "wrong verdicts, the worst case (law, calm)": ("0.2%", True),
            "verdicts on the margin, the worst case (law, calm)": ("0.9%", True),
        }
        assert trust.simulated.report(log_of(trust, []), options).figures == ()


class TestSteps:
    def test_records_are_read_again_without_what_a_kill_cut_short(self, trust, tmp_path):
        path = tmp_path / "kept" / "steps.jsonl"
        log = trust.steps.Log.read(path)
        log.append({"section": "t0", "name": "a", "number": 1})
        with open(path, "a") as file:
            file.write('{"section": "t0", "na')
        again = trust.steps.Log.read(path)
        again.append({"section": "t0", "name": "a", "number": 2})
        assert [each["number"] for each in trust.steps.Log.read(path).records] == [1, 2]

    @pytest.mark.parametrize(
        ("script", "found"),
        [
            ("echo '{\"a\": 1}'; exit 1", {"said": "1"}),
            ("echo 'slownet: a warning' >&2; echo 'slownet: no counter' >&2; exit 2", {"refused": "no counter"}),
            ("echo 'Broken' >&2; exit 3", {"failed": "exit status 3: Broken"}),
            ("exit 0", {"failed": "exit status 0: it printed nothing"}),
        ],
    )
    def test_how_commands_end(self, trust, tmp_path, monkeypatch, script, found):
        monkeypatch.setattr(trust.steps, "SLOWNET", command(tmp_path, script))
        step = trust.steps.Step("t0", "a", 1, lambda: {"said": str(trust.steps.slownet(["run"])[0][1]["a"])})
        assert step.take().items() >= found.items()

    def test_commands_run_side_by_side(self, trust, tmp_path, monkeypatch):
        """Commands that each wait for the other's file."""
        script = f'touch {tmp_path}/$1; until [ -e {tmp_path}/$2 ]; do sleep 0.01; done; echo "[$1]"'
        monkeypatch.setattr(trust.steps, "SLOWNET", command(tmp_path, script))
        found = trust.steps.slownet([1, 2], [2, 1])
        assert [each for _, each in found] == [[1], [2]]

    def test_one_that_never_ends_is_ended(self, trust, tmp_path, monkeypatch):
        monkeypatch.setattr(trust.steps, "SLOWNET", command(tmp_path, f"echo $$ > {tmp_path}/pid; exec sleep 600"))
        monkeypatch.setattr(trust.steps, "PATIENCE_S", 0.5)
        with pytest.raises(trust.steps.CommandError, match="slownet run did not end within"):
            trust.steps.slownet(["run"])
        assert not Path("/proc", (tmp_path / "pid").read_text().strip()).exists()

    def test_the_work_of_others_is_what_is_not_ours(self, trust, tmp_path):
        """Clock ticks of the whole machine: user, nice, system, idle, waiting, two of interrupts, stolen, guests."""
        stat = tmp_path / "stat"
        stat.write_text("cpu  300000 100000 100000 5000 50 700 300 2000 7 7\ncpu0 1 1 1 1 1 1 1 1 1 1\n")
        before, began = trust.steps.others_cpu_s(stat), own_cpu_s()
        while own_cpu_s() < began + 0.2:
            pass
        subprocess.run([sys.executable, "-c", "import time\nwhile time.process_time() < 0.2: pass"], check=True)
        ours = own_cpu_s()
        assert trust.steps.others_cpu_s(stat) == pytest.approx(503_000 / os.sysconf("SC_CLK_TCK") - ours, abs=0.05)
        assert ours - began > 0.35
        assert before - trust.steps.others_cpu_s(stat) == pytest.approx(ours - began, abs=0.05)


def own_cpu_s():
    return sum(os.times()[:4])


def command(folder, script):
    path = folder / "slownet"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


class TestMain:
    @pytest.fixture
    def section(self, trust, monkeypatch):
        """A section with one step per round; the third one fails."""

        class Section:
            SECTION, interrupted = "made-up", False

            @staticmethod
            def steps(options, log):
                for number in range(1, options.rounds + 1):
                    yield trust.steps.Step("made-up", "step", number, lambda number=number: Section.found(number))

            @staticmethod
            def found(number):
                if number == 2 and Section.interrupted:
                    raise KeyboardInterrupt
                if number == 3:
                    raise trust.steps.CommandError("no boot")
                return {"said": f"said {number}"}

            @staticmethod
            def report(log, options):
                good = len(log.of("made-up"))
                return trust.figures.Report(["a table"], [trust.figures.Figure("good steps", str(good), "some", good > 0)])

        monkeypatch.setattr(trust.main, "SECTIONS", {"made-up": Section})
        monkeypatch.setattr(trust.main.signal, "signal", lambda number, handler: None)
        monkeypatch.setattr(trust.main.soak, "tree", lambda: "")
        return Section

    def start(self, trust, tmp_path, rounds):
        return trust.main.main(["--rounds", str(rounds), "--keep", str(tmp_path / "kept"), "made-up"])

    def test_it_goes_on_where_it_was_interrupted(self, trust, section, tmp_path, capsys):
        section.interrupted = True
        assert self.start(trust, tmp_path, 2) == 130
        first = capsys.readouterr().out
        assert "step 1 (0 s): said 1\n" in first
        assert "interrupted\n\nmade-up\n  a table\n  good steps" in first
        section.interrupted = False
        assert self.start(trust, tmp_path, 2) == 0
        second = capsys.readouterr().out
        assert "step 1 (" not in second
        assert "step 2 (0 s): said 2\n" in second
        assert second.endswith("1 of 1 figures meet their target\n")

    def test_a_step_that_fails_counts_for_good(self, trust, section, tmp_path, capsys):
        for expected in ("FAILED: no boot\n", "FAILED: step 3: no boot\n"):
            assert self.start(trust, tmp_path, 3) == 1
            said = capsys.readouterr().out
            assert expected in said
            assert said.endswith("1 of 2 figures meet their target\n")

    def test_a_step_in_which_the_files_changed_does_not_count(self, trust, section, tmp_path, capsys, monkeypatch):
        trees = iter(["a", "a", "a", "b"])
        monkeypatch.setattr(trust.main.soak, "tree", lambda: next(trees))
        assert self.start(trust, tmp_path, 2) == 2
        said = capsys.readouterr()
        assert said.out.count("said") == 1
        assert "files changed during a step, so it does not count" in said.err
        log = trust.steps.Log.read(tmp_path / "kept" / trust.main.STEPS)
        assert [each["number"] for each in log.records] == [1]

    def test_a_section_that_is_not_there(self, trust, capsys):
        with pytest.raises(SystemExit) as ended:
            trust.main.main(["t1"])
        assert ended.value.code == 2
        assert (
            "unknown section t1: choose from verdicts, t0, coverage, aa, power, exact, digits, simulated"
            in capsys.readouterr().err
        )

    def test_its_files_are_all_there_are(self):
        assert {path.stem for path in (FOLDER / "trust").glob("*.py")} == {*MODULES, "__init__", "rates"}


def test_figures_are_printed_as_benchmarks_are(trust):
    Figure = trust.figures.Figure  # noqa: N806
    lines = [str(Figure("time", "5 s", "under 3 s", False)), str(Figure("time", "2 s", "under 3 s", True))]
    assert [line.split("  ")[-1] for line in lines] == ["NOT MET", "under 3 s"]
    assert str(Figure("time", "5 s")) == f"time{'5 s':>80}"
    assert trust.figures.table(("name", "n"), [("a", 10), ("bcd", 9)]) == ["name   n", "a     10", "bcd    9"]
    assert trust.figures.table(("name",), []) == []


def test_hogs_run_beside_only_what_they_should(trust, monkeypatch):
    started = []

    class Hogs:
        def __init__(self, busy, memory):
            started.append((busy, memory))

        def __enter__(self):
            return self

        def __exit__(self, *error):
            started.append("ended")

    monkeypatch.setattr(trust.steps, "hogs", Hogs)
    for name in ("alone", "two labs"):
        with trust.steps.surroundings(name, 2):
            pass
    assert started == []
    with trust.steps.surroundings("beside hogs", 2):
        pass
    assert started == [(2, 1), "ended"]


def a_page(name, took, digest="abc", t0=15.0, number=1):
    found = {"took": took, "digest": digest, "means": [t0, 55.0], "beside": name, "others": 0.0, "seconds": took}
    return {"section": "digits", "name": name, "number": number, **found}


def test_digits_counts_the_runs_that_agree_and_says_how_long_they_took(trust, options):
    records = [a_page("the first", 55.0), a_page("alone", 25.0), a_page("beside hogs", 90.0)]
    records += [a_page("one lab", 50.0, "of two"), a_page("two labs", 25.0, "of two")]
    found = {each.what: each for each in trust.digits.report(log_of(trust, records), options).figures}
    same = found["runs with the same samples to the byte"]
    assert (same.measured, same.met) == ("3 of 3", True)
    assert found["from the command to the table, without a snapshot"].met
    assert found["from the command to the table, from a snapshot"].measured == "25.0 s"
    assert (found["two labs against one"].measured, found["two labs against one"].met) == ("2.00 times", True)


def test_digits_misses_its_targets_for_a_run_that_differs_and_one_that_takes_long(trust, options):
    records = [a_page("alone", 35.0), a_page("alone", 31.0, "other", number=3), a_page("beside hogs", 90.0)]
    report = trust.digits.report(log_of(trust, records), options)
    assert [each.measured for each in report.figures if each.met is False] == ["2 of 3", "33.0 s"]
    assert report.lines[1].split() == ["alone", "35.0,", "31.0", "15.0"]


def test_digits_takes_the_runs_in_turn_with_hogs_and_without(trust, options):
    taken = [each.name for each in trust.digits.steps(options, log_of(trust, []))]
    assert taken == ["the first", "alone", "beside hogs", "one lab", "two labs"]
    assert trust.digits.report(log_of(trust, []), options).figures == ()
