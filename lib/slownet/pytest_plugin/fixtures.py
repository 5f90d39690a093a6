"""The fixtures: a network, servers on it, and a recorder of measurements. None uses a short name: see `short_names`."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import pytest

from slownet.lab.host import native, owner
from slownet.model.errors import ExperimentError, SlownetError
from slownet.pytest_plugin import projects, records, short_names
from slownet.pytest_plugin.wishes import ROOT_FIXTURE, SEED, of_item

if TYPE_CHECKING:
    from slownet.compose.hosting import Running
    from slownet.pytest_plugin.networks import LiveNetwork, Net, Networks, Wanted
    from slownet.services.mariadb import MariaDB
    from slownet.services.nginx import Nginx
    from slownet.services.wordpress import WordPress
    from slownet.tools.browser.hosted import Browser
    from slownet.tools.browser.page import Page
    from slownet.tools.user_metrics import Measure

LOGS = "slownet-logs"
"""The folder of servers' logs and configuration, in a session's folder for temporary files."""
WEB = ("web", "server", "server1", "eu1")
DATABASE = ("db", "primary", "server", "server1", "eu1")
HTTP, MYSQL = 80, 3306
MOST_OPERATIONS = 1_000_000
"""Of a warm-up."""
CLIENT = ("client", "client1", "us1")
P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S")


@pytest.fixture(scope="session")
def slownet_lab(tmp_path_factory: pytest.TempPathFactory) -> None:
    """A place where links can be emulated. A test that builds its own network requests it with
    `@pytest.mark.usefixtures("slownet_lab")`."""
    missing = [] if native.inside_lab() or records.is_known() else native.lacks()
    if missing:
        pytest.fail(
            f"no network can be emulated here: this machine lacks {', '.join(missing)}. A test that gets a network through "
            f'request.getfixturevalue needs @pytest.mark.usefixtures("{ROOT_FIXTURE}") to run in a lab',
            pytrace=False,
        )
    _logs(tmp_path_factory)


def _logs(folders: pytest.TempPathFactory) -> Path:
    """Return the folder of servers' logs, which stays when the session ends, and is that of servers that name no other."""
    found = folders.getbasetemp() / LOGS
    found.mkdir(exist_ok=True)
    with contextlib.suppress(OSError):  # an ordinary user starts no server on a host
        owner.note(str(found))
    return found


def _folder(folders: pytest.TempPathFactory, name: str) -> Path:
    """Make a folder of a server's logs."""
    logs, number = _logs(folders), 0
    while True:
        found = logs / (f"{name}-{number}" if number else name)
        try:
            found.mkdir()
        except FileExistsError:
            number += 1
        else:
            return found


@pytest.fixture(scope="module")
def slownet_networks(slownet_lab: None, request: pytest.FixtureRequest) -> Iterator[Networks]:
    """The keeper of a module's network; see `slownet_net` and `slownet_network`."""
    from slownet.pytest_plugin.networks import Networks

    networks = Networks(request.config.getoption(SEED))
    yield networks
    networks.close()


@pytest.fixture
def slownet_net(request: pytest.FixtureRequest, slownet_networks: Networks) -> Iterator[Net]:
    """The test's network, running and in its topology's initial conditions, whatever earlier tests did to it.

    The topology is ClientWebDb, or that of a marker such as `@pytest.mark.topology(Star, n=5)` on the test, its class or its
    module. `net["client"]` is a host; `net.link("client", "switch").set(rtt="10ms")` sets a link, in a `with` only for the
    block; there are also `net.hosts`, `net.switches` and `net.mininet`. Tests of a module share a network as long as they leave
    it usable.
    """
    wish, here = of_item(request.node), records.facts()
    if wish.clock not in (None, here["clock"]) or (wish.tdf not in (None, "auto") and wish.tdf != str(here["tdf"])):
        pytest.fail(f"this test requests {wish}, but this session runs on {records.place()}", pytrace=False)
    kept = _take(request, slownet_networks, _wanted(request.node))
    request.node.stash[records.NETWORK] = kept.net
    with _behind(request, kept.net):
        yield kept.net
    slownet_networks.leave(failed=request.node.stash.get(records.FAILED, False))


def _behind(request: pytest.FixtureRequest, net: Net) -> contextlib.AbstractContextManager[Any]:
    """Set the condition of the marker ``behind`` on the client's link, until the end of the context that is returned."""
    marker = short_names.marker(request.node, "behind")
    if marker is None:
        return contextlib.nullcontext()
    with _Failing(lambda error: f"@pytest.mark.{marker.name}: {short_names.with_ini_hint(error, [marker])}", TypeError):
        if not marker.args and not marker.kwargs:  # the test would pass on a link without delay
            raise ExperimentError("no condition", fix='name one, "Slow 4G", or its fields, rtt="100ms"')
        name = _host_in(net, request, "client", CLIENT)
        client: Any = net[name]
        own = client.defaultIntf()
        other = own.link.intf2 if own.link.intf1 is own else own.link.intf1
        return net.link(name, other.node.name).set(*marker.args, **marker.kwargs)


@pytest.fixture(scope="module")
def slownet_network(request: pytest.FixtureRequest, slownet_networks: Networks) -> Net:
    """The module's network, for module-scoped fixtures; the tests' `slownet_net` is the same network.

    Programs that such fixtures start on its hosts keep running; each test begins with the topology's initial conditions. Its
    topology is that of the module's `pytestmark = pytest.mark.topology(...)`.
    """
    return _take(request, slownet_networks, _wanted(request.node), pin=True).net


@pytest.fixture
def slownet_wordpress(slownet_net: Net, slownet_networks: Networks, request: pytest.FixtureRequest) -> WordPress:
    """A WordPress site for the module: nginx and PHP on `web`, MariaDB on `db`; `wordpress.url` is its front page."""
    from slownet.services.wordpress import WordPress

    web, db, client = (_host(request, *each) for each in (("web", WEB), ("db", DATABASE), ("client", CLIENT)))

    def make(folder: Path) -> WordPress:
        return WordPress(slownet_net, folder, web=web, db=db, client=client)

    return _server(request, ("wordpress", web, db), [(web, HTTP), (db, MYSQL)], make)


@pytest.fixture
def slownet_mariadb(slownet_net: Net, slownet_networks: Networks, request: pytest.FixtureRequest) -> MariaDB:
    """MariaDB on `db`, with its data, for the module; if the test uses `slownet_wordpress`, the MariaDB of that site."""
    from slownet.services.mariadb import MariaDB

    if "slownet_wordpress" in request.fixturenames:
        site: WordPress = request.getfixturevalue("slownet_wordpress")
        return site.mariadb
    name = _host(request, "db", DATABASE)
    return _server(request, ("mariadb", name), [(name, MYSQL)], lambda folder: MariaDB(slownet_net[name], folder))


@pytest.fixture
def slownet_nginx(slownet_net: Net, slownet_networks: Networks, request: pytest.FixtureRequest) -> Nginx:
    """nginx on `web` for the module; it serves the folder `nginx.root`, which is empty at first."""
    from slownet.services.nginx import Nginx

    name = _host(request, "web", WEB)

    def make(folder: Path) -> Nginx:
        # pytest's own folders are readable by their owner only, and nginx runs as www-data
        root = owner.temporary("nginx-root")
        Path(root.name).chmod(0o755)
        slownet_networks.kept.after.callback(root.cleanup)
        return Nginx(slownet_net[name], folder, root=root.name)

    return _server(request, ("nginx", name), [(name, HTTP)], make)


@pytest.fixture
def slownet_compose(request: pytest.FixtureRequest, slownet_net: Net, slownet_networks: Networks) -> Running:
    """The services of a compose project, for the module: `compose["web"]` is one, with `url`, `log` and `execute`.

    The project is that of a marker such as `@pytest.mark.compose("compose.yaml")`, else the compose file beside the test. `net`
    is its network: a host for each service, and `client`.
    """
    from slownet.compose.project_topology import Compose

    topology = slownet_net.topology
    if not isinstance(topology, Compose):
        pytest.fail("slownet: the fixture compose needs its project's network: leave out the marker topology", pytrace=False)
    return _server(request, ("compose", topology.project.name), [], lambda folder: topology.serve(slownet_net, folder))


@pytest.fixture
def slownet_browser(slownet_net: Net, slownet_networks: Networks, request: pytest.FixtureRequest) -> Browser:
    """Chromium on the host `client`, for the module: `with browser.page() as page:`; a project gets it with
    `packages = ["chromium"]`."""
    from slownet.tools.browser.hosted import Browser

    name = _host(request, "client", CLIENT)
    return _server(request, ("browser", name), [], lambda folder: Browser(slownet_net[name]))


@pytest.fixture
def slownet_page(slownet_browser: Browser) -> Iterator[Page]:
    """A page of that browser, without cookies, cache and connections, with the methods of Playwright's that scripts use most.

    `@pytest.mark.behind("Slow 4G")` sets the client's link for the test.
    """
    with contextlib.ExitStack() as stack:
        with _Failing():
            page = stack.enter_context(slownet_browser.page())
        yield page


@pytest.fixture
def slownet_measure(request: pytest.FixtureRequest, slownet_net: Net) -> Measure:
    """A function to measure with: `measure(ab, net["client"], url, requests=100)` calls a tool and returns its record.

    The measured values and their conditions go into the test's record: JUnit XML, the text of a failure, and with
    --slownet-report a run directory. With `@pytest.mark.warm_up(30)` so many operations are done, unrecorded, before it first
    measures with a tool. It raises the tool's errors.
    """
    node: pytest.Item = request.node
    with _Failing():
        operations = short_names.number(node, "warm_up", MOST_OPERATIONS) or 0

    def measured(tool: Callable[P, R], *args: P.args, **options: P.kwargs) -> R:
        records.of(node).warm_up(operations, tool, *args, **options)
        found: R = records.of(node).measure(slownet_net, tool, *args, **options)
        return found

    return measured


class _Failing:
    """Fail the test with an error's line alone if the block raises one of slownet's errors, or of these kinds.

    in_words: makes the line from the error's text.
    """

    def __init__(self, in_words: Callable[[str], str] = "slownet: {}".format, *kinds: type[Exception]) -> None:
        self._in_words = in_words
        self._kinds: tuple[type[Exception], ...] = (SlownetError, *kinds)

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, self._kinds):
            raise pytest.fail.Exception(self._in_words(str(error)), pytrace=False) from None


def _wanted(node: Any) -> Wanted:
    from slownet.pytest_plugin.networks import Wanted
    from slownet.topologies import ClientWebDb

    marker = short_names.marker(node, "topology")
    if marker is None:
        return _wanted_project(node) or Wanted.of(ClientWebDb)
    with _Failing(lambda error: f"@pytest.mark.{marker.name}: {short_names.with_ini_hint(error, [marker])}", TypeError):
        return Wanted.of(*marker.args, **marker.kwargs)


def _wanted_project(node: Any) -> Wanted | None:
    from slownet.pytest_plugin.networks import Wanted

    with _Failing():
        found = projects.named(node)
    if not found:
        return None
    from slownet.compose.project_topology import Compose

    return Wanted.of(Compose, *found[0], profiles=found[1])


def _take(request: pytest.FixtureRequest, networks: Networks, wanted: Wanted, pin: bool = False) -> LiveNetwork:
    with _Failing():
        return networks.take(wanted, pin=pin)


def _host(request: pytest.FixtureRequest, role: str, usual: tuple[str, ...]) -> str:
    with _Failing():
        return _host_in(request.getfixturevalue("slownet_net"), request, role, usual)


def _host_in(net: Net, request: pytest.FixtureRequest, role: str, usual: tuple[str, ...]) -> str:
    from slownet.pytest_plugin.networks import host_for

    marker = short_names.marker(request.node, "hosts")
    return host_for(net, role, usual, marker.kwargs if marker else {})


def _server(request: pytest.FixtureRequest, key: tuple[str, ...], ports: list[tuple[str, int]], make: Callable[[Path], S]) -> S:
    networks: Networks = request.getfixturevalue("slownet_networks")
    folders: pytest.TempPathFactory = request.getfixturevalue("tmp_path_factory")
    with _Failing():
        server: S = networks.kept.server(key, ports, lambda: make(_folder(folders, "-".join(key))))
        return server
