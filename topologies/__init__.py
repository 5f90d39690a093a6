"""Plain Mininet topologies, one a file; `sudo mn --custom topologies/FILE --topo NAME` works with each."""

from mininet.topo import Topo

from slownet.errors import ExperimentError, nearest
from slownet.topologies import (
    broker_worker_database,
    chain,
    client_edge_web_db,
    client_proxy_server,
    client_web_db,
    dumbbell,
    primary_replicas,
    star,
    three_regions,
    two_hosts,
)
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

_MODULES = (
    two_hosts,
    client_web_db,
    client_edge_web_db,
    dumbbell,
    star,
    chain,
    client_proxy_server,
    primary_replicas,
    broker_worker_database,
    three_regions,
)


def known() -> dict[str, type[Topo]]:
    """The project's topologies by the name that `mn --topo` knows them by."""
    return {key: topology for module in _MODULES for key, topology in module.topos.items()}


def find(name: str) -> type[Topo]:
    """A topology by the name that `mn --topo` knows it by. Raises ExperimentError with the nearest name."""
    topologies = known()
    if name not in topologies:
        raise ExperimentError(f"no topology '{name}'", fix=nearest(name, topologies))
    return topologies[name]
