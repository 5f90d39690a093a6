"""slownet in pytest: the same test files under `sudo pytest` on an able kernel and plain `pytest` anywhere else.

A test that takes the fixture `net`, or one that rests on it, needs a place where links can be emulated. Where this machine
is none, the whole session runs again inside a lab (see `session`); a session without such a test stays where it is.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from slownet.lab import native
from slownet.pytest_plugin import explain, marks, records, session, workers
from slownet.pytest_plugin.fixtures import (
    mariadb,
    measure,
    net,
    network,
    nginx,
    slownet_lab,
    slownet_networks,
    wordpress,
)
from slownet.pytest_plugin.wishes import MARKERS, OPTIONS, SEED, seed

__all__ = ["mariadb", "measure", "net", "network", "nginx", "slownet_lab", "slownet_networks", "wordpress"]


marks.take_classes("topology")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("slownet", "networks that are slow on purpose")
    for name, metavar, text in OPTIONS:
        kind = seed if name == SEED else str
        group.addoption(name, metavar=metavar, default=None, type=kind, help=text)


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    for line in MARKERS:
        config.addinivalue_line("markers", line)
    config.pluginmanager.register(records.Records(config), "slownet records")
    if workers.is_worker(config):
        workers.settle(config)
    elif workers.distributes(config):
        config.pluginmanager.register(workers.Workers(config), "slownet workers")
    elif not native.inside_lab() and not config.option.collectonly:
        config.pluginmanager.register(session.Session(config), "slownet session")


def pytest_report_header(config: pytest.Config) -> str | None:
    return session.header() if native.inside_lab() else None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    session.leave_out_the_others(config, items)


def pytest_assertrepr_compare(config: pytest.Config, op: str, left: object, right: object) -> list[str] | None:
    return explain.comparison(op, left, right)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[Any]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    return explain.with_the_network(item, report)
