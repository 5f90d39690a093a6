import json
import subprocess
import sys
from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from slownet.judge.records.judgement import Judgement
from slownet.judge.records.result import load
from slownet.judge.records.rows import table
from slownet.judge.records.samples import SampleLog, write_run_json
from slownet.judge.records.statement import TEXT
from slownet.model.errors import ExperimentError, SlownetError
from slownet.theory.stats import Summary, from_moments

TIMES = {0: 12.323, 10: 51.825, 40: 173.318}
FACTS = {"experiment": "client_delay", "clock": "virtual", "tdf": 4, "kernel": "6.12.48", "seed": 1}


def sample(rtt, index, time, status="ok", **more):
    record = {
        "experiment": "client_delay",
        "cell": {"rtt": f"{rtt}ms"},
        "condition": {"rtt_ms": float(rtt)},
        "index": index,
        "tool": "ab",
        "status": status,
        "error": None,
        "metrics": {"time_per_request_ms": {"mean": time, "sd": 0.0, "n": 100}},
        "verified_rtt_ms": rtt + 0.06,
        "raw": [f"raw/{index:03}-ab.txt"],
        "virtual_s": 5.0,
        "wall_s": None,
        "facts": {"document_length": 51686},
    }
    return record | more


@pytest.fixture
def directory(tmp_path):
    with SampleLog(tmp_path) as log:
        for index, (rtt, time) in enumerate(TIMES.items()):
            log.append(sample(rtt, index, time))
    write_run_json(tmp_path, FACTS)
    return tmp_path


def test_a_run_is_read_back(directory):
    run = load(directory)
    assert (run.experiment, run.facts["kernel"]) == ("client_delay", "6.12.48")
    assert [cell.title for cell in run.cells] == ["rtt 0ms", "rtt 10ms", "rtt 40ms"]
    assert run.cells[1].summary("time_per_request_ms") == Summary(51.825, 51.825, 51.825, 100)
    assert run.cells[1].verified_rtt_ms == pytest.approx(10.06)
    assert run.metrics == ("time_per_request_ms",)
    assert run.fact("document_length") == 51686
    assert run.baseline_of({"rtt": "40ms"}) is run.cells[0]
    assert run.cell("rtt_ms", 40.0) is run.cells[2]
    assert run.failed == ()


def test_json_for_the_command_line(directory):
    claim = Judgement("4 round trips", "supported", 4.0, 4.0, 3.9, float("inf"), (3.8, None), (TEXT(text="4.00 measured"),))
    record = load(directory).judged([claim]).to_json()
    assert list(record) == ["experiment", "clock", "tdf", "kernel", "cells", "claims", "damage", "directory"]
    assert (record["clock"], record["tdf"], record["directory"]) == ("virtual", 4, str(directory))
    assert record["cells"][1] == {
        "condition": {"rtt_ms": 10.0},
        "metrics": {"time_per_request_ms": {"mean": 51.825, "low": 51.825, "high": 51.825, "n": 100, "confidence": 0.95}},
        "verified_rtt_ms": pytest.approx(10.06),
        "counters": {},
        "rate_bit_s": None,
        "status": "ok",
        "repetitions": 1,
        "labs": [],
        "warm_up": {},
        "outliers": {},
        "beyond_cpu": False,
    }
    assert record["claims"][0]["high"] is None
    assert json.loads(json.dumps(record, allow_nan=False)) == record


def test_a_saved_run_keeps_facts_cells_and_claims(directory):
    claim = Judgement("4 round trips", "supported", 4.0, 4.0, 3.9, 4.1, (3.8, 4.2), (TEXT(text="4.00 measured"),))
    load(directory).judged([claim]).save()
    record = json.loads((directory / "run.json").read_text())
    assert record["seed"] == 1
    assert [cell["condition"]["rtt_ms"] for cell in record["cells"]] == [0.0, 10.0, 40.0]
    assert load(directory).claims == (claim,)


def test_a_run_that_was_killed_before_run_json_is_still_read(directory):
    (directory / "run.json").unlink()
    run = load(directory)
    assert (run.experiment, len(run.cells), run.to_json()["kernel"]) == ("client_delay", 3, None)


def test_a_failed_sample_fails_its_cell_until_it_is_taken_again(directory):
    with SampleLog(directory) as log:
        log.append(sample(10, 3, 0.0, status="failed", error="ab timed out", metrics={}))
    cell = load(directory).cell("rtt_ms", 10)
    assert (cell.status, cell.error) == ("failed", "ab timed out")
    assert cell.summary("time_per_request_ms").mean == 51.825
    with SampleLog(directory) as log:
        log.append(sample(10, 3, 53.825))
    cell = load(directory).cell("rtt_ms", 10)
    assert (cell.status, cell.error) == ("ok", None)
    assert cell.summary("time_per_request_ms").mean == pytest.approx(52.825)


def test_a_spread_gives_an_interval(tmp_path):
    with SampleLog(tmp_path) as log:
        log.append(sample(0, 0, 1.0, metrics={"time_per_request_ms": {"mean": 51.8, "sd": 0.4, "n": 100}}))
    assert load(tmp_path).cells[0].summary("time_per_request_ms") == from_moments(51.8, 0.4, 100)


def test_wrong_names_are_one_line_with_the_nearest(directory):
    run = load(directory)
    with pytest.raises(ExperimentError) as caught:
        run.cells[0].summary("time_per_request")
    what = "no metric 'time_per_request', in cell rtt 0ms"
    assert str(caught.value) == f"{what}: did you mean 'time_per_request_ms'?"
    with pytest.raises(ExperimentError) as caught:
        run.cell("rtt_ms", 15)
    assert str(caught.value) == "no cell at rtt_ms = 15, in experiment client_delay: the values are 0, 10, 40"
    with pytest.raises(ExperimentError, match="did you mean 'rtt_ms'"):
        run.cell("rtt", 10)
    with pytest.raises(ExperimentError, match=r"no fact 'document_size'.*did you mean 'document_length'"):
        run.fact("document_size")


def test_two_cells_at_one_value_are_not_mixed_up(directory):
    with SampleLog(directory) as log:
        log.append(sample(10, 3, 60.0, cell={"rtt": "10ms", "loss": "1%"}))
    with pytest.raises(ExperimentError, match="two cells at rtt_ms = 10"):
        load(directory).cell("rtt_ms", 10)


def test_round_trips_are_what_an_operation_takes_longer_by(directory):
    run = load(directory)
    assert run.round_trips("time_per_request_ms") == pytest.approx((173.318 - 12.323) / 40)
    with pytest.raises(ExperimentError, match=r"one delay, rtt_ms = 10, in experiment client_delay: measure at two"):
        run.round_trips("time_per_request_ms", {"rtt": "10ms"})
    with pytest.raises(ExperimentError, match="loss_percent is in %, not a time: round trips are of times"):
        run.round_trips("loss_percent")
    with pytest.raises(ExperimentError, match="no cell, in experiment client_delay: measure at two"):
        replace(run, cells=()).round_trips("time_per_request_ms")


@pytest.mark.parametrize(("condition", "trips"), [("rtt_ms", 4.0), ("delay_ms", 2.0), ("client:delay_up_ms", 4.0)])
def test_a_delay_of_each_direction_counts_twice_and_units_of_times_do_not_matter(tmp_path, condition, trips):
    with SampleLog(tmp_path) as log:
        for index, delay in enumerate((30.0, 10.0)):
            metrics = {"page_s": {"mean": 0.1 + 4 * delay / 1000, "sd": 0.0, "n": 1}}
            log.append(sample(0, index, 0.0, metrics=metrics, cell={"delay": f"{delay}ms"}, condition={condition: delay}))
    assert load(tmp_path).round_trips("page_s", along=condition) == pytest.approx(trips)


def test_what_is_no_run_is_one_line(tmp_path):
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "run.json").write_text('{"name": "npm"}')
    with pytest.raises(SlownetError, match=r"no run here, in .*foreign: its run\.json is of another program: name"):
        load(tmp_path / "foreign")
    with pytest.raises(SlownetError, match="no run here"):
        load(tmp_path / "nowhere")
    (tmp_path / "run.json").write_text("{")
    with pytest.raises(SlownetError, match=r"^cannot read run\.json"):
        load(tmp_path)


@pytest.mark.parametrize(
    ("version", "mend"),
    [
        ("0.0.1", "they are damaged: measure again"),
        ("99.0", "slownet 99.0 wrote them: upgrade"),
        ("9" * 5000, "they are damaged"),
    ],
    ids=["older", "newer", "digits"],
)
def test_facts_of_another_type_are_one_line_that_names_them(directory, version, mend):
    write_run_json(directory, FACTS | {"planned": 3, "slownet": version})
    with pytest.raises(SlownetError) as caught:
        load(directory)
    if version != "9" * 5000:
        assert str(caught.value).startswith(
            f"the records cannot be read (run.json.planned is 3, not a list), in {directory}: {mend}"
        )
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "spread",
    [3, [[0.1]], [{"metric": "ms"}], [{"metric": "ms", "relative": "x"}], [{"metric": "ms", "relative": 0.1, "at": 3}]],
)
def test_what_chance_makes_is_read_as_it_was_written(directory, spread):
    write_run_json(directory, FACTS | {"chance_spread": [{"metric": "ms", "relative": 0.1, "at": {"rtt": "0ms"}}]})
    assert load(directory).facts["chance_spread"][0]["relative"] == 0.1
    write_run_json(directory, FACTS | {"chance_spread": spread})
    with pytest.raises(SlownetError, match=r"run\.json\.chance_spread"):
        load(directory)


def test_parquet_has_one_row_a_sample(directory):
    with SampleLog(directory) as log:
        log.append(sample(120, 3, 0.0, status="failed", error="ab timed out", metrics={}))
    found = pq.read_table(load(directory).write_parquet())
    assert found.num_rows == 4
    assert found.column("rtt_ms").to_pylist() == [0.0, 10.0, 40.0, 120.0]
    assert found.column("time_per_request_ms").to_pylist() == [12.323, 51.825, 173.318, None]
    assert found.column("time_per_request_ms_n").to_pylist() == [100, 100, 100, None]
    assert found.column("raw").to_pylist()[2] == ["raw/002-ab.txt"]
    assert found.column("error").to_pylist()[3] == "ab timed out"
    assert json.loads(found.column("facts").to_pylist()[0]) == {"document_length": 51686}


def test_a_table_brings_no_pandas(directory):
    code = "import sys; from slownet.judge.records.result import load; load(sys.argv[1]).write_parquet(); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code, directory], capture_output=True, text=True, check=True)
    assert "pyarrow.parquet" in done.stdout.split()
    assert "pandas" not in done.stdout.split()


def test_a_condition_of_texts_and_numbers_is_a_column_of_texts():
    found = table([{"version": "1.1"}, {"version": 2}, {}])
    assert found.column("version").to_pylist() == ["1.1", "2", None]


VALUES = {
    "whole": [1, -(2**62), None], "any": [1, 2.5, None], "unknown": [None, None, None], "true": [True, None, False],
    "text": ["2026-11-27 16:00:00", 'a "quoted" \u20ac\n', None], "names": [["a"], [], None], "seeds": [[1, 2], [], [3]],
    "few": [1e-300, 0.1 + 0.2, 7.0], "none": [[], [], []],
}  # fmt: skip


def test_a_table_has_the_types_that_arrow_gives_to_objects():
    rows = [dict(zip(VALUES, each, strict=True)) for each in zip(*VALUES.values(), strict=True)]
    assert table(rows).equals(pa.table(VALUES))
    assert table([{"ms": 1.0}, {"ms": float("inf")}]).column("ms").to_pylist() == [1.0, None]
    assert table([{"text": "x" * (1 << 22)}]).num_rows == 1
    assert table([]).num_rows == 0
