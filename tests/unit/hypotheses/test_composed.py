"""Experiments on compose projects, made from words of the command line."""

import json
import subprocess
from contextlib import contextmanager

import pytest

from slownet.cli import completing
from slownet.hypotheses import composed
from slownet.hypotheses.catalogue import find
from slownet.links.conditions.link import Condition
from slownet.model.errors import ConditionError, ExperimentError, UnitError
from slownet.runner.run_request import RunRequest, conditions, names
from slownet.tools.register import TOOLS, card

TEXT = """
name: shop
services:
  web: {image: shop:1, ports: ["80:8000"], depends_on: [db]}
  db: {image: postgres:17, x-slownet: {rtt: 10ms, loss: 1%}}
"""
URL = "http://web:8000/checkout"


@pytest.fixture
def make(tmp_path):
    """make(vary words, tool, url, option words) -> an experiment on a project with the hosts client, web and db."""
    (tmp_path / "compose.yaml").write_text(TEXT)

    def of(vary=(), tool="ab", url=URL, options=(), **words):
        page = [f"url={url}"] if url else []
        (found,) = names(
            RunRequest(vary=vary, compose=[tmp_path / "compose.yaml"], tool=tool, option=[*page, *options], **words)
        )
        return found

    return of


OWN = {"tool": "pgbench -t 5 -h db", "url": None, "value": ["tps = ([0-9.]+)"]}
WRONG = {
    "no host": ({"vary": ["rtt=0ms,10ms"]}, "'rtt' names no host, --vary: write --vary db:rtt=..."),
    "unknown host": ({"vary": ["dbb:rtt=0ms"]}, "no host 'dbb' in shop, --vary: did you mean 'db'?"),
    "unknown field": ({"vary": ["db:rrt=0ms"]}, "a condition has no field 'rrt', --vary db:rrt: did you mean 'rtt'?"),
    "no unit": ({"vary": ["db:rtt=10"]}, "duration '10' has no unit, --vary db:rtt=10: write it like"),
    "contradiction": (
        {"vary": ["web:delay=1ms", "web:rtt=1ms"]},
        "a condition takes delay or rtt, not both, --vary web:delay=1ms",
    ),
    "contradicts the file": ({"vary": ["db:delay=5ms"]}, "a condition takes delay or rtt, not both, --vary db:delay=5ms"),
    "unknown name": ({"vary": ["db:condition=LTEE"]}, "no condition 'LTEE', --vary db:condition=LTEE: did you mean 'LTE'?"),
    "no values": ({"vary": ["db:rtt"]}, "invalid condition 'db:rtt', --vary: write NAME=VALUE"),
    "no tool": ({"tool": None}, "nothing measures the project, --tool: add --tool ab"),
    "unknown tool": ({"tool": "abb"}, "no tool 'abb', --tool: did you mean 'ab'?"),
    "a database without a host": ({"tool": "sysbench"}, "sysbench needs a host to measure, --option: write --option to=db"),
    "no rate": ({"tool": "wrk2"}, "wrk2 needs a rate, --option: write --option rate=100"),
    "no number": ({"options": ["requests=many"]}, "requests is 'many', --option: write a number: requests=50"),
    "no number at all": ({"options": ["requests=nan"]}, "requests is 'nan', --option: write a number: requests=50"),
    "a command and a page": (OWN | {"url": URL}, "a command has its address itself, --option url: write it in --tool"),
    "a command without numbers": (OWN | {"value": []}, "no tool 'pgbench -t 5 -h db', --tool: "),
    "an empty command": (OWN | {"tool": " "}, "the command is empty, --tool: write one such as"),
    "an open quote": (OWN | {"tool": "a 'b"}, "unclear command: No closing quotation, --tool: quote as in a"),
    "no pattern": (OWN | {"value": ["tps = ("]}, "unclear pattern 'tps = (': missing ), unterminated subpattern at position 6"),
    "two of one name": (OWN | {"value": ["a (.)", "a (..)"]}, "two values are called a, --value: name one: (?P<a_2>[0-9.]+)"),
    "an option of a tool": (
        OWN | {"options": ["requests=5"]},
        "a command has no option 'requests', --option: choose from",
    ),
    "no address": ({"url": None}, "ab needs an address, --option url: write one such as http://web:8000/"),
    "unclear address": ({"url": "web:8000"}, "unclear address 'web:8000', --option url: write one such as http://web:8000/"),
    "unknown option": ({"options": ["request=5"]}, "ab has no option 'request', --option: did you mean 'requests'?"),
    "unclear option": ({"options": ["requests"]}, "unclear option 'requests', --option: write NAME=VALUE"),
    "unknown place": ({"options": ["from=wbe"]}, "no host 'wbe', --option: did you mean 'web'?"),
    "nowhere to": ({"tool": "ping", "url": None}, "ping needs a host to measure, --option: write --option to=db"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_mistake_is_one_line(case, make):
    words, line = WRONG[case]
    with pytest.raises((ExperimentError, ConditionError, UnitError)) as error:
        make(**words)
    assert str(error.value).startswith(line)


def test_words_for_projects_need_one():
    with pytest.raises(ExperimentError, match=r"--option is for compose projects, --option: name a compose\.yaml"):
        names(RunRequest(experiments=["client_delay"], option=[f"url={URL}"]))
    assert names(RunRequest(experiments=["client_delay"], vary=["rtt=1ms"])) == ["client_delay"]


def test_either_experiments_or_a_project(tmp_path):
    with pytest.raises(ExperimentError, match="either experiments or a compose project: leave one of them out"):
        names(RunRequest(experiments=["client_delay"], compose=[tmp_path / "compose.yaml"], tool="ab"))


def test_every_combination_is_a_cell(make):
    made = make(["db:rtt=0ms,10ms", "client:rtt=0ms,40ms"])
    assert (made.name, made.question) == ("shop", f"ab {URL} on the compose project shop")
    assert made.cells()[0] == {"db:rtt": "0ms", "client:rtt": "0ms"}
    assert len(made.cells()) == 4


def test_without_conditions_there_is_one_cell(make):
    assert make().cells() == [{}]


class Net:
    """Notes the conditions that links get, while they have them."""

    def __init__(self):
        self.now, self.seen = {}, None

    def __getitem__(self, host):
        return self, host

    def link(self, host, switch):
        assert switch == "switch"
        net = self

        class Link:
            @contextmanager
            def set(self, condition):
                net.now[host] = condition
                yield
                del net.now[host]

        return Link()


@pytest.fixture
def tool(monkeypatch):
    """A tool that notes what it is called with."""
    calls = []

    def noting(host, url: str, requests: int = 1, fast: bool = False):
        net, name = host
        calls.append((url, {"from": name, "requests": requests, "fast": fast}, dict(net.now)))
        return len(calls)

    monkeypatch.setattr(TOOLS, "_own", {**TOOLS._own, "noting": noting})
    return calls


def test_a_cell_changes_what_the_file_states(make, tool):
    made, net = make(["db:rtt=40ms,none", "web:condition=LTE"], "noting", URL, ["requests=5", "fast=true"]), Net()
    first, second = made.cells()
    assert (made.measure(net, **first), made.measure(net, **second)) == (1, 2)
    assert tool[0] == (
        URL, {"from": "client", "requests": 5, "fast": True},
        {"db": Condition.parse(rtt="40ms", loss="1%"), "web": Condition.parse(rtt="70ms", rate="12Mbit")},
    )  # fmt: skip
    assert tool[1][2]["db"] == Condition.parse(loss="1%")
    assert net.now == {}


def test_it_is_found_again_in_its_run_directory(make, tmp_path):
    made = make(["db:rtt=0ms,10ms"], options=["requests=5"])
    again = find(str(made.write(tmp_path)))
    assert (again.record, again.cells(), again.name) == (made.record, made.cells(), made.name)
    assert json.loads((tmp_path / "experiment.json").read_text())["options"] == {"requests": "5"}


def test_every_tool_is_one_of_a_project(make):
    pages = {"url": URL, "tool": "ab"}
    for tool in TOOLS:
        words = pages | {"tool": tool}
        words["options"] = {"sysbench": ["to=db", "user=me"]}.get(tool, ["to=db"] if "to" in card(TOOLS[tool]).hosts else [])
        words["options"] += [f"{each.name}=0.5" for each in card(TOOLS[tool]).options.values() if each.is_needed]
        assert make(**words).question.startswith(tool)
    assert completing.tools("") == list(TOOLS)
    assert completing.tools("redis") == ["redis-benchmark"]


class Said:
    """A host on which a program says something."""

    name = "client"

    def __init__(self, text):
        self.text, self.ran = text, None

    def popen(self, words, **options):
        self.ran = words
        return subprocess.Popen(["printf", "%s", self.text], stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_a_command_of_ones_own(make, tmp_path):
    made, host = make(**OWN | {"value": ["tps = (?P<tps_1_per_s>[0-9.]+)"]}), Said("tps = 81.5 (with)\ntps = 82.5\n")
    found = made.measure({"client": host})
    assert host.ran == ["pgbench", "-t", "5", "-h", "db"]
    assert found.values == {"tps_1_per_s": (81.5, 82.5)}
    assert made.question == "pgbench -t 5 -h db on the compose project shop"
    again = find(str(made.write(tmp_path)))
    assert again.measure({"client": host}) == found


def test_a_command_in_a_container(make):
    made, host = make(**OWN | {"options": ["from=db"]}), Said("tps = 7")

    class Service:
        def inside(self):
            return host

    made.topology.running = {"db": Service()}
    assert made.measure({}).values == {"tps": (7.0,)}


def test_a_file_that_is_no_experiment(tmp_path):
    (tmp_path / "x.json").write_text("{}")
    with pytest.raises(ExperimentError, match=r"x\.json is not an experiment: 'files': name one that slownet run compose.yaml"):
        composed.read(tmp_path / "x.json")


def test_values_of_a_condition():
    assert conditions(["db:rtt=0ms,10ms"]) == {"db:rtt": ["0ms", "10ms"]}


class Running:
    """Services that note what breaks."""

    def __init__(self):
        self.seen = []

    @contextmanager
    def faults(self, chosen):
        self.seen.append(str(chosen))
        yield
        self.seen.append("over")

    def restore(self):
        self.seen.append("restored")


def test_schedules_are_words_or_files_and_may_have_commas(tmp_path):
    (tmp_path / "found.toml").write_text('[faults]\n"4s" = "kill db"\n')
    assert conditions([f"faults={tmp_path / 'found.toml'}"]) == {"faults": ["kill db at 4 s"]}
    assert conditions(["faults=cut b from a, c at 1 s"]) == {"faults": ["cut b from a, c at 1 s"]}
    assert conditions(["faults=none,kill db at 4 s"]) == {"faults": ["none", "kill db at 4 s"]}
    with pytest.raises(ConditionError, match="write a file, or words such as"):
        conditions(["faults=nonsense"])


def test_faults_of_the_file_and_of_the_command_line(make, tool, tmp_path):
    stated = "x-slownet: {faults: {1s: kill db, 2s: start db}}\n"
    (tmp_path / "compose.yaml").write_text(stated + TEXT)
    broken = {}
    for words in (None, "pause db at 3 s", "none"):
        chosen = {"tool": "noting", "option": [f"url={URL}"], "vary": [f"faults={words}"] if words else []}
        (made,) = names(RunRequest(compose=[tmp_path / "compose.yaml"], **chosen))
        again = find(str(made.write(tmp_path)))
        again.topology.running = Running()
        again.measure(Net())
        broken[words] = again.topology.running.seen
    assert broken == {
        None: ["kill db at 1 s; start db at 2 s", "over", "restored"],
        "pause db at 3 s": ["pause db at 3 s", "over", "restored"], "none": [],
    }  # fmt: skip
    with pytest.raises(ConditionError, match="no service 'dbb', --vary faults, the step 'kill dbb at 1 s': did you mean 'db'"):
        names(RunRequest(compose=[tmp_path / "compose.yaml"], **chosen | {"vary": ["faults=kill dbb at 1 s"]}))
