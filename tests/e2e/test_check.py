"""`slownet check` from the command line."""

import json

import pytest
from command_line import SLOWNET, ran, slownet

PAGE = """\
question = "How many round trips is a page of 30 kB?"
topology = "two_hosts"
service = "nginx"
page = "30kB"
tool = "ab"

[options]
requests = 5

[conditions]
link = ["client", "server"]
rtt = ["0ms", "40ms"]

[[prediction]]
says = "Round trips of a request:"
claim = "law"
metric = "time_per_request_ms"
round_trips = "?"
"""


DATABASE = """\
question = "How many round trips is a transaction?"
topology = "two_hosts"
service = "mariadb"
tool = "sysbench"

[options]
transactions = 10

[conditions]
link = ["client", "server"]
rtt = ["0ms", "10ms"]

[[prediction]]
claim = "all_of"
claims = [
    { claim = "predicted", metric = "queries_per_transaction", at = { rtt = "0ms" }, expected = 20, within = 0 },
    { claim = "law", metric = "latency_avg_ms", round_trips = 20 },
]

[[prediction]]
claim = "bound"
metric = "latency_avg_ms"
at = { rtt = "10ms" }
at_most = 150
"""


@pytest.fixture
def check(built, tmp_path):
    def run(text, *options, answers=""):
        (tmp_path / "page.toml").write_text(text)
        return ran([*SLOWNET, "check", "page.toml", "--tdf", "inf", *options], cwd=tmp_path, input=answers, text=True)

    return run


def test_a_prediction_about_no_metric_keeps_what_was_measured(check, tmp_path):
    done = check(PAGE.replace('"?"', "3").replace('"time_per_request_ms"', '"time_per_reqest_ms"'))
    hint, error = done.stderr.splitlines()
    assert error == "slownet: no metric 'time_per_reqest_ms', in cell rtt 0ms: did you mean 'time_per_request_ms'?"
    (run,) = (tmp_path / "runs").iterdir()
    assert hint == f"slownet: corrected, it is judged without measuring again: slownet run --resume {run}"
    assert (done.returncode, (run / "report.html").exists()) == (2, True)


def test_predictions_are_marked(check, tmp_path):
    more = """
[[prediction]]
claim = "bound"
metric = "time_per_request_ms"
at_most = "20ms"
at = { rtt = "40ms" }
"""
    done = check(PAGE.replace('"?"', "3") + more)
    assert done.returncode == 1, done.stderr
    assert "prediction 1 is right: Round trips of a request\n" in done.stdout
    assert "prediction 2 is wrong: bound: metric time_per_request_ms, at rtt 40ms, at_most 20ms" in done.stdout
    (run,) = (tmp_path / "runs").iterdir()
    facts = json.loads((run / "run.json").read_text())
    assert [each["verdict"] for each in facts["claims"]] == ["supported", "refuted"]
    assert facts["predictions"][0]["round_trips"] == 3
    assert (run / "report.html").exists()


def test_a_database_is_asked_and_claims_are_made_of_claims(check):
    done = check(DATABASE)
    assert done.returncode == 1, done.stderr
    assert "prediction 1 is right: all_of: predicted: metric queries_per_transaction" in done.stdout
    assert "20.00 round trips per operation measured, 20 expected" in done.stdout
    assert "prediction 2 is wrong: bound: metric latency_avg_ms" in done.stdout


def test_blind_asks_and_records_before_it_measures(check, tmp_path):
    done = check(PAGE, "--blind", "--out", "json=-", "--answers", "ada.toml", answers="Ada\nthree\n3\n")
    assert done.returncode == 0, done.stderr
    question, said, field = (
        "How many round trips is a page of 30 kB?",
        "Round trips of a request",
        "How many round trips? ",
    )
    assert [done.stdout.index(each) for each in (question, said, field)] == sorted(
        map(done.stdout.index, (question, said, field))
    )
    assert "'three' is not a number (round trips): write a number, such as 2.5" in done.stdout
    assert (tmp_path / "ada.toml").read_text() == 'student = "Ada"\n\n[page]\nround_trips = 3\n'
    assert json.loads(done.stdout[done.stdout.index("{") :])["runs"][0]["marks"] == ["right"]
    (run,) = (tmp_path / "runs").iterdir()
    record = json.loads((run / "prediction.json").read_text())
    assert (record["student"], record["predictions"][0]["round_trips"]) == ("Ada", 3)
    assert (run / "prediction.json").stat().st_mtime_ns < (run / "samples.jsonl").stat().st_mtime_ns


def test_a_key_has_what_was_measured(check, tmp_path):
    done = check(PAGE, "--key", "KEY.md")
    assert done.returncode == 0, done.stderr
    key = (tmp_path / "KEY.md").read_text()
    print(key)  # shown whole if this fails
    assert "- Round trips of a request: **round_trips = 3.00**" in key
    assert "rtt 40ms: time_per_request_ms 120." in key


def test_a_class_is_marked_against_one_measurement(check, tmp_path):
    done = check(PAGE, "--key", "key.toml")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "written  key.toml\n"
    for name, answer in (("ada", "3"), ("bob", "'2'")):
        (tmp_path / f"{name}.toml").write_text(f'student = "{name.title()}"\n[page]\nround_trips = {answer}\n')
    done = slownet("check", "mark", "ada.toml", "bob.toml", "--key", "key.toml", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (
        0, "Ada  1 of 1\nBob  0 of 1\nwritten  marks.csv, marks.html\n", "",
    )  # fmt: skip
    assert "How many round trips is a page of 30 kB?" in (tmp_path / "marks.html").read_text()
    assert len(list((tmp_path / "runs").iterdir())) == 1


@pytest.mark.parametrize(
    ("text", "options", "answers", "said"),
    [
        (PAGE.replace("round_trips", "roundtrips"), [], "", "page.toml:18:1: did you mean 'round_trips'?"),
        (PAGE, [], "", "--blind"),
        (PAGE, ["--blind"], "many\n", "no answer, round_trips"),
        (PAGE, ["--answers", "ada.toml"], "", "cannot read ada.toml"),
        (PAGE, ["--blind", "--answers", "nowhere/ada.toml"], "Ada\n3\n", "cannot write nowhere/ada.toml"),
        (PAGE, ["--blind", "--key", "key.md"], "", "leave out --blind"),
        (PAGE, ["--blind", "other.toml"], "", "cannot read other.toml"),
    ],
)
def test_a_mistake_is_one_line_and_makes_nothing(check, tmp_path, text, options, answers, said):
    done = check(text, *options, answers=answers)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert said in done.stderr
    assert not (tmp_path / "runs").exists()


DRAWN = """\
import random

from slownet import ping

TRIPS = random.randint(2, 13)  # drawn when the program starts


def page(net):
    found = ping(net["client"], net["server"].IP(), count=3, interval=0.01)
    return {"page_ms": [TRIPS * reply.ms for reply in found.replies]}
"""


def test_a_tool_of_ones_own_that_draws_its_round_trips_is_not_marked_by_one_boot(check, tmp_path):
    """One boot's page costs the same round trips each time, so that its interval is narrow, and means nothing."""
    (tmp_path / "mine.py").write_text(DRAWN)
    text = PAGE.replace('service = "nginx"\npage = "30kB"\ntool = "ab"\n\n[options]\nrequests = 5\n', 'tool = "mine.py:page"\n')
    text = text.replace("time_per_request_ms", "page_ms").replace('"?"', "200")
    done = check(text, "--tdf", "inf", "--out", "json=-")
    (run,) = json.loads(done.stdout)["runs"]
    boots = [cell["repetitions"] for cell in run["cells"]]
    assert min(boots) >= 3
    samples = [json.loads(line) for line in (tmp_path / run["directory"] / "samples.jsonl").read_text().splitlines()]
    trips = {round(each["metrics"]["page_ms"]["mean"] / 40) for each in samples if each["cell"]["rtt"] == "40ms"}
    (claim,) = run["claims"]
    assert len(trips) == 1 or claim["high"] - claim["low"] > 1, "the interval has what differs between boots"
