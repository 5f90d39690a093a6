"""The parts of the plugin that need no lab: requested clocks, merged reports, shares of a lab."""

import datetime
import platform
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from pathlib import Path
from types import SimpleNamespace

import pytest

from slownet.judge.records import judgement as verdicts
from slownet.lab.run import caller, pytest_inside
from slownet.lab.run.clock import Clock, ClockRequest
from slownet.lab.run.place import Place
from slownet.model.errors import ExperimentError, LabError
from slownet.pytest_plugin import fixtures, session, session_junit, short_names
from slownet.pytest_plugin.networks import Wanted, host_for
from slownet.pytest_plugin.wishes import CLOCK, CONFINED, KERNEL, MEMORY, TDF, of_item
from slownet.topologies import ClientWebDb, Star


def test_wishes_for_one_clock_share_its_place(monkeypatch):
    def choose(place, asked, megabytes, *, folder, confined, exact, kernel):
        assert exact
        assert kernel == "wide"
        assert (megabytes, folder, confined) == (2048, Path("/shop"), True)
        return Place(Clock(asked.clock or "virtual", float(asked.tdf or 7)), {}, parts="a lab's")

    monkeypatch.setattr(session, "choose", choose)
    config = SimpleNamespace(rootpath=Path("/shop"), getoption={CONFINED: True, MEMORY: 2048, KERNEL: "wide"}.get)
    asked = [(), ("real",), ("virtual",), ("virtual", "inf"), ("virtual", "4")]
    usual, real, virtual, free, four = (ClockRequest(*each) for each in asked)
    groups = session.group_by_place([usual, real, virtual, free, four], config)
    assert [alike for alike, _ in groups] == [[usual, virtual, free], [real], [four]]
    assert [str(place.clock) for _, place in groups] == ["virtual clock, TDF inf", "real clock", "virtual clock, TDF 4"]


def test_tests_without_a_network_run_here_beside_labs():
    here, lab = Place(Clock("real"), {"place": "native"}), Place(Clock("virtual", 4), {}, parts="a lab's")
    in_lab, native = ([ClockRequest("virtual")], lab), ([ClockRequest("real")], here)
    assert session.with_the_rest([in_lab], rest=True) == [((), session.THIS_MACHINE), in_lab]
    assert session.with_the_rest([in_lab], rest=False) == [in_lab]
    assert session.with_the_rest([in_lab, native], rest=True) == [native, in_lab]
    assert session.with_the_rest([native], rest=True) == [native]
    assert session.with_the_rest([], rest=True) == []


def item(clock=None, tdf=None, marks=None):
    """A test for `of_item`, with session options and markers."""
    markers = {name: SimpleNamespace(name=name, args=values, kwargs={}) for name, values in (marks or {}).items()}
    config = SimpleNamespace(getoption={CLOCK: clock, TDF: tdf}.get, getini={short_names.INI: short_names.SHORT}.get)
    return SimpleNamespace(config=config, nodeid="test_a.py::test_it", get_closest_marker=markers.get)


@pytest.mark.parametrize(
    ("one", "wish"),
    [
        (item(), ClockRequest()),
        (item(clock="real"), ClockRequest("real")),
        (item(tdf="4"), ClockRequest("virtual", "4")),
        (item(tdf="4", marks={"clock": ["real"]}), ClockRequest("real")),
        (item(tdf="4", marks={"clock": ["exact"]}), ClockRequest("exact")),
        (item(clock="exact"), ClockRequest("exact")),
        (item(tdf="4", marks={"clock": ["virtual"]}), ClockRequest("virtual", "4")),
        (item(clock="real", marks={"tdf": [float("inf")]}), ClockRequest("virtual", "inf")),
        (item(marks={"tdf": [10]}), ClockRequest("virtual", "10")),
    ],
)
def test_a_tests_markers_go_before_the_sessions_options(one, wish):
    assert of_item(one) == wish


@pytest.mark.parametrize(
    ("marks", "said"),
    [
        ({"clock": ["rael"]}, "did you mean 'real'"),
        ({"tdf": ["fast"]}, "invalid time dilation factor 'fast'"),
        ({"tdf": []}, "takes one value"),
        ({"clock": ["real"], "tdf": [4]}, "has no meaning on the real clock"),
        ({"clock": ["exact"], "tdf": [4]}, "has no meaning on the exact clock"),
    ],
)
def test_a_marker_that_cannot_be_names_the_test(marks, said):
    with pytest.raises(LabError, match=said) as caught:
        of_item(item(marks=marks))
    assert "test_a.py::test_it" in str(caught.value)


def test_reports_of_several_labs_become_one(tmp_path):
    path = tmp_path / "junit.xml"
    reports = session_junit.Reports(str(path))
    for name in ("one", "two"):
        path.write_text(f'<testsuites><testsuite name="pytest"><testcase name="{name}"/></testsuite></testsuites>')
        reports.take(session_junit.Span())
    reports.take(session_junit.Span())  # a lab that left no report
    reports.merge()
    root = ET.parse(path).getroot()
    assert [case.get("name") for case in root.iter("testcase")] == ["one", "two"]
    assert [suite.tag for suite in root] == ["testsuite", "testsuite"]


def test_a_suite_has_this_machines_date_and_time(tmp_path):
    path = tmp_path / "junit.xml"
    path.write_text('<testsuites><testsuite time="3600.000" timestamp="2031-01-01T00:00:00" hostname="lab"/></testsuites>')
    before = datetime.datetime.now().astimezone()
    span = session_junit.Span()
    reports = session_junit.Reports(str(path))
    reports.take(span)
    reports.merge()
    (suite,) = ET.parse(path).getroot()
    assert before <= datetime.datetime.fromisoformat(suite.get("timestamp")) <= datetime.datetime.now().astimezone()
    assert 0 <= float(suite.get("time")) < 3600
    assert suite.get("hostname") == platform.node()


def test_a_test_is_timed_by_files_of_the_folder_that_the_lab_writes(tmp_path):
    times = session_junit.InLab(SimpleNamespace(workerinput={"workerid": "gw1"}), tmp_path)
    (tmp_path / ".slownet-time-gw1").touch()  # of a session that was killed
    before, now, after = time.time(), times.now(), time.time()
    assert before - 0.1 <= now <= after + 0.1  # a file's date is that of the kernel's last tick
    assert list(tmp_path.iterdir()) == []
    assert session_junit.InLab(SimpleNamespace(), tmp_path / "none").now() is None


def test_the_marker_takes_a_class():
    mark = pytest.mark.topology(ClientWebDb).mark
    assert mark.args == (ClientWebDb,)


def test_topologies_are_the_same_with_the_same_parameters():
    assert Wanted.of("star", n=3) == Wanted.of(Star, n=3)
    assert Wanted.of("star", n=3) != Wanted.of(Star, n=4)
    assert len(Wanted.of(Star, n=4).build().hosts()) == 5
    with pytest.raises(ExperimentError, match="did you mean 'star'"):
        Wanted.of("stra")
    with pytest.raises(ExperimentError, match="is not a topology"):
        Wanted.of(int)
    with pytest.raises(ExperimentError, match="Star does not accept these parameters"):
        Wanted.of(Star, n=0).build()


def test_which_host_plays_a_role():
    net = SimpleNamespace(hosts=[SimpleNamespace(name=each) for each in ("server", "client1")])
    assert host_for(net, "web", ("web", "server"), {}) == "server"
    assert host_for(net, "web", ("web", "server"), {"web": "client1"}) == "client1"
    with pytest.raises(ExperimentError, match="did you mean 'client1'"):
        host_for(net, "web", (), {"web": "client"})
    with pytest.raises(ExperimentError, match=r"hosts\(db=...\)"):
        host_for(net, "db", ("db",), {})


def test_folders_inside_others_are_shared_once(tmp_path):
    (tmp_path / "a/b").mkdir(parents=True)
    folders = [tmp_path / "a/b", tmp_path / "a", tmp_path / "none", Path("/usr/lib"), Path("/tmp")]
    assert caller.outermost(folders) == [tmp_path / "a"]


def test_a_report_goes_where_its_link_leads(tmp_path):
    link, target = tmp_path / "far/report.xml", tmp_path / "0"
    pytest_inside.link(link, target)
    pytest_inside.link(link, target)
    link.write_text("<xml/>")
    assert target.read_text() == "<xml/>"


def test_the_plugin_is_loaded_beside_others():
    assert pytest_inside.with_the_plugin("") == "slownet.pytest_plugin"
    assert pytest_inside.with_the_plugin("a,b") == "a,b,slownet.pytest_plugin"


def test_pytest_compiles_nothing_of_slownet_in_a_lab_and_does_not_warn():
    """It would, to rewrite assertions, as it does for every plugin; labs cannot keep the result."""
    code = f"""
import sys
sys.path.insert(0, {str(Path(pytest_inside.__file__).parent)!r})
import pytest_inside
pytest_inside.import_plugin()
from _pytest.assertion import rewrite
marked = rewrite.AssertionRewritingHook.mark_rewrite
rewrite.AssertionRewritingHook.mark_rewrite = lambda hook, *names: marked(hook, "slownet", *names)  # as of an installed wheel
import pytest
status = pytest.main(["-q", "-W", "error", "-p", "no:cacheprovider", "-p", pytest_inside.PLUGIN, "--co", __file__])
rewritten = [name for name, each in sys.modules.items() if "rewrite" in type(getattr(each, "__loader__", None)).__module__]
print([each for each in rewritten if each.split(".")[0] == "slownet"])
"""
    done = subprocess.run(
        [sys.executable, "-c", code.replace("__file__", repr(__file__))], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert done.stdout.splitlines()[-1] == "[]"
    assert "warning" not in done.stdout


def test_verdicts_are_heard_while_somebody_listens(monkeypatch):
    monkeypatch.setattr(verdicts, "_listeners", [])  # the plugin of the current session is notified, too
    heard = []
    with verdicts.observed_by(heard.append):
        verdicts.notify("one")
    verdicts.notify("two")
    assert heard == ["one"]


@pytest.mark.parametrize("mark", [pytest.mark.behind, pytest.mark.behind()])
def test_behind_no_condition_fails(mark):
    request = SimpleNamespace(node=SimpleNamespace(get_closest_marker=lambda name: mark.mark))
    with pytest.raises(pytest.fail.Exception, match=r'^@pytest\.mark\.behind: no condition: name one, "Slow 4G"'):
        fixtures._behind(request, None)
