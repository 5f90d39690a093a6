"""Plain Mininet topologies, one a file; `sudo mn --custom topologies/FILE --topo NAME` works with each."""

import re
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from mininet.topo import Topo

from slownet.errors import ExperimentError, nearest
from slownet.extensions import Register

if TYPE_CHECKING:  # for editors and type checkers, which cannot look for files
    from slownet.topologies.broker_worker_database import BrokerWorkerDatabase as BrokerWorkerDatabase
    from slownet.topologies.chain import Chain as Chain
    from slownet.topologies.client_edge_web_db import ClientEdgeWebDb as ClientEdgeWebDb
    from slownet.topologies.client_proxy_server import ClientProxyServer as ClientProxyServer
    from slownet.topologies.client_web_db import ClientWebDb as ClientWebDb
    from slownet.topologies.dumbbell import Dumbbell as Dumbbell
    from slownet.topologies.primary_replicas import PrimaryReplicas as PrimaryReplicas
    from slownet.topologies.star import Star as Star
    from slownet.topologies.three_regions import ThreeRegions as ThreeRegions
    from slownet.topologies.two_hosts import TwoHosts as TwoHosts


def __getattr__(name: str) -> Any:
    """A topology, imported when it is asked for: those with routers bring Mininet's nodes with them, a run's largest import.

    ``ClientWebDb`` is that of client_web_db.py.
    """
    module = re.sub(r"(?<=.)(?=[A-Z])", "_", name).lower()
    if not name[:1].isupper() or module not in _modules():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{module}"), name)


def _modules() -> list[str]:
    return [each.name for each in iter_modules(__path__)]


def known() -> dict[str, type[Topo]]:
    """The project's topologies by the name that `mn --topo` knows them by."""
    modules = (import_module(f"{__name__}.{each}") for each in _modules())
    return {key: topology for module in modules for key, topology in module.topos.items()}


def find(name: str) -> type[Topo]:
    """A topology by the name that `mn --topo` knows it by, or that another package gives it (`slownet.extensions`).

    Raises ExperimentError with the nearest name.
    """
    topologies = Register("topologies", known())
    if name not in topologies:
        raise ExperimentError(f"no topology '{name}'", fix=nearest(name, topologies))
    return topologies[name]
