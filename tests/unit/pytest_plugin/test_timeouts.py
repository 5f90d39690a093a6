"""pytest-timeout's timers in a lab: the host's alarms, in real seconds."""

import os
import signal
import threading
import time
from types import SimpleNamespace

import pytest

from slownet.pytest_plugin import forwarding, relayed_reports, timeouts


@pytest.fixture
def rung(monkeypatch):
    """What pytest-timeout is asked to do, and what is sent to the host."""
    found = []
    module = SimpleNamespace(
        timeout_sigalrm=lambda item, settings: found.append("signal"),
        timeout_timer=lambda item, settings: found.append("thread"),
    )
    monkeypatch.setattr(timeouts.importlib, "import_module", lambda name: module)
    monkeypatch.setattr(timeouts.inside, "send", lambda event: found.append(event["event"]))
    return found


@pytest.mark.parametrize("method", ["signal", "thread"])
def test_the_hosts_signal_is_pytest_timeouts_alarm(rung, method):
    now, item = [0.0], SimpleNamespace(nodeid="test.py::test")
    before = signal.getsignal(timeouts.RINGS)
    plugin = timeouts.Timeouts(lambda: now[0])
    assert plugin.pytest_timeout_set_timer(item, SimpleNamespace(timeout=3.0, method=method))
    os.kill(os.getpid(), timeouts.RINGS)  # one that was meant for the test before
    time.sleep(0.1)
    assert rung == ["alarm"]
    now[0] = 3.0
    os.kill(os.getpid(), timeouts.RINGS)
    deadline = time.monotonic() + 10
    while len(rung) < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    item.cancel_timeout()
    item.cancel_timeout()
    assert rung == ["alarm", method, "calm"]
    assert signal.getsignal(timeouts.RINGS) == before
    assert not [each for each in threading.enumerate() if each.name == "slownet timeout"]


@pytest.fixture
def alarms(monkeypatch):
    """Those of a lab that never hears, and what was done to it."""
    done = []
    monkeypatch.setattr(relayed_reports, "HEARD_S", 0.05)
    return relayed_reports.Alarms(lambda: done.append("ring"), lambda: done.append("end")), done


def test_the_host_rings_once_the_time_is_over_and_ends_a_lab_that_does_not_hear(alarms):
    own, done = alarms
    own.take({"event": "alarm", "test": "a", "after": 0.05})
    deadline = time.monotonic() + 10
    while len(done) < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert done == ["ring", "end"]
    assert own.timed_out == "Timeout (>0.05s) from pytest-timeout: a: it does not hear of it, which ended its lab"


def test_a_test_that_ends_in_time_is_left_alone(alarms):
    own, done = alarms
    own.take({"event": "alarm", "test": "a", "after": 30.0})
    own.take({"event": "calm"})
    assert (done, own.timed_out) == ([], "")
    assert own._alarm is None


def test_what_other_plugins_say_at_the_end_is_sent(pytestconfig):
    def said(terminalreporter, config):
        terminalreporter.write_line("one table")

    said.__module__ = "pytest_other.plugin"
    other = SimpleNamespace(
        function=said, argnames=("terminalreporter", "config"), wrapper=False, hookwrapper=False, plugin_name="other"
    )
    own = SimpleNamespace(function=forwarding.summaries, argnames=(), wrapper=False, hookwrapper=False, plugin_name="own")
    hook = SimpleNamespace(pytest_terminal_summary=SimpleNamespace(get_hookimpls=lambda: [other, own]))

    silent = forwarding.Silent(pytest.TerminalReporter(pytestconfig))

    class Config:
        pluginmanager = SimpleNamespace(get_plugin={"terminalreporter": silent}.get)

        def __getattr__(self, name):
            return hook if name == "hook" else getattr(pytestconfig, name)

    assert list(forwarding.summaries(Config(), 0)) == [("other", "one table\n")]
