"""Short names that other people may have too: `net` is `slownet_net`, the marker `clock` is `slownet_clock`.

A project's own fixture of a short name goes before the plugin's, as pytest has it for conftest files, classes and modules, and
nothing of the plugin rests on a short name. Where a project cannot define its way out, because another plugin has a fixture of
that name or a marker has another meaning there, the ini option says which short names are slownet's.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import ModuleType

import pytest

from slownet.errors import nearest
from slownet.pytest_plugin import short

INI = "slownet_short_names"
PREFIX = "slownet_"
PLUGIN = "slownet short names"
MARKERS = {
    "topology": "(cls_or_name, *args, **params): the network of a test, such as ClientWebDb or 'star'; its parameters follow",
    "clock": "(kind): 'real' or 'virtual', whatever the session's clock is",
    "tdf": "(factor): how many times faster the CPU looks on the virtual clock: a whole number, 'inf' or 'auto'",
    "hosts": "(web=..., db=..., client=...): which hosts of the topology the servers and their reader run on",
}
SHORT = (*short.FIXTURES, *MARKERS)


def offer(parser: pytest.Parser, manager: pytest.PytestPluginManager) -> None:
    """Adds the ini option, and the fixtures by their short names until the option can be read."""
    text = "Names that are slownet's without its prefix; another plugin or project may need one of them. All, unless written."
    parser.addini(INI, text, type="args", default=list(SHORT))
    # A module of this session's own, as early as the plugin itself: of two plugins' fixtures the later one is taken.
    fixtures = ModuleType(PLUGIN)
    vars(fixtures).update(short.FIXTURES)
    manager.register(fixtures, PLUGIN)


def settle(config: pytest.Config) -> None:
    """Takes back the fixtures whose short names are not slownet's here, and registers the markers. Raises UsageError."""
    chosen = config.getini(INI)
    for name in chosen:
        if name not in SHORT:
            raise pytest.UsageError(f"slownet: no short name '{name}', in the ini option {INI}: {nearest(name, SHORT)}")
    fixtures = config.pluginmanager.get_plugin(PLUGIN)
    for name in set(short.FIXTURES) - set(chosen):
        delattr(fixtures, name)
    for name, text in MARKERS.items():
        config.addinivalue_line("markers", f"{PREFIX}{name}{text}")
        if name in chosen:
            config.addinivalue_line("markers", f"{name}{text}")


def marker(item: pytest.Item | pytest.Collector, name: str) -> pytest.Mark | None:
    """The nearest of a test's markers of slownet's, by its whole name or, where that is slownet's, by its short one."""
    found = item.get_closest_marker(PREFIX + name)
    if found is None and name in item.config.getini(INI):
        return item.get_closest_marker(name)
    return found


def with_a_way_out(fix: str, found: Iterable[pytest.Mark | None]) -> str:
    """A fix, and what to do where these markers are not meant for slownet."""
    own = [each.name for each in found if each and each.name in MARKERS]
    return f"{fix}; or leave {' and '.join(own)} out of the ini option {INI}, if not meant for slownet" if own else fix
