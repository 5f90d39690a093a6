"""The host's part of a calibration, with a place that prints what the part in the lab would print."""

import io
import json

import pytest
from rich.console import Console

from slownet.calibration.calibration_table import show
from slownet.calibration.cases import choose, matrix
from slownet.calibration.measure import calibrate
from slownet.cli.calibrate import calibrate_and_show
from slownet.lab.run.clock import INF, Clock
from slownet.lab.run.events import line
from slownet.links.ip import IPV4, IPV6
from slownet.model.errors import SlownetError

CASES = choose(matrix(), ["mtu", "duplicate", "rate"], quick=True)  # duplicate, rate, mtu
TRUE = [
    {"event": "ceiling", "bit_s": None},
    {"event": "case", "index": 0, "name": "duplicate 10%"},
    {"event": "numbers", "index": 0, "numbers": {"sent": 20_000, "lost": 0, "runs": 0, "copies": 2000}},
    {"event": "numbers", "index": 1, "numbers": {"bit_s": 2e6 * 1448 / 1514}},
    {"event": "numbers", "index": 2, "numbers": {"bytes": 1400}},
    {"event": "end", "virtual_s": 7.5},
]


class FakePlace:
    kind, python, clock, facts = "lab", "python", Clock("virtual", INF), {"kernel": "k", "place": "lab"}

    def __init__(self, events=TRUE, errors=b"", status=0):
        self.events, self.errors, self.status, self.received = events, errors, status, []

    def run(self, argv, *, stdout, stderr):
        self.job = json.loads(argv[-1])
        stdout(b"".join(line(**each) for each in self.events))
        stderr(self.errors)
        return self.status

    def signal(self, number):
        raise AssertionError


def replaced(index, event):
    return [*TRUE[:index], event, *TRUE[index + 1 :]]


def test_the_job_names_the_cases_and_the_rows_are_judged():
    place = FakePlace()
    seen = []
    found = calibrate(place, CASES, 1, lambda event: seen.append(event["event"]))
    assert [each[:3] for each in place.job["cases"]] == [[case.group, case.probe, dict(case.fields)] for case in CASES]
    assert [row.ok for row in found.rows] == [True, True, True]
    assert seen == [each["event"] for each in TRUE]
    record = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert record["ok"] is True
    assert (record["clock"], record["tdf"], record["seed"], record["virtual_s"]) == ("virtual", "inf", 1, 7.5)
    assert record["outside_own_interval"] == {"found": 0, "expected": 0.01}


@pytest.mark.parametrize(("ip", "version"), [(IPV4, 4), (IPV6, 6)], ids=str)
def test_job_json_and_table_say_the_version_of_ip(ip, version):
    place = FakePlace()
    found = calibrate(place, choose(matrix(1, ip), ["mtu", "duplicate", "rate"], quick=True), 1)
    assert (place.job["ip_version"], found.to_json()["ip_version"]) == (version, version)
    assert f"Linux k, IPv{version}, seed 1: " in text_of(found)


def test_the_status_is_0_if_all_rows_are_ok_and_else_1(capsys):
    assert calibrate_and_show(FakePlace(), ["mtu", "duplicate", "rate"], True, 1, IPV4, True) == 0
    assert json.loads(capsys.readouterr().out)["rows"][2]["measured"] == 1400
    wrong = FakePlace(replaced(4, {"event": "numbers", "index": 2, "numbers": {"bytes": 1500}}))
    assert calibrate_and_show(wrong, ["mtu", "duplicate", "rate"], True, 1, IPV4, True) == 1
    assert [row["ok"] for row in json.loads(capsys.readouterr().out)["rows"]] == [True, True, False]


def text_of(found):
    console = Console(width=200, file=io.StringIO())
    console.print(show(found))
    return console.file.getvalue()


def test_the_table_shows_rows_and_random_ones_that_are_outside():
    text = text_of(calibrate(FakePlace(), CASES, 1))
    assert "duplicate 10%" in text
    assert "virtual clock, TDF inf, Linux k, IPv4, seed 1: 3 rows, 0 not ok, 7.5 s on its clock" in text
    assert "random quantities: 1; " in text
    astray = replaced(2, {"event": "numbers", "index": 0, "numbers": {"sent": 20_000, "lost": 0, "runs": 0, "copies": 2200}})
    assert "not ok *" in text_of(calibrate(FakePlace(astray), CASES, 1))
    a_little_less = replaced(3, {"event": "numbers", "index": 1, "numbers": {"bit_s": 2e6 * 1448 / 1514 - 0.1}})
    assert " -0 " not in text_of(calibrate(FakePlace(a_little_less), CASES, 1))


def test_a_rate_beyond_the_cpu_is_left_out_and_named():
    events = replaced(3, {"event": "left_out", "index": 1})
    events[0] = {"event": "ceiling", "bit_s": 1.5e6}
    found = calibrate(FakePlace(events), CASES, 1)
    assert [row.condition for row in found.rows] == ["duplicate 10%", "mtu 1400"]
    assert found.to_json()["left_out"] == ["rate 2Mbit"]
    assert "left out, because above half of the 1.5 Mbit that this CPU can carry: rate 2Mbit" in text_of(found)


def test_a_link_that_the_network_refuses_is_a_row_that_is_not_ok():
    events = replaced(4, {"event": "failed", "index": 2, "line": "the kernel has MTU 7"})
    found = calibrate(FakePlace(events), CASES, 1)
    assert [row.ok for row in found.rows] == [True, True, False]
    assert "the kernel has MTU 7" in text_of(found)


@pytest.mark.parametrize(
    ("place", "line"),
    [
        (FakePlace([{"event": "error", "line": "no network"}], status=2), "no network"),
        (FakePlace(TRUE[:2], b"Traceback\nValueError: 7\n", 1), "the calibration failed: ValueError: 7"),
    ],
)
def test_what_goes_wrong_inside_is_one_line(place, line):
    with pytest.raises(SlownetError, match=line):
        calibrate(place, CASES, 1)


def test_an_unknown_name_is_an_error():
    with pytest.raises(SlownetError, match="did you mean 'mtu'"):
        calibrate_and_show(FakePlace(), ["mut"], False, 1, IPV4, True)
