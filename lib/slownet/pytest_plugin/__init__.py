"""The pytest plugin: the same test files run under `sudo pytest` on a suitable kernel and under plain `pytest` elsewhere.

A test that requests the fixture `net`, directly or through another fixture, needs a place where links can be emulated. If this
machine is none, these tests run in a lab (see `session`) and all others here. All names of the plugin begin with `slownet_`;
some are also available without that prefix, see `short_names`.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Generator
from typing import Any

import pytest

from slownet.lab.host import native
from slownet.lab.run import pytest_inside as inside
from slownet.model.errors import SlownetError
from slownet.pytest_plugin import (
    explain,
    forwarding,
    missing,
    other_plugins,
    records,
    session_comment,
    session_junit,
    several_boots,
    short_names,
    time_parts,
    timeouts,
    wishes,
    worker_process,
)
from slownet.pytest_plugin.fixtures import (
    slownet_browser,
    slownet_compose,
    slownet_lab,
    slownet_mariadb,
    slownet_measure,
    slownet_net,
    slownet_network,
    slownet_networks,
    slownet_nginx,
    slownet_page,
    slownet_wordpress,
)
from slownet.pytest_plugin.wishes import (
    BUDGET,
    MEMORY,
    OPTIONS,
    SEED,
    WHY,
    budget,
    memory,
    needs_network,
    of_item,
    seed,
)

__all__ = [
    "slownet_browser",
    "slownet_compose",
    "slownet_lab",
    "slownet_mariadb",
    "slownet_measure",
    "slownet_net",
    "slownet_network",
    "slownet_networks",
    "slownet_nginx",
    "slownet_page",
    "slownet_wordpress",
]


for marker in ("topology", f"{short_names.PREFIX}topology"):
    wishes.take_topologies(marker)


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    other_plugins.keep()  # before a conftest.py imports anything
    group = parser.getgroup("slownet", "emulated networks")
    for name, metavar, text in OPTIONS:
        if not metavar:
            group.addoption(name, action="store_true", help=text)
            continue
        kind = {SEED: seed, BUDGET: budget, MEMORY: memory}.get(name, str)
        group.addoption(name, metavar=metavar, default=None, type=kind, help=text)
    short_names.offer(parser, pluginmanager)


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    short_names.settle(config)
    config.pluginmanager.register(records.Records(config), "slownet records")
    config.pluginmanager.register(several_boots.Boots(), "slownet boots")
    if config.getoption(WHY):
        config.pluginmanager.register(time_parts.TimeParts(), "slownet why")
    if native.inside_lab():
        config.pluginmanager.register(records.Outgoing(config), "slownet outgoing")
    session_junit.register(config)
    session_comment.register(config, reports=not hasattr(config, "workerinput"))
    if forwarding.is_forwarded(config):
        forwarding.silence(config)
        config.pluginmanager.register(forwarding.Forwarder(config), "slownet forwarder")
        timeouts.register(config)
        other_plugins.register(config)
        return
    if worker_process.is_worker(config):
        worker_process.settle(config)
    elif worker_process.distributes(config):
        from slownet.pytest_plugin import xdist_workers

        config.pluginmanager.register(xdist_workers.Workers(config), "slownet workers")
    elif not native.inside_lab() and not config.option.collectonly:
        from slownet.pytest_plugin import session

        config.pluginmanager.register(session.Session(config), "slownet session")


@pytest.hookimpl(wrapper=True)
def pytest_cmdline_main(config: pytest.Config) -> Generator[None, object, object]:
    if native.inside_lab():
        worker_process.stand_in_for_controller(config)
    return worker_process.status(config, (yield))


def pytest_report_header(config: pytest.Config) -> str | None:
    return f"slownet: in a lab, {records.clock()}, Linux {platform.release()}" if native.inside_lab() else None


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Fail a test whose markers contradict each other."""
    wrong = ""
    if needs_network(item):
        try:
            of_item(item)
        except SlownetError as error:
            wrong = str(error)
    if wrong:
        pytest.fail(f"slownet: {wrong}", pytrace=False)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    wishes.deselect_other_labs(config, items)


def pytest_assertrepr_compare(config: pytest.Config, op: str, left: object, right: object) -> list[str] | None:
    return explain.comparison(op, left, right)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[Any]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    explain.hide(item.config, call.excinfo)
    report = yield
    missing.explain(report, call.excinfo.value if call.excinfo else None)
    return session_comment.attach(item, explain.with_the_network(item, report))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    call: pytest.CallInfo[Any] | None = getattr(report, "call", None)
    missing.explain(report, call.excinfo.value if call and call.excinfo else None)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Generator[None, object, object]:
    inside.leave_as_they_are(early_config)
    if inside.is_forwarded():
        forwarding.prepare(early_config)
        worker_process.make_parents(early_config.known_args_namespace.basetemp)
    try:
        return (yield)
    except Exception as error:
        text = missing.sentence(error) if native.inside_lab() else None
        if text:
            print(f"slownet: {text}", file=sys.stderr)
        raise
