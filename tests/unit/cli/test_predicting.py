import json
from dataclasses import replace

import pytest

from slownet.cli.app import main
from slownet.cli.prediction import predict
from slownet.judge.claim import law
from slownet.judge.records.measured_folder import load
from slownet.judge.records.result import gather
from slownet.judge.records.samples import SampleLog, write_run_json
from slownet.report.html_page import write_report

TIMES = {0: 9.0, 10: 49.0, 40: 169.0, 120: 489.0}


def sample(rtt, time, index, **more):
    metrics = {"time_per_request_ms": {"mean": time, "sd": 0.4, "n": 100}} | more
    cell = {"cell": {"rtt": f"{rtt}ms"}, "condition": {"rtt_ms": float(rtt)}}
    return cell | {"experiment": "client_delay", "index": index, "status": "ok", "error": None, "metrics": metrics}


def samples(**more):
    return [sample(rtt, time, index, **more) for index, (rtt, time) in enumerate(TIMES.items())]


@pytest.fixture
def directory(tmp_path):
    with SampleLog(tmp_path) as log:
        for each in samples():
            log.append(each)
    write_run_json(tmp_path, {"experiment": "client_delay", "clock": "virtual", "tdf": "inf"})
    return tmp_path


def command(*words):
    with pytest.raises(SystemExit) as caught:
        main(["show", *map(str, words)])
    return caught.value.code


def test_the_page_of_this_lab_at_your_site(directory, capsys):
    assert command(directory, "--at", "rtt=85ms,t0=12.3ms") == 0
    first, second, third = capsys.readouterr().out.splitlines()
    assert first == (
        "time_per_request_ms at T0 12.3ms and RTT 85ms: 352.3 (352.2 to 352.4) ms, "
        "28.64 (28.64 to 28.65) times the time without delay"
    )
    assert second == "law of client_delay: 4.000 (3.999 to 4.001) round trips, T0 9.000 ms where it ran"
    assert third == "intervals: 95 %"


def test_without_a_t0_it_is_the_run_s_own(directory, capsys):
    assert command(directory, "--at", "rtt=85ms") == 0
    first, *_, note = capsys.readouterr().out.splitlines()
    assert first.startswith("time_per_request_ms at T0 9.000 ms and RTT 85ms: 349.0 ")
    assert note == "note: T0 is where the run was made: add t0=TIME, on your machine without delay"


def test_a_delay_on_several_links_has_a_slope_and_no_round_trips(tmp_path, capsys):
    with SampleLog(tmp_path) as log:
        for each in samples():
            log.append(each | {"links": dict.fromkeys(("client-switch", "web-switch"), f"rtt {each['cell']['rtt']}")})
    write_run_json(tmp_path, {"experiment": "client_delay", "clock": "virtual", "tdf": "inf"})
    assert command(tmp_path, "--at", "rtt=85ms,t0=12.3ms") == 0
    _, second, _ = capsys.readouterr().out.splitlines()
    said = "law of client_delay: 4.000 (3.999 to 4.001) ms for each ms, which is set on 2 links, T0 9.000 ms where it ran"
    assert second == said
    page = write_report(load(tmp_path)).read_text(encoding="utf-8")
    assert "is the ms that an operation takes longer for each ms, which is set on 2 links" in page
    assert "is round trips per operation" not in page


def test_json(directory, capsys):
    assert command(directory, "--at", "rtt=85ms,t0=12.3ms", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["predicted"]["mean"] == pytest.approx(352.3)
    assert found["predicted"]["low"] < 352.3 < found["predicted"]["high"]
    assert found["ratio"]["mean"] == pytest.approx(352.3 / 12.3)
    assert (found["law"]["k"]["mean"], found["law"]["bent"], found["notes"]) == (pytest.approx(4), False, [])


def test_notes_say_what_weakens_it():
    bent = samples()
    bent[3]["metrics"]["time_per_request_ms"]["mean"] = 600.0
    found = predict(gather(bent, {}), None, "12.3ms", "200ms")
    assert found["notes"][0] == "200.0 ms is an extrapolation: the longest measured delay is 120.0 ms"
    assert found["notes"][1].startswith("the data deviate significantly from a straight line")
    failed = samples()
    failed[2] |= {"status": "failed", "metrics": {}}
    assert predict(gather(failed, {}), None, "0ms", "85ms")["notes"] == [
        "left out 1 failed cell",
        "3 delays say little about linearity: a reliable interval takes four",
    ]
    assert predict(gather(failed, {}), None, "0ms", "85ms")["ratio"] is None


def test_theory_makes_a_bent_law_say_more():
    bent = samples()
    for one, off in zip(bent, (0.0, -0.8, -1.5, -0.5), strict=True):
        one["metrics"]["time_per_request_ms"]["mean"] += off
    claimed = law("time_per_request_ms", round_trips=4).judge(gather(bent, {}))
    assert claimed.verdict == "supported"
    alone, explained = (predict(gather(bent, {}).judged(each), None, "12.3ms", "85ms") for each in ([], [claimed]))
    assert (alone["round_trips_of_theory"], explained["round_trips_of_theory"]) == (None, 4)
    low, high = (explained["predicted"][end] for end in ("low", "high"))
    assert explained["predicted"]["mean"] == pytest.approx(12.3 + 340 - 1.5 + 45 / 80)
    assert low < 12.3 + 340 - 1.5
    assert high > 12.3 + 340
    assert high - low < 0.7 * (alone["predicted"]["high"] - alone["predicted"]["low"])
    assert "so k is the theoretical 4 and the interval is computed from the deviations" in explained["notes"][0]
    assert predict(gather(bent, {}).judged([claimed]), None, "12.3ms", "121ms")["round_trips_of_theory"] is None
    old = replace(claimed, kind="", metric="", parameters={})
    older = predict(gather(bent, {}).judged([old]), None, "12.3ms", "85ms")
    assert older["round_trips_of_theory"] is None
    unknown = "this record does not state the kinds of its claims, so the theoretical k is unknown: run it again"
    assert older["notes"][1] == unknown
    wrong = law("time_per_request_ms", round_trips=5).judge(gather(bent, {}))
    assert predict(gather(bent, {}).judged([wrong]), None, "12.3ms", "85ms")["round_trips_of_theory"] is None


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--at", "rtt=85ms,t0=12.3"], "duration '12.3' has no unit, --at t0: "),
        (["--at", "rtt=85,t0=12.3ms"], "duration '85' has no unit, --at rtt: "),
        (["--at", "rtt=85ms,t0=-1ms"], "is negative"),
        (["--at", "rtt=85ms,t0=12.3ms", "--metric", "time_per_reqest_ms"], "did you mean 'time_per_request_ms'?"),
        (["--at", "t0=12.3ms"], "the round trip of your users is missing, --at: add rtt=85ms"),
        (["--at", "rt=85ms"], "a law has no parameter 'rt', --at: did you mean 'rtt'?"),
        (["--at", "85ms"], "'85ms' is not a condition, --at: write it like rtt=85ms"),
        (["--at", "rtt=85ms", "--out", "page"], "a prediction has no page, --at and --out: leave out --out"),
        (["--metric", "time_per_request_ms"], "nothing is predicted, --metric: add --at rtt=85ms"),
    ],
)
def test_bad_input_is_one_line(directory, capsys, words, said):
    assert command(directory, *words) == 2
    err = capsys.readouterr().err
    assert said in err
    assert len(err.splitlines()) == 1


def test_what_has_no_law_predicts_nothing(directory, tmp_path, capsys):
    assert command(tmp_path / "nowhere", "--at", "rtt=85ms,t0=12ms") == 2
    assert "no run here" in capsys.readouterr().err
    two = samples(waiting_ms={"mean": 1.0, "sd": 0.1, "n": 100})
    assert predict(gather(two, {}), None, "12ms", "85ms")["metric"] == "time_per_request_ms"  # the main metric
    rates = {"published": {"metric": "requests_per_second"}}
    with pytest.raises(Exception, match="2 metrics of client_delay are times: give --metric: time_per_request_ms, waiting_ms"):
        predict(gather(two, rates), None, "12ms", "85ms")
    with pytest.raises(Exception, match="requests_per_second is a rate, not a time: round trips are of times"):
        predict(gather(two, rates), "requests_per_second", "12ms", "85ms")
    with pytest.raises(Exception, match="only one delay was measured, 0 ms: measure at two"):
        predict(gather(samples()[:1], {}), None, "12ms", "85ms")
