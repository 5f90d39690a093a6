"""Short names of fixtures and markers, which may clash with other projects': `net` is `slownet_net`.

A project's own fixture overrides the plugin's fixture of the same short name, as usual in pytest, and the plugin itself uses no
short name. If overriding is not possible, because another plugin has a fixture of that name or a marker has another meaning in
the project, an ini option lists the short names that slownet may use. Where pytest-playwright is installed, it keeps `browser`
and `page`.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import ModuleType

import pytest

from slownet.model.errors import LabError, nearest
from slownet.pytest_plugin import short

INI = "slownet_short_names"
PREFIX = "slownet_"
PLUGIN = "slownet short names"
MARKERS = {
    "behind": "(condition, **fields): the condition of the client's link during a test: a name, or fields such as rtt='100ms'",
    "topology": "(cls_or_name, *args, **params): the network of a test, such as ClientWebDb or 'star', and its parameters",
    "compose": "(*files, profiles=...): the compose project whose network and services a test gets",
    "clock": "(kind): 'real' or 'virtual'; overrides the session's clock",
    "tdf": "(factor): how many times faster the CPU looks on the virtual clock: a number, 'auto' or 'inf' (free, the default)",
    "boots": "(number): how often the test is run, on a network made anew each time, to judge its comparisons from all of them",
    "warm_up": "(operations): how many `measure` does, unrecorded, before it measures with a tool for the first time",
    "hosts": "(web=..., db=..., client=...): which hosts of the topology the servers and their client run on",
}
PLAYWRIGHT, ITS = "playwright", ("browser", "page")
"""pytest-playwright's name, and fixtures of it that it keeps where it is installed."""
SHORT = (*short.FIXTURES, *MARKERS)


def offer(parser: pytest.Parser, manager: pytest.PytestPluginManager) -> None:
    """Add the ini option, and the short-named fixtures until the option can be read."""
    text = "Short names that slownet provides without its prefix (default: all); leave out those that others need."
    parser.addini(INI, text, type="args", default=list(SHORT))
    # Registered as early as the plugin itself, because of two plugins' fixtures pytest takes the one registered later.
    fixtures = ModuleType(PLUGIN)
    vars(fixtures).update(short.FIXTURES)
    manager.register(fixtures, PLUGIN)


def settle(config: pytest.Config) -> None:
    """Remove the fixtures whose short names are not chosen, and register the markers. Raises UsageError."""
    chosen = config.getini(INI)
    for name in chosen:
        if name not in SHORT:
            raise pytest.UsageError(f"slownet: unknown short name '{name}', in the ini option {INI}: {nearest(name, SHORT)}")
    fixtures = config.pluginmanager.get_plugin(PLUGIN)
    kept = ITS if config.pluginmanager.has_plugin(PLAYWRIGHT) else ()
    for name in set(short.FIXTURES) - (set(chosen) - set(kept)):
        delattr(fixtures, name)
    for name, text in MARKERS.items():
        config.addinivalue_line("markers", f"{PREFIX}{name}{text}")
        if name in chosen:
            config.addinivalue_line("markers", f"{name}{text}")


def marker(item: pytest.Item | pytest.Collector, name: str) -> pytest.Mark | None:
    """Return the nearest slownet marker of a test, by its full name or, if slownet provides it, by its short name."""
    found = item.get_closest_marker(PREFIX + name)
    if found is None and name in item.config.getini(INI):
        return item.get_closest_marker(name)
    return found


def number(item: pytest.Item, name: str, most: int) -> int | None:
    """Return the number of a marker such as `@pytest.mark.boots(5)`; None without the marker. Raises LabError."""
    found = marker(item, name)
    if found is None:
        return None
    values = [*found.args, *found.kwargs.values()]
    if len(values) == 1 and type(values[0]) is int and 1 <= values[0] <= most:
        return int(values[0])
    fix = with_ini_hint(f"write a whole number from 1 to {most}, as in @pytest.mark.{found.name}(5)", [found])
    raise LabError(f"the marker {found.name} has {', '.join(map(repr, values)) or 'no number'}", item.nodeid, fix)


def with_ini_hint(fix: str, found: Iterable[pytest.Mark | None]) -> str:
    """Return a fix that adds what to do if these markers are not meant for slownet."""
    own = [each.name for each in found if each and each.name in MARKERS]
    return f"{fix}; or leave {' and '.join(own)} out of the ini option {INI}, if not meant for slownet" if own else fix
