"""Plain Mininet topologies, one a file; `sudo mn --custom topologies/FILE --topo NAME` works with each."""

from slownet.topologies.client_web_db import ClientWebDb

__all__ = ["ClientWebDb"]
