"""The fixtures by their short names; see `names`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from slownet.net.network import Network
    from slownet.services.mariadb import MariaDB
    from slownet.services.nginx import Nginx
    from slownet.services.wordpress import WordPress
    from slownet.tools.tool import Measure


@pytest.fixture
def net(slownet_net: Network) -> Network:
    """The test's network: `slownet_net` by its short name."""
    return slownet_net


@pytest.fixture(scope="module")
def network(slownet_network: Network) -> Network:
    """The module's network: `slownet_network` by its short name."""
    return slownet_network


@pytest.fixture
def wordpress(slownet_wordpress: WordPress) -> WordPress:
    """A WordPress site: `slownet_wordpress` by its short name."""
    return slownet_wordpress


@pytest.fixture
def mariadb(slownet_mariadb: MariaDB) -> MariaDB:
    """MariaDB on `db`: `slownet_mariadb` by its short name."""
    return slownet_mariadb


@pytest.fixture
def nginx(slownet_nginx: Nginx) -> Nginx:
    """nginx on `web`: `slownet_nginx` by its short name."""
    return slownet_nginx


@pytest.fixture
def measure(slownet_measure: Measure) -> Measure:
    """Calls a tool and notes its record: `slownet_measure` by its short name."""
    return slownet_measure


FIXTURES: Mapping[str, Callable[..., Any]] = {
    "mariadb": mariadb,
    "measure": measure,
    "net": net,
    "network": network,
    "nginx": nginx,
    "wordpress": wordpress,
}
