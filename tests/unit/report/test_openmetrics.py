"""OpenMetrics, as the format's own parser reads it."""

import math

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parsed
from prometheus_client.parser import text_string_to_metric_families as parsed_by_prometheus

from slownet.cli.app import main
from slownet.cli.outputs import Outputs
from slownet.judge.records.judgement import Judgement
from slownet.judge.records.result import gather
from slownet.judge.records.statement import TEXT
from slownet.model.errors import ExperimentError
from slownet.report import openmetrics

FACTS = {"experiment": "shop", "clock": "virtual", "tdf": 4, "cpu": "time", "place": "lab"}


def claim(verdict, name):
    return Judgement(name, verdict, 4.0, 4.0, 3.9, 4.1, (3.8, 4.2), (TEXT(text="text"),))


def run(*claims, cells=({"rtt": "0ms"}, {"rtt": "40ms"}), mean=9.0, metric="time_ms", **facts):
    samples = [
        {
            "cell": cell, "condition": {}, "index": index, "boot": 1, "block": 1, "status": "ok", "error": None,
            "metrics": {metric: {"mean": mean + index, "sd": 0.1, "n": 50}}, "verified_rtt_ms": 0.1,
        }
        for index, cell in enumerate(cells)
    ]  # fmt: skip
    return gather(samples, FACTS | facts).judged(claims)


def values(text, family):
    (found,) = (each for each in parsed(text) if each.name == family)
    return {tuple(sorted(sample.labels.items())): sample.value for sample in found.samples}


def test_each_cell_has_its_mean_and_the_ends_of_its_interval():
    text = openmetrics.write([run()])
    of = lambda rtt: (("experiment", "shop"), ("rtt", rtt))  # noqa: E731
    assert values(text, "slownet_time_ms") == {of("0ms"): 9.0, of("40ms"): 10.0}
    low, high = values(text, "slownet_time_ms_low"), values(text, "slownet_time_ms_high")
    assert low[of("0ms")] < 9 < high[of("0ms")]
    assert {each.type for each in parsed(text)} == {"gauge"}
    assert text.endswith("\n# EOF\n")
    assert len(list(parsed_by_prometheus(text))) == 3  # the older format takes it, too


def test_a_claim_is_one_for_its_verdict():
    found = values(openmetrics.write([run(claim("refuted", "k is 4"), claim("supported", "t"))]), "slownet_claim")
    verdicts = {(dict(labels)["claim"], dict(labels)["verdict"]) for labels, value in found.items() if value}
    assert verdicts == {("k is 4", "refuted"), ("t", "supported")}
    assert len(found) == 8
    assert set(found.values()) == {0.0, 1.0}


def test_any_text_is_a_label_and_any_name_becomes_one():
    odd = 'a "quoted" \\ name\nof two lines'
    text = openmetrics.write([run(claim("supported", odd), cells=({"db:rtt": odd},), metric="p99.9 ms")])
    assert [dict(labels)["claim"] for labels in values(text, "slownet_claim")] == [odd] * 4
    (labels,) = values(text, "slownet_p99_9_ms")
    assert dict(labels)["db_rtt"] == odd


def test_what_has_no_number_or_means_nothing_is_left_out():
    text = openmetrics.write([run(mean=0.01, tdf="inf", cpu="free", cells=({"rtt": "0ms"},))])
    assert "slownet_time_ms" not in text  # what is left of a time where the CPU is free
    text = openmetrics.write([run(mean=-5.0, tdf="inf", cpu="free", cells=({"rtt": "0ms"},))])
    assert "slownet_time_ms" in text  # a difference of times
    assert [math.isnan(float(openmetrics._number(math.nan))), openmetrics._number(-math.inf)] == [True, "-Inf"]


def test_several_runs_share_a_family():
    text = openmetrics.write([run(), run(experiment="stock", mean=5.0)])
    assert text.count("# TYPE slownet_time_ms gauge") == 1
    assert {dict(labels)["experiment"] for labels in values(text, "slownet_time_ms")} == {"shop", "stock"}


def test_the_file_is_written_whole_and_its_folder_is_looked_for_at_once(tmp_path):
    target = tmp_path / "slownet.prom"
    target.write_text("old")
    Outputs({"openmetrics": target}).write([run(claim("supported", "t"))])
    assert values(target.read_text(), "slownet_claim")
    assert list(tmp_path.iterdir()) == [target]
    with pytest.raises(ExperimentError, match=r"no folder .*/none, --out openmetrics: make it, or name another file"):
        Outputs({"openmetrics": tmp_path / "none/file"})
    (tmp_path / "folder").mkdir()
    with pytest.raises(ExperimentError, match=r"/folder is a folder, --out openmetrics: name a file in it"):
        Outputs({"openmetrics": tmp_path / "folder"})


def test_the_option(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as caught:
        main(["run", "client_delay", "--out", "openmetrics=none/file.prom"])
    assert caught.value.code == 2
    assert "none, --out openmetrics" in capsys.readouterr().err
