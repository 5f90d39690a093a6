"""The reader finds what compose's own library (compose-go 2.16.2) finds: its answers are in data/*/expected.json.

They were made by its `cli.NewProjectOptions(files, WithOsEnv, WithDotEnv, WithProfiles)` and `LoadProject`, then
`WithServicesEnvironmentResolved`, with only OUTER=outer in the environment and the project's folder replaced by /PROJECT.
Those of data/public, files as people publish them, are made and compared by tests/compose_go.
"""

import json
import os
from pathlib import Path

import public_files
import pytest

from slownet.compose import reader
from slownet.compose.casts import seconds
from slownet.compose.model import Health

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


@pytest.fixture(scope="module", params=[*CASES, *public_files.NAMES])
def both(request, tmp_path_factory):
    if request.param in public_files.NAMES:
        folder = public_files.lay_out(request.param, tmp_path_factory.mktemp("public"))
        found = reader.read([folder / "compose.yaml"], machine=public_files.machine(folder))
        text = (public_files.FILES / "expected.json").read_text()
        return found, json.loads(text.replace("/PROJECT", str(folder)))[request.param]
    files, profiles = CASES[request.param]
    found = reader.read([DATA / request.param / each for each in files], profiles, {"OUTER": "outer"})
    return found, expected(request.param)


def pairs(both):
    project, theirs = both
    counted = {name: each for name, each in theirs["services"].items() if replicas(each)}
    assert {each.origin for each in project.services} == set(counted)
    return [(each, counted[each.origin]) for each in project.services]


def replicas(theirs):
    return theirs.get("scale", theirs.get("deploy", {}).get("replicas", 1))


def test_there_are_at_least_39_files_as_people_publish_them():
    assert len(public_files.NAMES) >= 39


def test_replicas(both):
    assert [len(both[0].replicas(ours.origin)) for ours, _ in pairs(both)] == [replicas(theirs) for _, theirs in pairs(both)]


def test_the_project_has_its_name(both):
    assert both[0].name == both[1]["name"]


def test_images(both):
    for ours, theirs in pairs(both):
        assert ours.image == theirs.get("image", f"{both[0].name}-{ours.origin}" if "build" in theirs else "")


TEXTS = {"user": "user", "hostname": "hostname", "working_dir": "cwd", "stop_signal": "stop_signal"}


@pytest.mark.parametrize("field", TEXTS)
def test_texts(both, field):
    for ours, theirs in pairs(both):
        assert ours.container.get(TEXTS[field], "") == theirs.get(field, "")


def test_what_containers_may_do(both):
    for ours, theirs in pairs(both):
        assert ours.container.get("sysctls", {}) == theirs.get("sysctls", {})
        assert ours.container.get("groups", []) == theirs.get("group_add", [])
        stated = {name: each if isinstance(each, dict) else {"soft": each, "hard": each} for name, each in ulimits(theirs)}
        assert ours.container.get("limits", {}) == {name: [each["soft"], each["hard"]] for name, each in stated.items()}
        assert [list(each.command) for each in ours.post_start] == [each["command"] for each in theirs.get("post_start", [])]


def ulimits(theirs):
    return (theirs.get("ulimits") or {}).items()


@pytest.mark.parametrize("field", ["command", "entrypoint"])
def test_commands(both, field):
    for ours, theirs in pairs(both):
        assert ours.container.get(field) == theirs.get(field)


def test_environments(both):
    for ours, theirs in pairs(both):
        # compose keeps a name without a value anywhere as null: the container then does not have it
        assert ours.environment == {name: value for name, value in theirs.get("environment", {}).items() if value is not None}


def test_tcp_ports(both):
    for ours, theirs in pairs(both):
        stated = [each["target"] for each in theirs.get("ports", []) if each["protocol"] == "tcp"]
        exposed = [port for each in theirs.get("expose", []) if not each.endswith("/udp") for port in ports(each)]
        assert list(ours.ports) == list(dict.fromkeys([*stated, *exposed]))


def ports(text):
    first, _, last = text.removesuffix("/tcp").partition("-")
    return range(int(first), int(last or first) + 1)


def test_read_only_and_init(both):
    for ours, theirs in pairs(both):
        for name in ("read_only", "init"):
            assert ours.container.get(name, False) == theirs.get(name, False)


def test_volumes(both):
    for ours, theirs in pairs(both):
        stated = {each["target"]: each for each in theirs.get("volumes", [])}
        tmpfs = [each.partition(":") for each in theirs.get("tmpfs", [])]
        stated |= {name: {"type": "tmpfs", "read_only": "ro" in options.split(",")} for name, _, options in tmpfs}
        stated |= {"/dev/shm": {"type": "tmpfs"}} if "shm_size" in theirs else {}
        assert {each.target for each in ours.volumes} == set(stated)
        for each in ours.volumes:
            its = stated[each.target]
            assert each.read_only == its.get("read_only", False)
            path = Path(its.get("source", ""))
            if its["type"] == "bind" and not path.is_file() and not path.is_dir():  # an engine makes an empty folder
                assert (each.kind, each.source) == ("volume", "")
            elif device := both[1].get("volumes", {}).get(its.get("source"), {}).get("driver_opts", {}).get("device", ""):
                assert (each.kind, each.source) in [("bind", device), ("volume", its["source"])]
            elif its["type"] == "bind":
                assert (each.kind, each.source) == ("bind", os.path.realpath(path))
            else:
                assert (each.kind, each.source) == (its["type"], its.get("source", ""))


def test_networks(both):
    for ours, theirs in pairs(both):
        own = (theirs["container_name"],) if "container_name" in theirs else ()
        stated = theirs.get("networks") or ({"default": None} if theirs.get("network_mode", "") in ("", "bridge") else {})
        assert ours.networks == {name: (*(each or {}).get("aliases", ()), *own) for name, each in stated.items()}


def test_dependencies(both):
    names = {each.origin for each in both[0].services}
    for ours, theirs in pairs(both):
        stated = {name: each["condition"] for name, each in theirs.get("depends_on", {}).items() if name in names}
        assert {each.service: each.condition for each in ours.depends_on} == stated


def test_healthchecks(both):
    for ours, theirs in pairs(both):
        its = theirs.get("healthcheck")
        if not its:
            assert ours.health is None
            continue
        if its.get("disable"):
            assert ours.health == Health(("NONE",))
            continue
        names = ("interval", "timeout", "start_period", "start_interval")
        times = {name: seconds(its[name]) for name in names if name in its}
        assert ours.health == Health(tuple(its.get("test", ())), retries=its.get("retries") or None, **times)


def test_how_long_a_service_may_take_to_stop(both):
    for ours, theirs in pairs(both):
        stated = theirs.get("stop_grace_period")
        assert ours.container.get("stop_s") == (seconds(stated) if stated else None)


def test_further_hosts(both):
    for ours, theirs in pairs(both):
        stated = [each.partition("=")[::2] for each in theirs.get("extra_hosts", [])]
        assert sorted((name, each) for name, found in ours.extra_hosts.items() for each in found) == sorted(stated)
