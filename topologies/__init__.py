"""Plain Mininet topologies, one per file; each works with `sudo mn --custom topologies/FILE --topo NAME`."""

import re
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from mininet.topo import Topo

from slownet.model.errors import ExperimentError, nearest
from slownet.model.extensions import Register

if TYPE_CHECKING:  # for editors and type checkers, which do not see __getattr__'s files
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
    from slownet.topologies.two_paths import TwoPaths as TwoPaths


def __getattr__(name: str) -> Any:
    """Import a topology on first use: those with routers import Mininet's nodes, a run's largest import.

    ``ClientWebDb`` is in client_web_db.py.
    """
    module = re.sub(r"(?<=.)(?=[A-Z])", "_", name).lower()
    if not name[:1].isupper() or module not in _modules():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{module}"), name)


def _modules() -> list[str]:
    return [each.name for each in iter_modules(__path__)]


def known() -> dict[str, type[Topo]]:
    """Return slownet's topologies.

    Returns
    -------
    dict of str to type
        Subclasses of Mininet's `Topo` by their names for `mn --topo`.
    """
    modules = (import_module(f"{__name__}.{each}") for each in _modules())
    return {key: topology for module in modules for key, topology in module.topos.items()}


def find(name: str) -> type[Topo]:
    """Return the topology of a name.

    Parameters
    ----------
    name : str
        As for `mn --topo`, or of another package's topology (`slownet.model.extensions`).

    Returns
    -------
    type
        A subclass of Mininet's `Topo`.

    Raises
    ------
    ExperimentError
        There is no such topology; it suggests the nearest name.
    """
    topologies = Register("topologies", known())
    if name not in topologies:
        raise ExperimentError(f"no topology '{name}'", fix=nearest(name, topologies))
    return topologies[name]
