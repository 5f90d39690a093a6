"""Hypothesis' plugin is left out of the end of a session that has not used Hypothesis."""

import sys
from types import SimpleNamespace

import pytest

from slownet.pytest_plugin import idle


@pytest.fixture
def config(monkeypatch):
    """A session whose modules have not imported Hypothesis, although its plugin is there."""
    monkeypatch.delitem(sys.modules, "hypothesis", raising=False)
    manager = pytest.PytestPluginManager()
    manager.register(object(), idle.NAME)
    manager.register(SimpleNamespace(stats={"passed": [SimpleNamespace(nodeid="a")], "": [object()]}), "terminalreporter")
    return SimpleNamespace(pluginmanager=manager, option=SimpleNamespace(hypothesis_seed=None, verbose=1))


def test_it_is_left_out_where_nothing_uses_it(config):
    assert idle.is_idle(config)
    idle.leave_out(config)
    assert not config.pluginmanager.has_plugin(idle.NAME)
    idle.leave_out(config)  # once more, without it


def test_it_stays_where_a_module_imports_it(config, monkeypatch):
    monkeypatch.setitem(sys.modules, "hypothesis", object())
    idle.leave_out(config)
    assert config.pluginmanager.has_plugin(idle.NAME)


def test_it_stays_for_its_options(config):
    config.option.hypothesis_seed = "0"
    assert not idle.is_idle(config)


def test_it_stays_for_a_report_of_a_lab_where_a_test_used_it(config):
    report = SimpleNamespace(nodeid="b", _hypothesis_stats="5 passing examples")
    config.pluginmanager.get_plugin("terminalreporter").stats["failed"] = [report]
    assert idle.is_idle(config), "this process has not imported it"
    idle.leave_out(config)
    assert config.pluginmanager.has_plugin(idle.NAME)


def test_the_names_are_those_of_hypothesis(pytestconfig):
    plugin = pytest.importorskip("_hypothesis_pytestplugin")
    assert plugin.STATS_KEY.startswith(idle.MARK)
    assert plugin.FAILING_EXAMPLES_KEY.startswith(idle.MARK)
    assert pytestconfig.pluginmanager.get_plugin(idle.NAME) in (plugin, None)
