"""Runs a test with a network in several boots, each with a network, services and fixtures that are made anew.

That is, as often as its marker states (`@pytest.mark.boots(5)`), and otherwise only if it failed at a comparison that one boot
cannot decide: `slownet.judge.records.comparisons`. Each boot is pytest's own protocol of a test; what is reported is the last
one.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import Any

import pluggy
import pytest

from slownet.judge.records.comparisons import MOST as MOST_UNSTATED
from slownet.judge.records.comparisons import Comparisons, compared_in
from slownet.model.errors import LabError
from slownet.model.shapes import Json
from slownet.pytest_plugin import records, short_names
from slownet.pytest_plugin.wishes import BUDGET, MOST_BOOTS, needs_network

MARKER, PROPERTY = "boots", "slownet_boots"
REPORTED = ("pytest_runtest_logreport", "pytest_runtest_logfinish")
"""Hooks that are called for the last boot alone."""
COMPARISONS = pytest.StashKey[Comparisons]()


class Boots:
    """The plugin that runs the tests with a network."""

    @pytest.hookimpl
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
        if not needs_network(item) or _is_left_to_others(item):
            return None
        try:
            comparisons = Comparisons(stated(item), item.config.getoption(BUDGET) or MOST_UNSTATED)
        except LabError as error:
            problem = str(error)
            item.runtest = lambda: pytest.fail(problem, pytrace=False)  # type: ignore[method-assign]
            return None
        item.stash[COMPARISONS] = comparisons
        with compared_in(comparisons):
            _run(item, nextitem, comparisons)
        return True

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[Any]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if call.when == "call" and COMPARISONS in item.stash:
            item.stash[records.AGAIN] = _needs_another(call, item.stash[COMPARISONS])
        return report


def stated(item: pytest.Item) -> int | None:
    """Return how many boots a test's marker states; None without one. Raises LabError."""
    return short_names.number(item, MARKER, MOST_BOOTS)


def _is_left_to_others(item: pytest.Item) -> bool:
    """Return whether a plugin such as pytest-rerunfailures runs it again, or pytest shows its fixtures."""
    options = ("reruns", "setupshow", "setuponly")
    return any(item.config.getoption(each, None) for each in options) or item.get_closest_marker("flaky") is not None


def _run(item: pytest.Item, nextitem: pytest.Item | None, comparisons: Comparisons) -> None:
    """Run a test boot by boot, and report the last one."""
    properties, protocol = list(item.user_properties), _pytests_own(item, "pytest_runtest_protocol")
    while True:
        comparisons.begin()
        item.user_properties[:] = properties
        item.stash[records.AGAIN] = False
        records.of(item).begin(comparisons.boot)
        with _withheld(item, starts=comparisons.boot == 1) as told:
            protocol(item=item, nextitem=nextitem)
        if not item.stash[records.AGAIN]:
            break
        if error := _end_all(item):
            told[-2][1]["report"] = error
            break
        item.stash[records.FAILED] = False
    for hook, facts in told:
        if comparisons.boot > 1 and hook is REPORTED[0] and facts["report"].when == "teardown":
            facts["report"].user_properties.append((PROPERTY, str(comparisons.boot)))
        getattr(item.ihook, hook)(**facts)


def _pytests_own(item: pytest.Item, hook: str) -> pluggy.HookCaller:
    """Return a hook without what plugins add to it."""
    manager = item.config.pluginmanager
    runner = manager.get_plugin("runner")
    return manager.subset_hook_caller(hook, [each for each in manager.get_plugins() if each is not runner])


Told = tuple[str, dict[str, Json]]
"""A hook's name, and its arguments."""


@contextmanager
def _withheld(item: pytest.Item, starts: bool) -> Iterator[list[Told]]:
    """Record hook calls instead of forwarding them; forward the start only if `starts`. Yields the recorded calls."""
    told: list[Told] = []
    hooks = item.ihook
    before = {name: vars(hooks).get(name) for name in (*REPORTED, *(() if starts else ("pytest_runtest_logstart",)))}

    def withhold(name: str) -> Callable[..., None]:
        return lambda **facts: told.append((name, facts))

    for name in before:
        setattr(hooks, name, withhold(name))
    try:
        yield told
    finally:
        for name, hook in before.items():
            if hook is None:
                delattr(hooks, name)
            else:
                setattr(hooks, name, hook)
        told[:] = [each for each in told if each[0] in REPORTED]


def _end_all(item: pytest.Item) -> pytest.TestReport | None:
    """End the fixtures of all scopes, so that nothing of this boot is in the next one; return the report if that failed."""
    teardown = _pytests_own(item, "pytest_runtest_teardown")
    ended = pytest.CallInfo.from_call(
        lambda: teardown(item=item, nextitem=None), when="teardown", reraise=(pytest.exit.Exception, KeyboardInterrupt)
    )
    if ended.excinfo is None:
        return None
    report: pytest.TestReport = item.ihook.pytest_runtest_makereport(item=item, call=ended)
    return report


def _needs_another(call: pytest.CallInfo[Any], comparisons: Comparisons) -> bool:
    """Return whether a test whose call ended so needs another boot.

    One that failed at something else than an open comparison does not; in a boot whose comparisons hold, an assertion may fail
    because of that.
    """
    failure = call.excinfo.value if call.excinfo else None
    if failure is not None and not isinstance(failure, AssertionError | pytest.fail.Exception):
        return False
    return comparisons.goes_on and (comparisons.holds or failure is not None)
