"""A compose project as a topology: a host for each service and one that measures, all on one switch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mininet.link import TCLink

from slownet import owner
from slownet.compose import handover, links, names
from slownet.compose.model import SWITCH
from slownet.conditions.link import Condition
from slownet.errors import ComposeError
from slownet.lab import native
from slownet.mininets import Topology

if TYPE_CHECKING:
    from slownet.compose.hosting import Running
    from slownet.net.network import Network

HOSTS = "/etc/hosts"
LONGEST = 15 - len("-eth0")
"""Letters of a host's name that leave room for its interface's."""
MOST = 253  # the 254 addresses of 10.0.0.0/24 less the client's


class Compose(Topology):
    """The network of a compose project: a host of its name for each service, and ``client``, on one switch.

    The client has the address 10.0.0.1, services the next ones in the order of their start. Each host knows the others by
    their names and aliases. The services start with the network of an experiment, ``x-slownet`` states its links' conditions.

    Parameters
    ----------
    *files : str or Path
        Compose files, of which later ones are merged over earlier ones.
    profiles : sequence of str
        The active profiles.

    Attributes
    ----------
    project : slownet.compose.model.Project
        What the files say.

    Raises
    ------
    ComposeError
        A file is wrong, with file, line and column.

    Examples
    --------
    ::

        @experiment(topology=Compose("compose.yaml"), vary={"rtt": ["0ms", "10ms", "40ms"]})
        def checkout(net, rtt):
            with net.link("db", "switch").set(rtt=rtt):
                return ab(net["client"], "http://web:8000/checkout")
    """

    def __init__(self, *files: str | Path, profiles: Sequence[str] = ()) -> None:
        self.key = handover.key(files, profiles)
        handover.use_environment()
        self._files: Path | None = None
        if taken := handover.find(self.key):
            self.project, self._files = taken
        elif native.inside_lab():  # which has neither the files nor what reads them
            fix = "state it as the topology of an experiment, or by the marker compose of a test"
            raise ComposeError("a lab cannot read compose files", ", ".join(map(str, files)), fix)
        else:
            from slownet.compose import reader

            self.project = reader.read([Path(each) for each in files], profiles)
        super().__init__()

    def build(self, *args: Any, **params: Any) -> None:
        """Add the hosts, the switch and links."""
        if len(self.project.services) > MOST:
            raise ComposeError(f"{len(self.project.services)} services", self.project.name, f"a network has {MOST} at most")
        switch = self.addSwitch(SWITCH, dpid="1", failMode="standalone")
        for number, name in enumerate(self.project.hosts, start=1):
            short: dict[str, Any] = {} if len(name) <= LONGEST else {"intfName1": f"host{number}-eth0"}
            self.addLink(self.addHost(name, ip=f"10.0.0.{number}/24"), switch, cls=TCLink, **short)

    @property
    def conditions(self) -> dict[tuple[str, str], Condition]:
        """The conditions that links have from the start, by their ends."""
        return {(host, SWITCH): links.parse(fields) for host, fields in self.project.conditions.items()}

    def prepare(self, hosts: Sequence[Any], folder: Path) -> None:
        """Give each host a hosts file of its own, in a folder that lasts as long as the network; before any program starts."""
        from slownet.net.nodes import QuickNode  # a run's largest import, which the host does not need

        addresses = {host.name: host.IP() for host in hosts}
        for host in hosts:
            if isinstance(host, QuickNode) and host.namespace:
                file = folder / f"hosts-{host.name}"
                file.write_text(names.hosts_file(host.name, self.project, addresses))
                file.chmod(0o644)
                host.namespace.files[HOSTS] = file

    def serve(self, net: Network, directory: Path | None = None) -> Running:
        """Return the project's services on a network of this topology; a ``with`` statement starts and stops them.

        Parameters
        ----------
        net : Network
            A running network of this topology.
        directory : Path, optional
            For the services' logs.

        Returns
        -------
        Running
            ``running["web"]`` is a service.
        """
        from slownet.compose.hosting import Running

        return Running(self.project, net, directory, self._files or self._own_files())

    def facts(self) -> Mapping[str, Any]:
        """Return what a run records of the project."""
        return {
            "project": self.project.name, "files": list(self.project.files), "conditions": dict(self.project.conditions),
            "services": {each.name: each.image for each in self.project.services},
        }  # fmt: skip

    def _own_files(self) -> Path:
        """Write the project's files in this place, where nobody has handed them over."""
        folder = owner.directory() / f"compose-{self.project.name}"
        if not folder.exists():
            handover.write(folder, {self.key: self.project})
        return folder
