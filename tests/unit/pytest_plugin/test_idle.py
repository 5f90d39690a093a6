"""Hypothesis' plugin is left out of the end of a session that has not used Hypothesis."""

import sys
from types import SimpleNamespace

import pytest

from slownet.pytest_plugin import other_plugins


@pytest.fixture
def config(monkeypatch):
    """A session whose modules have not imported Hypothesis, although its plugin is there."""
    monkeypatch.delitem(sys.modules, "hypothesis", raising=False)
    manager = pytest.PytestPluginManager()
    manager.register(object(), other_plugins.NAME)
    manager.register(SimpleNamespace(stats={"passed": [SimpleNamespace(nodeid="a")], "": [object()]}), "terminalreporter")
    return SimpleNamespace(pluginmanager=manager, option=SimpleNamespace(hypothesis_seed=None, verbose=1))


def test_it_is_left_out_where_nothing_uses_it(config):
    assert other_plugins.is_idle(config)
    other_plugins.leave_out(config)
    assert not config.pluginmanager.has_plugin(other_plugins.NAME)
    other_plugins.leave_out(config)  # once more, without it


def test_it_stays_where_a_module_imports_it(config, monkeypatch):
    monkeypatch.setitem(sys.modules, "hypothesis", object())
    other_plugins.leave_out(config)
    assert config.pluginmanager.has_plugin(other_plugins.NAME)


def test_it_stays_for_its_options(config):
    config.option.hypothesis_seed = "0"
    assert not other_plugins.is_idle(config)


def test_it_stays_for_a_report_of_a_lab_where_a_test_used_it(config):
    report = SimpleNamespace(nodeid="b", _hypothesis_stats="5 passing examples")
    config.pluginmanager.get_plugin("terminalreporter").stats["failed"] = [report]
    assert other_plugins.is_idle(config), "this process has not imported it"
    other_plugins.leave_out(config)
    assert config.pluginmanager.has_plugin(other_plugins.NAME)


def test_the_names_are_those_of_hypothesis(pytestconfig):
    plugin = pytest.importorskip("_hypothesis_pytestplugin")
    assert plugin.STATS_KEY.startswith(other_plugins.MARK)
    assert plugin.FAILING_EXAMPLES_KEY.startswith(other_plugins.MARK)
    assert pytestconfig.pluginmanager.get_plugin(other_plugins.NAME) in (plugin, None)
