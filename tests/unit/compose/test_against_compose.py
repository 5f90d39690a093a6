"""The reader finds what compose's own library (compose-go 2.16.2) finds: its answers are in data/*/expected.json.

They were made by its `cli.NewProjectOptions(files, WithOsEnv, WithDotEnv, WithProfiles)` and `LoadProject`, then
`WithServicesEnvironmentResolved`, with only OUTER=outer in the environment and the project's folder replaced by /PROJECT.
"""

import json
from pathlib import Path

import pytest

from slownet.compose import reader
from slownet.compose.model import Health
from slownet.compose.services import duration

DATA = Path(__file__).with_name("data")
CASES = {
    "variables": (["compose.yaml"], []),
    "merged": (["compose.yaml", "second.yaml", "third.yaml"], []),
    "extended": (["compose.yaml"], []),
    "profiles": (["compose.yaml"], ["debug"]),
}


def expected(case):
    text = (DATA / case / "expected.json").read_text()
    return json.loads(text.replace("/PROJECT", str(DATA / case)))


@pytest.fixture(scope="module", params=CASES)
def both(request):
    files, profiles = CASES[request.param]
    found = reader.read([DATA / request.param / each for each in files], profiles, {"OUTER": "outer"})
    return found, expected(request.param)


def pairs(both):
    project, theirs = both
    assert {each.name for each in project.services} == set(theirs["services"])
    return [(each, theirs["services"][each.name]) for each in project.services]


def test_the_project_has_its_name(both):
    assert both[0].name == both[1]["name"]


@pytest.mark.parametrize("field", ["image", "user"])
def test_texts(both, field):
    for ours, theirs in pairs(both):
        assert getattr(ours, field) == theirs.get(field, "")


@pytest.mark.parametrize("field", ["command", "entrypoint"])
def test_commands(both, field):
    for ours, theirs in pairs(both):
        assert (list(getattr(ours, field)) if getattr(ours, field) is not None else None) == theirs.get(field)


def test_environments(both):
    for ours, theirs in pairs(both):
        # compose keeps a name without a value anywhere as null: the container then does not have it
        assert ours.environment == {name: value for name, value in theirs.get("environment", {}).items() if value is not None}


def test_tcp_ports(both):
    for ours, theirs in pairs(both):
        stated = [each["target"] for each in theirs.get("ports", []) if each["protocol"] == "tcp"]
        assert list(ours.ports) == list(dict.fromkeys([*stated, *map(int, theirs.get("expose", []))]))


def test_read_only_and_init(both):
    for ours, theirs in pairs(both):
        assert (ours.read_only, ours.init) == (theirs.get("read_only", False), theirs.get("init", False))


def test_volumes(both):
    for ours, theirs in pairs(both):
        stated = {each["target"]: each for each in theirs.get("volumes", [])}
        stated |= {target: {"type": "tmpfs"} for target in theirs.get("tmpfs", [])}
        assert {each.target for each in ours.volumes} == set(stated)
        for each in ours.volumes:
            its = stated[each.target]
            assert each.read_only == its.get("read_only", False)
            if its["type"] == "bind" and not Path(its["source"]).exists():  # an engine makes an empty folder
                assert (each.kind, each.source) == ("volume", "")
            else:
                assert (each.kind, each.source) == (its["type"], its.get("source", ""))


def test_networks(both):
    for ours, theirs in pairs(both):
        assert ours.networks == {name: tuple((each or {}).get("aliases", ())) for name, each in theirs["networks"].items()}


def test_dependencies(both):
    names = {each.name for each in both[0].services}
    for ours, theirs in pairs(both):
        stated = {name: each["condition"] for name, each in theirs.get("depends_on", {}).items() if name in names}
        assert {each.service: each.condition for each in ours.depends_on} == stated


def test_healthchecks(both):
    for ours, theirs in pairs(both):
        its = theirs.get("healthcheck")
        if its is None:
            assert ours.health is None
            continue
        times = {name: duration(its[name]) for name in ("interval", "timeout", "start_period") if name in its}
        assert ours.health == Health(tuple(its["test"]), retries=its.get("retries"), **times)


def test_how_long_a_service_may_take_to_stop(both):
    for ours, theirs in pairs(both):
        assert ours.stop_s == (duration(theirs["stop_grace_period"]) if "stop_grace_period" in theirs else 10.0)


def test_further_hosts(both):
    for ours, theirs in pairs(both):
        stated = (each.partition("=") for each in theirs.get("extra_hosts", []))
        assert ours.extra_hosts == {name: (address,) for name, _, address in stated}
