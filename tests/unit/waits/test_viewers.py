"""Files for other viewers: what they say is the account, in the forms that these formats ask for."""

import itertools
import json

import pytest
from accounts import Path, mixed, page, repeated

from slownet.cli.outputs import Outputs
from slownet.cli.why_options import OF_ACCOUNTS
from slownet.cli.why_outputs import write
from slownet.model.errors import ExperimentError
from slownet.waits.account_text import folded
from slownet.waits.viewers import chrome_trace, speedscope

ACCOUNTS = pytest.mark.parametrize("account", [page(), repeated(), mixed()], ids=["page", "repeated", "mixed"])


@ACCOUNTS
def test_a_speedscope_profile_opens_and_closes_its_frames_in_order(account):
    record = speedscope(account, "a run")
    (profile,) = record["profiles"]
    names = [each["name"] for each in record["shared"]["frames"]]
    assert len(set(names)) == len(names)
    opened, at, own = [], 0, {}
    for event in profile["events"]:
        assert at <= event["at"] <= profile["endValue"] == account.elapsed_ns
        if opened:
            own[opened[-1]] = own.get(opened[-1], 0) + event["at"] - at
        at = event["at"]
        if event["type"] == "O":
            assert event["frame"] not in opened  # speedscope takes that for recursion
            opened.append(event["frame"])
        else:
            assert opened.pop() == event["frame"]
    assert opened == []
    assert sum(own.values()) == account.elapsed_ns


def test_frames_that_go_on_are_not_closed():
    account = Path().stay("web", 1.0, detail="a").stay("web", 2.0, detail="b").account()
    record = speedscope(account, "")
    names = [each["name"] for each in record["shared"]["frames"]]
    said = [(each["type"], names[each["frame"]], each["at"] // 1_000_000) for each in record["profiles"][0]["events"]]
    assert said == [
        ("O", "web", 0), ("O", "timer of the program", 0), ("O", "a", 0), ("C", "a", 1), ("O", "b", 1), ("C", "b", 3),
        ("C", "timer of the program", 3), ("C", "web", 3),
    ]  # fmt: skip


@ACCOUNTS
def test_a_trace_has_a_process_for_each_host_and_slices_that_follow_each_other(account):
    events = chrome_trace(account, "a run")["traceEvents"]
    hosts = {each["pid"]: each["args"]["name"] for each in events if each["name"] == "process_name"}
    assert next(iter(hosts.values())) == "client"
    slices = [each for each in events if each["ph"] == "X"]
    assert [hosts[each["pid"]] for each in slices] == [each.source for each in account.steps if each.ns]
    assert sum(each["dur"] for each in slices) == pytest.approx(account.elapsed_ns / 1000, rel=1e-9)
    assert all(one["ts"] + one["dur"] == pytest.approx(two["ts"]) for one, two in itertools.pairwise(slices))
    arrows = [each for each in events if each["ph"] in "sf"]
    assert len(arrows) == 2 * sum(each.trip and each.source != each.target for each in account.steps)
    assert [each["id"] for each in arrows if each["ph"] == "s"] == [each["id"] for each in arrows if each["ph"] == "f"]
    asynchronous = [each for each in events if each["ph"] in "be"]
    assert len(asynchronous) == 2 * len(account.beside)


def test_stacks_are_three_frames_and_whole_microseconds():
    account = Path().stay("web", 0.0004, detail="a; b").stay("web", 2.0).account()
    assert list(folded(account.steps)) == ["web;timer of the program;a, b 1", "web;timer of the program 2000"]


def test_both_files_begin_with_their_exporter_and_may_be_overwritten(tmp_path):
    """A file of another program's stays, though it is of the same format."""
    wanted = Outputs.read([f"{kind}={tmp_path / kind}.json" for kind in ("speedscope", "chrome-trace")], OF_ACCOUNTS)
    for _ in range(2):
        write(wanted, page(), {}, "a run")
        Outputs(wanted.files)
    for path in wanted.files.values():
        path.write_text(json.dumps({name: value for name, value in json.loads(path.read_text()).items() if name[0] in "$t"}))
        with pytest.raises(ExperimentError, match="holds something else"):
            Outputs(wanted.files)
        path.unlink()
