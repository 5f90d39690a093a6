"""The fixtures under their short names; see `short_names`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import pytest

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
