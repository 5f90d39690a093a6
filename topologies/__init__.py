"""Plain Mininet topologies, one a file; `sudo mn --custom topologies/FILE --topo NAME` works with each."""

from mininet.topo import Topo

from slownet.errors import ExperimentError, nearest
from slownet.topologies import client_web_db
from slownet.topologies.client_web_db import ClientWebDb

__all__ = ["ClientWebDb", "find"]

_MODULES = (client_web_db,)


def find(name: str) -> type[Topo]:
    """A topology by the name that `mn --topo` knows it by. Raises ExperimentError with the nearest name."""
    known: dict[str, type[Topo]] = {key: topology for module in _MODULES for key, topology in module.topos.items()}
    if name not in known:
        raise ExperimentError(f"no topology '{name}'", fix=nearest(name, known))
    return known[name]
