"""Short names of fixtures and markers, which may clash with other projects': `net` is `slownet_net`.

A project's own fixture overrides the plugin's fixture of the same short name, as usual in pytest, and the plugin itself uses no
short name. If overriding is not possible, because another plugin has a fixture of that name or a marker has another meaning in
the project, an ini option lists the short names that slownet may use. Where pytest-playwright is installed, it keeps `browser`
and `page`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

from slownet.model.errors import LabError, nearest

if TYPE_CHECKING:
    from slownet.compose.hosting import Running
    from slownet.net.network import Network
    from slownet.services.mariadb import MariaDB
    from slownet.services.nginx import Nginx
    from slownet.services.wordpress import WordPress
    from slownet.tools.browser.hosted import Browser
    from slownet.tools.browser.page import Page
    from slownet.tools.user_metrics import Measure


@pytest.fixture
def net(slownet_net: Network) -> Network:
    """The test's network: short for `slownet_net`."""
    return slownet_net


@pytest.fixture(scope="module")
def network(slownet_network: Network) -> Network:
    """The module's network: short for `slownet_network`."""
    return slownet_network


@pytest.fixture
def compose(slownet_compose: Running) -> Running:
    """The services of a compose project: short for `slownet_compose`."""
    return slownet_compose


@pytest.fixture
def wordpress(slownet_wordpress: WordPress) -> WordPress:
    """A WordPress site: short for `slownet_wordpress`."""
    return slownet_wordpress


@pytest.fixture
def mariadb(slownet_mariadb: MariaDB) -> MariaDB:
    """MariaDB on `db`: short for `slownet_mariadb`."""
    return slownet_mariadb


@pytest.fixture
def nginx(slownet_nginx: Nginx) -> Nginx:
    """nginx on `web`: short for `slownet_nginx`."""
    return slownet_nginx


@pytest.fixture
def measure(slownet_measure: Measure) -> Measure:
    """Call a tool and record its result: short for `slownet_measure`."""
    return slownet_measure


@pytest.fixture
def browser(slownet_browser: Browser) -> Browser:
    """Chromium on the host `client`: short for `slownet_browser`."""
    return slownet_browser


@pytest.fixture
def page(slownet_page: Page) -> Page:
    """A page in that browser: short for `slownet_page`."""
    return slownet_page


FIXTURES: Mapping[str, Callable[..., Any]] = {
    "browser": browser,
    "compose": compose,
    "mariadb": mariadb,
    "measure": measure,
    "net": net,
    "network": network,
    "nginx": nginx,
    "page": page,
    "wordpress": wordpress,
}


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
SHORT = (*FIXTURES, *MARKERS)


def offer(parser: pytest.Parser, manager: pytest.PytestPluginManager) -> None:
    """Add the ini option, and the short-named fixtures until the option can be read."""
    text = "Short names that slownet provides without its prefix (default: all); leave out those that others need."
    parser.addini(INI, text, type="args", default=list(SHORT))
    # Registered as early as the plugin itself, because of two plugins' fixtures pytest takes the one registered later.
    fixtures = ModuleType(PLUGIN)
    vars(fixtures).update(FIXTURES)
    manager.register(fixtures, PLUGIN)


def settle(config: pytest.Config) -> None:
    """Remove the fixtures whose short names are not chosen, and register the markers. Raises UsageError."""
    chosen = config.getini(INI)
    for name in chosen:
        if name not in SHORT:
            raise pytest.UsageError(f"slownet: unknown short name '{name}', in the ini option {INI}: {nearest(name, SHORT)}")
    fixtures = config.pluginmanager.get_plugin(PLUGIN)
    kept = ITS if config.pluginmanager.has_plugin(PLAYWRIGHT) else ()
    for name in set(FIXTURES) - (set(chosen) - set(kept)):
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
