"""Plain Mininet topologies, one a file; `sudo mn --custom topologies/FILE --topo NAME` works with each."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from mininet.topo import Topo

from slownet.errors import ExperimentError, nearest

if TYPE_CHECKING:
    from slownet.topologies.broker_worker_database import BrokerWorkerDatabase
    from slownet.topologies.chain import Chain
    from slownet.topologies.client_edge_web_db import ClientEdgeWebDb
    from slownet.topologies.client_proxy_server import ClientProxyServer
    from slownet.topologies.client_web_db import ClientWebDb
    from slownet.topologies.dumbbell import Dumbbell
    from slownet.topologies.primary_replicas import PrimaryReplicas
    from slownet.topologies.star import Star
    from slownet.topologies.three_regions import ThreeRegions
    from slownet.topologies.two_hosts import TwoHosts

__all__ = [
    "BrokerWorkerDatabase",
    "Chain",
    "ClientEdgeWebDb",
    "ClientProxyServer",
    "ClientWebDb",
    "Dumbbell",
    "PrimaryReplicas",
    "Star",
    "ThreeRegions",
    "TwoHosts",
    "find",
    "known",
]

_MODULES = {
    "TwoHosts": "two_hosts",
    "ClientWebDb": "client_web_db",
    "ClientEdgeWebDb": "client_edge_web_db",
    "Dumbbell": "dumbbell",
    "Star": "star",
    "Chain": "chain",
    "ClientProxyServer": "client_proxy_server",
    "PrimaryReplicas": "primary_replicas",
    "BrokerWorkerDatabase": "broker_worker_database",
    "ThreeRegions": "three_regions",
}


def __getattr__(name: str) -> Any:
    """A topology, imported when it is asked for: those with routers bring Mininet's nodes with them, a run's largest import."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


def known() -> dict[str, type[Topo]]:
    """The project's topologies by the name that `mn --topo` knows them by."""
    modules = (import_module(f"{__name__}.{each}") for each in _MODULES.values())
    return {key: topology for module in modules for key, topology in module.topos.items()}


def find(name: str) -> type[Topo]:
    """A topology by the name that `mn --topo` knows it by. Raises ExperimentError with the nearest name."""
    topologies = known()
    if name not in topologies:
        raise ExperimentError(f"no topology '{name}'", fix=nearest(name, topologies))
    return topologies[name]
