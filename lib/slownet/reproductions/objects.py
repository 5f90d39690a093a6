"""A host where a web server is started for each page of many objects."""

from __future__ import annotations

from slownet.net.process import Host
from slownet.reproductions.lost_packet import LostPacket, lost_packet
from slownet.reproductions.page_load import PageLoad, page_load
from slownet.services.composite import OnDemand
from slownet.services.https import HttpsServer

NAME = "object"


class Objects(OnDemand):
    """A host that serves pages of equal objects with nginx, over HTTP/1.1, HTTP/2 and HTTP/3.

    net: the network.
    directory: the run directory, for logs.
    server: the host's name.
    """

    operation = "page"

    def page(self, client: Host, protocol: str, objects: int, size: int, loads: int = 1) -> PageLoad:
        """Load a page from a server that is started for it.

        client: the host that loads it.
        protocol: a name in `slownet.theory.page_loads.PROTOCOLS`.
        objects, size: how many objects the page has, and the bytes of each one.
        loads: how often it is loaded.
        returns: times in ms.
        Raises ServiceError, ToolError: a program is missing or fails, or the capture shows another protocol.
        """
        with HttpsServer(self.host, self.directory, files={NAME: size}) as site:
            return page_load(client, f"{site.url}{NAME}", protocol, objects, loads=loads)

    def page_with_lost_packet(self, client: Host, protocol: str, objects: int, size: int, *, of: int = 1) -> LostPacket:
        """Load a page without loss, then with one packet lost, from a server that is started for it.

        client, protocol, objects, size: as for `page`; the protocol has all objects on one connection.
        of: the object that loses a packet, from 1, in the order they are sent.
        returns: times in ms.
        Raises ServiceError, ToolError: a program is missing or fails, the captures show another protocol, or not exactly that
        packet was lost.
        """
        with HttpsServer(self.host, self.directory, files={NAME: size}) as site:
            return lost_packet(client, f"{site.url}{NAME}", protocol, objects, of=of)
