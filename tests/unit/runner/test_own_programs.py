"""Programs that slownet does not know are measured in several boots, by whatever way they come."""

import functools
from dataclasses import dataclass, replace

import pytest
from mininet.topo import SingleSwitchTopo

from slownet import ClientWebDb, TwoHosts, experiment, ping
from slownet.hypotheses import composed
from slownet.hypotheses.catalogue import discover, find
from slownet.judge.measured import Metrics, Setting, measured_under
from slownet.judge.records.charging import Charging, Terms
from slownet.judge.records.exactness import verdict_from
from slownet.judge.records.repeatability import SAME
from slownet.judge.records.result import gather
from slownet.lab.run.clock import INF as INF_TDF
from slownet.lab.run.clock import Clock
from slownet.lab.run.place import Place
from slownet.model import extensions
from slownet.report.view import intervals_line, view
from slownet.report.words import measuring_more
from slownet.runner import planning
from slownet.runner.rule import Rule
from slownet.services.wordpress import WordPress
from slownet.sweep.refine import Criterion
from slownet.sweep.sweeping import _repetitions

INF = Place(Clock("virtual", INF_TDF), {"kernel": "k", "place": "lab"})
TIME = "time_per_request_ms"
MINE = """
from contextlib import contextmanager
from mininet.topo import Topo

class Shop(Topo):
    def build(self):
        switch = self.addSwitch("switch")
        for name in ("client", "web", "db"):
            self.addLink(self.addHost(name), switch)

@contextmanager
def shop(net, directory=None):
    yield net["web"]

def page(net, service=None, **options):
    return {"page_ms": 1.0}
"""
HYPOTHESIS = """
question = "?"
topology = "client_web_db"
service = "wordpress"
tool = "ab"
[conditions]
link = ["client", "switch"]
rtt = ["0ms", "10ms"]
[[prediction]]
claim = "law"
metric = "time_per_request_ms"
round_trips = 4
"""
PYTHON = """
from slownet import ClientWebDb, ab, experiment, law

@experiment(topology=ClientWebDb, vary={"rtt": ["0ms", "10ms"]}, tdf="inf")
def mine(net, rtt):
    "How long?"
    return ab(net["client"], "http://web/")

mine.claims(law("time_per_request_ms", round_trips=4))
"""
COMPOSE = "services:\n  web:\n    image: shop:1\n"


def hypothesis(folder, *changes):
    (folder / "mine.py").write_text(MINE)
    text = HYPOTHESIS
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    (folder / "h.toml").write_text(text)
    return find(str(folder / "h.toml"))


def of_python(folder):
    (folder / "mine.py").write_text(PYTHON)
    return find(str(folder / "mine.py"))


def of_compose(folder):
    (folder / "compose.yaml").write_text(COMPOSE)
    return composed.make([folder / "compose.yaml"], {"web:rtt": ["0ms"]}, "ping", None, {"to": "web"})


def of_compose_in_toml(folder):
    (folder / "compose.yaml").write_text(COMPOSE)
    return hypothesis(
        folder,
        ('"client_web_db"', '"compose.yaml"'),
        ('service = "wordpress"\n', ""),
        ('"ab"', '"ping"'),
        ('"client",', '"web",'),
    )


def of_an_object(folder):
    """An experiment that a notebook defines."""

    @experiment(topology=ClientWebDb, vary={"rtt": ["0ms", "10ms"]})
    def measured(net, rtt):
        return 1.0

    return measured


def of_prepare(folder):
    return experiment(topology=TwoHosts, vary={"address": ["10.0.0.1"]}, prepare=lambda net: None)(ping)


def of_a_wrapped_topology(folder):
    class Mine(TwoHosts):
        pass

    return experiment(topology=functools.partial(Mine), vary={"address": ["10.0.0.1"]})(ping)


WAYS = {
    "a Python file": of_python,
    "an object": of_an_object,
    "a tool in a hypothesis file": lambda folder: hypothesis(folder, ('"ab"', '"mine.py:page"')),
    "a service in a hypothesis file": lambda folder: hypothesis(folder, ('"wordpress"', '"mine.py:shop"'), ('"ab"', '"ping"')),
    "a topology in a hypothesis file": lambda folder: hypothesis(folder, ('"client_web_db"', '"mine.py:Shop"')),
    "a topology with parameters": lambda folder: hypothesis(
        folder, ('"client_web_db"', '"mine.py:Shop"'), ("[conditions]", "[parameters]\n[conditions]")
    ),
    "a compose project": of_compose,
    "a compose project in a hypothesis file": of_compose_in_toml,
    "what is prepared": of_prepare,
    "a topology of a function": of_a_wrapped_topology,
}


@pytest.mark.parametrize("way", WAYS)
def test_its_numbers_may_differ_between_boots_until_four_agree(way, tmp_path):
    made = WAYS[way](tmp_path)
    facts = planning.described(made, INF)
    assert facts["own_programs"]
    assert facts["repeats"] != SAME
    assert verdict_from((), Terms.of(facts)) in (3, 4)
    assert _repetitions(made, INF, is_judged=True) in (3, 4)
    assert _repetitions(made, INF, is_judged=False) == 1
    assert facts["warm_up"] == {"operations": 30, "limit_s": 10.0, "real_s": 10.0}


@pytest.mark.parametrize("way", ["a Python file", "a tool in a hypothesis file", "a topology in a hypothesis file"])
def test_so_many_boots_are_planned_before_the_first_look(way, tmp_path):
    """By `slownet run`, `slownet check` and `slownet.run`, which plan alike."""
    name = {"a Python file": "mine.py"}.get(way, "h.toml")
    WAYS[way](tmp_path)
    plan = planning.plan(str(tmp_path / name), INF, tmp_path / "runs", {}, Rule())
    assert len(plan.boots) == verdict_from((), Terms.of(plan.facts)) > 1
    first, second, third = (plan.cells[boot.first : boot.first + boot.places] for boot in plan.boots[:3])
    assert first == third == second[::-1], "no cell comes first in every boot"


def test_what_another_package_adds_is_unknown(tmp_path, monkeypatch):
    def run(host):
        return 1.0

    monkeypatch.setattr(extensions, "_added", lambda kind: {"mine": None})
    monkeypatch.setattr(extensions, "_load", lambda kind, found: run if kind == "tools" else lambda net, directory, page: None)
    assert planning.described(hypothesis(tmp_path, ('"ab"', '"mine"')), INF)["own_programs"]
    assert planning.described(hypothesis(tmp_path, ('"wordpress"', '"mine"'), ('"ab"', '"ping"')), INF)["own_programs"]


def test_what_slownet_brings_is_known(tmp_path):
    for each in discover().values():
        assert not planning.described(each, INF)["own_programs"]
        assert planning.described(each, INF)["warm_up"]["operations"] == 0
    facts = planning.described(hypothesis(tmp_path), INF)
    assert not facts["own_programs"]
    assert facts["chance"] == WordPress.chance, "also through a hypothesis file"
    mininets = experiment(topology=SingleSwitchTopo(2), vary={"address": ["10.0.0.1"]})(ping)
    assert not planning.described(mininets, INF)["own_programs"]


def test_what_a_tool_draws_with_an_option_is_known_to_be_random(tmp_path):
    changes = (
        ('"client_web_db"', '"two_hosts"'),
        ('service = "wordpress"\n', ""),
        ('"ab"', '"iperf3"'),
        ('"switch"', '"server"'),
    )
    assert planning.described(hypothesis(tmp_path, *changes), INF)["chance"] == ""
    bbr = ("[conditions]", '[options]\ncongestion = "bbr"\n[conditions]')
    assert "BBR" in planning.described(hypothesis(tmp_path, *changes, bbr), INF)["chance"]


def test_another_experiment_of_a_known_name_is_not_taken_for_it(tmp_path):
    """slownet knows how much its own `replication` differs between boots, which says nothing of a file of that name."""
    hypothesis(tmp_path)
    (tmp_path / "h.toml").rename(tmp_path / "fairness.toml")
    facts = planning.described(find(str(tmp_path / "fairness.toml")), INF)
    assert facts["chance"] == WordPress.chance
    plan = planning.plan(str(tmp_path / "fairness.toml"), INF, tmp_path / "runs", {}, Rule())
    assert plan.facts["chance_spread"] == []


def drawn(*trips):
    """Return a run with one boot for each number of round trips, as a program drew it when it started."""
    samples = [
        {
            "cell": {"rtt": f"{rtt}ms"}, "condition": {"rtt_ms": float(rtt)}, "status": "ok", "random": False, "boot": boot,
            "metrics": {TIME: {"mean": 0.1 + k * rtt, "sd": 0.01, "n": 20}},
        }
        for boot, k in enumerate(trips, 1) for rtt in (0, 10, 40)
    ]  # fmt: skip
    return gather(samples, {"experiment": "shop", **INF.clock.facts, "own_programs": True})


def test_a_sweeps_criterion_takes_as_many():
    """Of one boot's page of 60 ms nobody knows whether the next one's takes 20 or 130."""
    limit = Criterion.read(f"{TIME}<100ms")
    for run, found in ((drawn(6), "inconclusive"), (drawn(6, 6, 6), "inconclusive"), (drawn(6, 6, 6, 6), "supported")):
        assert limit.judge(run)["rtt 10ms"].verdict == found
    assert "takes 4 repetitions or more" in limit.judge(drawn(6))["rtt 10ms"].text
    assert limit.judge(drawn(6, 13, 2))["rtt 10ms"].verdict == "inconclusive"


def test_intervals_of_too_few_boots_say_so():
    said = "intervals: 95 %, within one boot: how much boots differ is not known: that takes 4 repetitions or more"
    assert intervals_line(view(drawn(6))) == f"{said}: slownet run --repeat 4"


def test_a_run_is_measured_further_by_a_command_that_is_named(tmp_path):
    folder = tmp_path / "a run"
    folder.mkdir()
    assert measuring_more(replace(drawn(6), directory=folder), 4) == "slownet run --repeat 4"  # a baseline's run, perhaps
    (folder / "run.json").write_text("{}")
    assert measuring_more(replace(drawn(6), directory=folder), 4) == f"slownet run --resume '{folder}' --repeat 4"
    (folder / "run.json").rename(folder / "sweep.json")
    assert measuring_more(replace(drawn(6), directory=folder), 4).endswith(f"--out '{folder}' --resume --repeat 4")


def test_intervals_of_enough_boots_say_nothing():
    assert intervals_line(view(drawn(6, 6, 6, 6))) == "intervals: 95 %"


def test_a_test_of_pytest_never_takes_one_boot_as_exact():
    """Its numbers have the interval of their single values, as nobody knows what its programs draw."""
    with measured_under(lambda: Setting(charging=Charging.FREE, random=False)):
        found = Times()
    assert found.time.low < found.time.mean < found.time.high


@dataclass(frozen=True)
class Times(Metrics):
    """A tool's record."""

    def metrics(self):
        return {"time_ms": {"mean": 10.0, "sd": 0.1, "n": 20}}
