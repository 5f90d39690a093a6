"""What comparisons come to, with numbers chosen for it."""

import json

import pytest

from slownet.cli.app import main
from slownet.comparison import baseline, outcome
from slownet.comparison.compare import compare
from slownet.comparison.row import compared, missing, with_holm
from slownet.comparison.runs import compare_runs
from slownet.judge.records.result import load
from slownet.model.errors import DamageWarning, SlownetError
from slownet.theory.stats import from_moments

SD, N = 0.5, 100


def row(metric, first, second, within=0.05, sd=SD):
    return compared("rtt 10ms", metric, from_moments(first, sd, N), from_moments(second, sd, N), within)


def judged(*rows, how=outcome.versions, within=0.05, cause=""):
    return how(with_holm(rows), within, cause)


@pytest.mark.parametrize(
    ("metric", "direction"),
    [
        *((name, outcome.LOWER) for name in ("time_per_request_ms", "corrected_p99_s", "seconds", "retransmits", "failed")),
        *((name, outcome.HIGHER) for name in ("requests_per_second", "transactions_per_s", "mbit_per_s", "mib_per_s")),
        *((name, None) for name in ("busy_threads", "quick_acks", "queries_per_transaction")),
    ],
)
def test_which_direction_is_better(metric, direction):
    assert outcome.better(metric) == direction


@pytest.mark.parametrize(
    ("rows", "word", "status"),
    [
        ([row("time_ms", 100, 100)], outcome.EQUAL, 0),
        ([row("time_ms", 100, 80)], outcome.BETTER, 0),
        ([row("time_ms", 100, 120)], outcome.WORSE, 1),
        ([row("mbit_per_s", 100, 120)], outcome.BETTER, 0),
        ([row("mbit_per_s", 100, 80)], outcome.WORSE, 1),
        ([row("busy_threads", 100, 80)], outcome.DIFFERENT, 1),
        ([row("time_ms", 100, 103, sd=30)], outcome.OPEN, 3),
        ([row("time_ms", 100, 80), row("mbit_per_s", 100, 80)], outcome.WORSE, 1),
        ([row("time_ms", 100, 80), row("time_ms", 100, 103, sd=30)], outcome.OPEN, 3),
        ([row("time_ms", 100, 120), row("time_ms", 100, 103, sd=30)], outcome.WORSE, 1),
        ([missing("rtt 10ms", "", "failed: no ab")], outcome.OPEN, 3),
        ([], outcome.OPEN, 3),
    ],
)
def test_versions(rows, word, status):
    found = judged(*rows)
    assert (found.word, found.status) == (word, status)


def test_of_two_that_are_written_alike_the_first_is_named():
    """A time and its rate differ by the same factor; which is greater in the seventh digit is chance."""
    found = judged(row("time_per_request_ms", 30.0, 40.0), row("requests_per_second", 100.0, 74.9999))
    assert found.text.startswith("time_per_request_ms 1.33 times")


def test_the_greatest_difference_is_named_and_the_others_counted():
    found = judged(row("a_ms", 100, 120), row("b_ms", 100, 150), row("c_ms", 100, 70))
    assert str(found).startswith("worse: b_ms 1.50 times (")
    assert str(found).endswith(" at rtt 10ms, and 1 more")


def test_what_is_undecided_says_why():
    found = judged(row("time_ms", 100, 100), missing("rtt 10ms", "", "failed: no ab"))
    assert found.text == "1 of 2 comparisons are undecided, such as rtt 10ms (failed: no ab)", "more measurements do not help"


@pytest.mark.parametrize(
    ("rows", "word"),
    [
        ([row("time_ms", 100, 103)], outcome.NO_SLOWER),
        ([row("time_ms", 100, 50)], outcome.NO_SLOWER),
        ([row("mbit_per_s", 100, 200)], outcome.NO_SLOWER),
        ([row("time_ms", 100, 107)], outcome.WORSE),
        ([row("mbit_per_s", 100, 90)], outcome.WORSE),
        ([row("time_ms", 100, 100, sd=30)], outcome.OPEN),
        ([row("time_ms", 100, 60, sd=60)], outcome.NO_SLOWER),
        ([row("time_ms", 100, 100), row("busy_threads", 1, 9)], outcome.NO_SLOWER),
        ([row("busy_threads", 1, 9)], outcome.OPEN),
        ([row("time_ms", 100, 100), missing("rtt 10ms", "", "failed: no ab")], outcome.OPEN),
        ([], outcome.OPEN),
    ],
)
def test_a_gate_fails_only_if_it_is_slower(rows, word):
    assert judged(*rows, how=outcome.gate).word == word


def test_a_site_differs_whichever_is_faster():
    assert judged(row("time_ms", 100, 80), how=outcome.sites).word == outcome.DIFFERENT
    assert judged(row("time_ms", 100, 100), how=outcome.sites).word == outcome.EQUAL


TIMES = (0, 10, 40, 120)


@pytest.mark.parametrize(
    ("trips", "start", "said"),
    [
        (5, 9.0, "one round trip more per operation: k 4.00 to 5.00"),
        (2, 9.0, "2 round trips fewer per operation: k 4.00 to 2.00"),
        (3.4, 9.0, "round trips changed: k 4.00 to 3.40"),
        (4, 29.0, "the round trips did not change (k 4.00 and 4.00), the time without delay did: T0 9.00 to 29.0 ms"),
        (4, 9.0, ""),
    ],
)
def test_what_changed_in_the_law_is_the_cause(made, trips, start, said):
    found = compare_runs(made(), made({rtt: start + trips * rtt for rtt in TIMES}), 0.05)
    assert found.outcome.cause == said
    assert found.to_json()["cause"] == said


def test_round_trips_of_a_wide_interval_are_not_said_to_be_the_same(made):
    found = compare_runs(made(), made({rtt: 1009.0 + 4 * rtt for rtt in TIMES}, sd=300.0), 0.05)
    said = "the time without delay changed: T0 9.00 to 1010 ms; whether the round trips did is open (k 4.00 and 4.00)"
    assert found.outcome.cause == said


def test_runs_without_a_law_have_no_cause(made):
    found = compare_runs(made({10: 49.0}), made({10: 99.0}), 0.05)
    assert (found.outcome.word, found.outcome.cause) == (outcome.WORSE, "")


COUNTED = {"clock": "exact", "tdf": 1, "machine": {"instructions_per_ns": 1}}
ORDERED = {"mean": 18.0, "sd": 25.3, "n": 100, "ordered": True, "values": [*[90.0] * 10, *[10.0, 10.2] * 45]}


def written(folder, times, facts=None, **more):
    folder.mkdir()
    samples = [
        {"experiment": "mine", "cell": {"rtt": f"{rtt}ms"}, "condition": {"rtt_ms": rtt}, "index": at, "status": "ok"}
        | {"metrics": {"time_ms": {"mean": time, "sd": 0.02, "n": 4, "values": [time - 0.02, time + 0.02] * 2}}}
        | {"verified_rtt_ms": rtt + 0.1, "boot": 1, "block": 1, "error": None, "raw": ["raw/000.ab.txt"], **more}
        for at, (rtt, time) in enumerate(times.items())
    ]  # fmt: skip
    (folder / "samples.jsonl").write_text("".join(json.dumps(each) + "\n" for each in samples))
    facts = {"experiment": "mine", "clock": "virtual", "tdf": "inf", "host": "secret"} | (facts or {})
    (folder / "run.json").write_text(json.dumps(facts))
    return folder


def command(*words):
    with pytest.raises(SystemExit) as caught:
        main([*map(str, words)])
    return caught.value.code


def test_a_baseline_compares_as_the_run_does(tmp_path, capsys):
    run, same = (written(tmp_path / name, {0: 9.0, 10: 49.0, 40: 169.0}) for name in ("run", "same"))
    slower = written(tmp_path / "slower", {0: 9.0, 10: 59.0, 40: 209.0})
    file = tmp_path / "baseline.json"
    assert command("compare", "save", run, file) == 0
    assert capsys.readouterr().out == f"{file}: mine, 3 cells, {file.stat().st_size / 1000:.0f} kB\n"
    assert "secret" not in file.read_text()
    assert "raw/" not in file.read_text()
    for other in (same, slower):
        kept, fresh = compare(file, other, 0.05).to_json(), compare(run, other, 0.05).to_json()
        assert kept.pop("first")["directory"] == str(file)
        fresh.pop("first")
        assert kept == fresh
    assert command("compare", file, same) == 0
    assert command("compare", file, slower) == 1
    shown = capsys.readouterr().out
    assert "worse: time_ms 1.24 times" in shown
    assert "one round trip more per operation: k 4.00 to 5.00" in shown
    assert command("compare", file, slower, "--fail-if-slower", "25%") == 0
    assert command("compare", file, slower, "--fail-if-slower", "20%", "--out", "json=-") == 1
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["outcome"] == "worse"
    assert command("compare", slower, run, "--fail-if-slower", "5%") == 0


@pytest.mark.parametrize(
    ("facts", "exact"),
    [
        ({}, True),
        ({"own_programs": True}, False),
        ({"chance": "threads"}, False),
        ({"chance": "threads", "chance_spread": [{"metric": "time_ms", "relative": 0.01, "at": {}}]}, False),
        ({"cpu": "work", "tdf": 4}, False),
    ],
)
def test_a_baseline_is_as_sure_as_the_run_is(tmp_path, facts, exact):
    run = written(tmp_path / "run", {0: 9.0}, facts, random=False)
    baseline.save(run, tmp_path / "baseline.json")
    kept, fresh = baseline.read(tmp_path / "baseline.json").cells[0], load(run).cells[0]
    assert kept.is_exact is exact
    assert (kept.terms, kept.metrics) == (fresh.terms, fresh.metrics)


@pytest.mark.parametrize(
    ("facts", "more"),
    [
        ({"cpu": "work", "tdf": 4}, {"charged_s": 0.001, "virtual_s": 0.4}),
        ({"cpu": "time", "tdf": 4}, {"charged_s": 0.001, "virtual_s": 0.4}),
        ({"clock": "real"}, {"charged_s": 0.001, "virtual_s": 0.4, "late": 0.001}),
        ({}, {"played": True, "metrics": {"time_ms": ORDERED}}),
        (COUNTED, {"charged_s": 0.01, "virtual_s": 0.4}),
        (COUNTED, {"charged_s": 0.4, "virtual_s": 0.4, "rate_bit_s": 1e6}),
    ],
)
def test_a_baseline_knows_what_the_intervals_of_a_run_are_made_of(tmp_path, facts, more):
    run = written(tmp_path / "run", {0: 9.0, 40: 100.0}, facts, random=False, **more)
    baseline.save(run, tmp_path / "baseline.json")
    kept, fresh = baseline.read(tmp_path / "baseline.json"), load(run)
    assert [each.metrics for each in kept.cells] == [each.metrics for each in fresh.cells]
    assert [each.late for each in kept.cells] == [each.late for each in fresh.cells]
    assert list(map(kept.instructions, kept.cells)) == list(map(fresh.instructions, fresh.cells))


def test_a_run_without_every_cell_is_no_baseline(tmp_path, capsys):
    failed = written(tmp_path / "failed", {0: 9.0}, status="failed", metrics={}, error="no ab")
    for run, said in ((failed, "rtt 0ms failed"), (tmp_path / "none", "no run here")):
        with pytest.raises(SlownetError, match=said):
            baseline.save(run, tmp_path / "baseline.json")
    assert not (tmp_path / "baseline.json").exists()


def test_a_run_with_damaged_samples_is_no_baseline(tmp_path):
    run = written(tmp_path / "run", {0: 9.0, 10: 49.0})
    samples = run / "samples.jsonl"
    samples.write_text(samples.read_text()[:-20])
    with pytest.warns(DamageWarning), pytest.raises(SlownetError, match=r"^samples are damaged or missing, in "):
        baseline.save(run, tmp_path / "baseline.json")
    assert not (tmp_path / "baseline.json").exists()


@pytest.mark.parametrize(
    ("name", "text", "is_kept"),
    [
        ("shop.py", "print(1)\n", True),
        ("package.json", '{"name": "shop"}', True),
        ("data.json", "[1]", True),
        ("baseline.json", '{"kind": "baseline"}', False),
        ("baseline.json", '<<<<<<< HEAD\n{"kind": "baseline"', False),
        ("baseline.txt", "", False),
    ],
)
def test_a_baseline_takes_the_place_of_a_baseline_alone(tmp_path, capsys, name, text, is_kept):
    run, file = written(tmp_path / "run", {0: 9.0}), tmp_path / name
    file.write_text(text)
    assert command("compare", "save", run, file) == (2 if is_kept else 0)
    assert (file.read_text() == text) is is_kept
    assert f"{file} is not a baseline, and would be overwritten: name another file" in capsys.readouterr().err or not is_kept


def test_bad_baselines_and_limits_are_one_line(tmp_path, capsys):
    run = written(tmp_path / "run", {0: 9.0})
    broken = tmp_path / "broken.json"
    broken.write_text('{"kind": "baseline"}')
    conflict = tmp_path / "conflict.json"
    conflict.write_text("<<<<<<< HEAD\n")
    kept = tmp_path / "kept.json"
    baseline.save(run, kept)
    odd = tmp_path / "odd.json"
    odd.write_text(kept.read_text().replace('"condition": {"rtt_ms": 0}', '"condition": 3'))
    for words, said in (
        (("compare", broken, run), "broken.json is not a baseline (it has no 'facts'): slownet compare save RUN"),
        (("compare", conflict, run), "conflict.json is not a baseline (Expecting value"),
        (("compare", odd, run), "condition is 3, not an object"),
        (("compare", tmp_path / "none.json", run), "there is no baseline"),
        (("compare", run, kept), "kept.json is a baseline, as the second argument: name it first: slownet compare"),
        (("compare", "save", kept, tmp_path / "other.json"), f"no run here, in {kept}: name the directory of a run"),
        (("compare", run, run / "samples.jsonl"), "samples.jsonl: name the directory of a run"),
        (
            ("compare", "save", run, tmp_path / "no" / "folder.json"),
            "folder.json (No such file or directory): name another file",
        ),
        (("compare", run, run, "--fail-if-slower", "5"), "percentage '5' has no unit, --fail-if-slower: write it like 1%"),
        (("compare", run, run, "--fail-if-slower", "0%"), "a margin of 0 %, --fail-if-slower: write a percentage above 0"),
        (("compare", run, run, "--fail-if-slower", "5%", "--within", "0.1"), "--fail-if-slower: leave out --within"),
    ):
        assert command(*words) == 2, words
        err = capsys.readouterr().err
        assert said in err
        assert len(err.splitlines()) == 1


def test_a_gate_is_not_for_sites(tmp_path, web, capsys):
    assert command("field", f"{web.url}/", "--requests", 3, "--pause", "0ms", "--runs", tmp_path) == 0
    (site,) = tmp_path.glob("*-field-localhost")
    run = written(tmp_path / "run", {0: 9.0})
    assert command("compare", run, site, "--fail-if-slower", "5%") == 2
    assert "this is a field measurement, --fail-if-slower: compare two runs" in capsys.readouterr().err


def test_a_ratio_without_a_number_is_shown_by_its_means():
    assert judged(row("failed", 0, 5)).text.startswith("failed 0 to 5.000 at rtt 10ms")
