"""What is kept of measurements, and the rows, JSON and CSV of it."""

import contextlib
import csv
import dataclasses
import io
import json
import threading

import pytest

from slownet.costs import catalogue, judging, record
from slownet.costs.entry import Entry, Operation
from slownet.costs.judging import Cost
from slownet.costs.measuring import Item, Measured
from slownet.model.errors import ExperimentError

LIST = Operation("list", "batch", 10.0, ("10 x GET",), cure="a pipeline", cured="pipeline")
PIPELINE = Operation("pipeline", "batch", 1.0, ("all together",), earlier={"1.0": 2.0})
ENTRY = Entry(
    "ask", "Ask", "python", "redis", "2.0", ("ask=={version}",), (), "...", (LIST, PIPELINE), ("1.0",), "", catalogue.HERE
)


def measured(version, *trips):
    numbers = zip(ENTRY.operations, trips, strict=True)
    costs = {each.name: Cost(trip, 0.0, each.expected(version)) for each, trip in numbers}
    return Measured(Item(ENTRY, version), costs, packages={"redis-server": "8.0.2"})


BOTH = record.of([measured("2.0", 10.0, 1.0), measured("1.0", 10.0, 2.0)])


def test_a_row_has_the_cure_with_its_number_and_other_versions():
    first, second = record.rows([ENTRY], BOTH)
    assert (first["id"], first["round_trips"], first["cured_id"], first["cured_round_trips"]) == (
        "ask/list",
        10,
        "ask/pipeline",
        1,
    )
    assert (second["version"], second["other_versions"], second["verdict"]) == ("2.0", {"1.0": 2}, "as expected")
    assert tuple(first) == record.COLUMNS


def test_a_row_of_another_version_has_its_numbers():
    _, second = record.rows([ENTRY], BOTH, "1.0")
    assert (second["round_trips"], second["expected"], second["verdict"]) == (2, 2.0, "as expected")
    assert second["each"] == []  # the names are those of the entry's own version


def test_a_version_that_is_measured_alone_has_its_own_account():
    shown = {"pipeline": {"trips": 2.0, "parts": ["2 x question and answer: 1, 2 bytes"]}}
    alone = dataclasses.replace(measured("1.0", 10.0, 2.0), accounts=shown)
    _, second = record.rows([ENTRY], record.of([alone]), "1.0")
    assert second["account"] == "2 x question and answer"
    _, second = record.rows([ENTRY], record.of([measured("2.0", 10.0, 1.0), alone]), "1.0")
    assert second["account"] == ""


def test_what_was_not_measured_has_no_number():
    assert {each["round_trips"] for each in record.rows([ENTRY], {})} == {None}
    failed = record.of([Measured(Item(ENTRY, "2.0"), failure="no such version")])
    rows = record.rows([ENTRY], failed)
    assert {each["failure"] for each in rows} == {"no such version"}
    assert record.as_text(rows).count("no such version") == 1


def test_json_and_csv_have_the_same_columns():
    rows = record.rows([ENTRY], BOTH)
    assert [list(each) for each in json.loads(record.as_json(rows))["operations"]] == [list(record.COLUMNS)] * 2
    head, *lines = csv.reader(io.StringIO(record.as_csv(rows)))
    assert tuple(head) == record.COLUMNS
    assert [line[head.index("each")] for line in lines] == ["10 x GET", "all together"]
    assert lines[1][head.index("other_versions")] == "1.0 2"


def test_text_names_the_round_trips():
    text = record.as_text(record.rows([ENTRY], BOTH))
    assert "Ask 2.0 (python, server redis; redis-server 8.0.2)" in text
    assert "a pipeline: 1" in text
    assert "1 since 2.0, 2 in 1.0" in text


@pytest.mark.parametrize(
    ("others", "says"),
    [
        ({}, ""),
        ({"7.9": 6}, ""),
        ({"7.9": 4, "7.10": 4, "8.0": 6, "6.2": 2}, "6 since 8.0, 4 in 7.9 to 7.10, 2 in 6.2"),
        ({"7.9": 4, "9.0": 5}, "5 since 9.0, 6 in 8.1, 4 in 7.9"),
        ({"7.9.RELEASE": 0}, "6 since 8.1, 0 in 7.9.RELEASE"),
    ],
)
def test_a_number_that_changed_has_its_versions(others, says):
    assert record.changes({"version": "8.1", "round_trips": 6, "other_versions": others}) == says


@pytest.mark.parametrize(("most", "good"), [("10", True), ("9", False), ("11", True), ("9.98", True)])
def test_an_expectation_fails_when_the_number_grows(most, good):
    rows = record.rows([ENTRY], BOTH)
    assert judging.read(f"ask/list={most}").judge(rows)[0] is good


def test_an_expectation_of_what_was_not_measured_fails():
    good, line = judging.read("ask/list=10").judge(record.rows([ENTRY], {}))
    assert (good, line) == (False, "ask/list 2.0: not measured")


def test_an_expectation_names_a_file_in_another_folder():
    found = judging.read("../of mine/ask.toml/list=10")
    assert (found.entry, found.name, found.operation, found.trips) == ("../of mine/ask.toml", "ask", "list", 10.0)


@pytest.mark.parametrize("text", ["ask", "ask/list", "ask/list=", "ask/list=many", "ask=3", "ask/list=-1", "a/b/c=1"])
def test_a_wrong_expectation_is_one_line(text):
    with pytest.raises(ExperimentError, match="is not ENTRY/OPERATION=N, --expect: write for example redis-py/connect=6"):
        judging.read(text)


def test_an_expectation_of_an_unknown_operation_is_one_line():
    with pytest.raises(ExperimentError, match=r"ask has no operation 'lits': .*list"):
        judging.read("ask/lits=1").require([ENTRY])
    judging.read("ask.toml/list=1").require([ENTRY])
    with pytest.raises(ExperimentError, match="ask has no operation 'lits'"):
        judging.read("ask/lits=1").judge(record.rows([ENTRY], BOTH))


def test_each_kept_number_is_explained():
    """What theory does not explain is not published."""
    rows = [each for each in record.rows(catalogue.entries().values(), record.kept()) if each["round_trips"] is not None]
    assert [(each["id"], each["round_trips"], each["expected"]) for each in rows if each["verdict"] != "as expected"] == []
    named = [(each, version) for each in catalogue.entries().values() for version in each.versions]
    earlier = [row for each, version in named for row in record.rows([each], record.kept(), version)]
    assert [(each["id"], each["version"]) for each in earlier if each["verdict"] not in (None, "as expected")] == []
    unnamed = [each for each in rows if not each["each"] and each["round_trips"]]
    assert [each["id"] for each in unnamed if len(each["note"].split()) < 4] == []  # a reason is a sentence


def test_each_kept_number_has_versions():
    """Of what is on the lab's disk, if the entry itself has none; `rsync` comes with another package, Go with the machine."""
    without = {
        each.name for each in catalogue.entries().values() if not each.version and not record.kept()[each.name]["packages"]
    }
    assert without == {"rsync", "net-http"}


def test_versions_of_packages_are_those_of_their_authors():
    packages = {"mariadb-server": "1:11.8.9+ds-0+deb13u1", "golang-go": "2:1.24~2", "chrony": "4.6.1-3+deb13u2"}
    assert record.packaged(packages) == "mariadb-server 11.8.9, golang-go 1.24, chrony 4.6.1"


def test_two_processes_that_keep_results_at_a_time_lose_none(tmp_path, monkeypatch):
    """Each reads what is kept only once the other has written."""
    monkeypatch.setattr(record, "KEPT", tmp_path / "measured.json")
    read = record.kept
    both_read = threading.Barrier(2)

    def kept():
        found = read()
        with contextlib.suppress(threading.BrokenBarrierError):
            both_read.wait(0.2)
        return found

    monkeypatch.setattr(record, "kept", kept)
    names = sorted(catalogue.entries())[:2]
    threads = [threading.Thread(target=record.keep, args=({name: BOTH["ask"]},)) for name in names]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert sorted(read()) == names


def test_an_account_is_kept_where_its_packets_show_the_same_number():
    result = measured("2.0", 10.0, 1.0)
    shown = {"trips": 10.0, "parts": ["10 x question and answer: 14, 5 bytes", "(timer of the program)"]}
    result.accounts = {"list": shown, "pipeline": {"trips": 2.0, "parts": ["2 x question and answer: 140, 50 bytes"]}}
    kept = record.of([result])
    assert kept["ask"]["accounts"] == {"list": shown["parts"]}
    assert [each["account"] for each in record.rows([ENTRY], kept)] == ["10 x question and answer", ""]
    assert [each["account"] for each in record.rows([ENTRY], kept, "1.0")] == ["", ""]  # it is of the entry's own version


@pytest.mark.parametrize(
    ("account", "says"),
    [
        (["TCP handshake", "5 x question and answer: 22, 217 bytes"], "TCP handshake, 5 x question and answer"),
        (["TCP handshake (SYN-ACK)", "(timer of the program)", "1.5 x window (slow start, 10 segments): 1448 bytes"],
         "TCP handshake, 1.5 x window"),
        (["question and answer: 5 bytes", "(timer of the program)", "2.5 x question and answer: 7 bytes"],
         "3.5 x question and answer"),
        ([], ""),
    ],
)  # fmt: skip
def test_the_causes_of_an_account(account, says):
    assert record.causes(account) == says


def test_entries_of_one_program_have_a_heading_each():
    """So that the failure of the second one is printed, too."""
    other = dataclasses.replace(ENTRY, name="other")
    failed = {"other": {"versions": {"2.0": {"failure": "no such server"}}}}
    text = record.as_text(record.rows([ENTRY, other], {**BOTH, **failed}))
    assert text.count("Ask 2.0 (python, server redis") == 2
    assert "no such server" in text


@pytest.mark.parametrize(
    ("each", "says"),
    [((), ""), (("TCP", "GET"), "TCP, GET"), (("TCP, of another connection", "GET"), "TCP, of another connection; GET")],
)
def test_names_with_commas_stay_apart(each, says):
    assert record.named(each) == says
