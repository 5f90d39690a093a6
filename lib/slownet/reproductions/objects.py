"""A host where a web server is started for each page of many objects."""

from __future__ import annotations

from slownet.net.process import Host
from slownet.reproductions.lost_packet import LostPacket, lost_packet
from slownet.reproductions.page_load import PageLoad, page_load
from slownet.services.https import HttpsServer
from slownet.services.on_demand import OnDemand

NAME = "object"


class Objects(OnDemand):
    """A host that serves pages of equal objects with nginx, over HTTP/1.1, HTTP/2 and HTTP/3.

    Parameters
    ----------
    net : Hosts
        The network.
    directory : str or Path
        The run directory, for logs.
    server : str
        The host's name.
    """

    operation = "page"

    def page(self, client: Host, protocol: str, objects: int, size: int, loads: int = 1) -> PageLoad:
        """Load a page from a server that is started for it.

        Parameters
        ----------
        client : Host
            The host that loads it.
        protocol : str
            A name in `slownet.theory.page_loads.PROTOCOLS`.
        objects, size : int
            How many objects the page has, and the bytes of each one.
        loads : int
            How often it is loaded.

        Returns
        -------
        PageLoad
            Times in ms.

        Raises
        ------
        ServiceError, ToolError
            A program is missing or fails, or the capture shows another protocol.
        """
        with HttpsServer(self.host, self.directory, files={NAME: size}) as site:
            return page_load(client, f"{site.url}{NAME}", protocol, objects, loads=loads)

    def page_with_lost_packet(self, client: Host, protocol: str, objects: int, size: int, *, of: int = 1) -> LostPacket:
        """Load a page without loss, then with one packet lost, from a server that is started for it.

        Parameters
        ----------
        client, protocol, objects, size
            As for `page`; the protocol has all objects on one connection.
        of : int
            Of which object a packet is lost, from 1, in the order they are sent.

        Returns
        -------
        LostPacket
            Times in ms.

        Raises
        ------
        ServiceError, ToolError
            A program is missing or fails, the captures show another protocol, or not exactly that packet was lost.
        """
        with HttpsServer(self.host, self.directory, files={NAME: size}) as site:
            return lost_packet(client, f"{site.url}{NAME}", protocol, objects, of=of)
