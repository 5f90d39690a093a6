"""Runs a calibration's probes where the network is: `python -m slownet.calibration.probe_run JOB`.

The job (JSON) is {"ip_version": 4 or 6, "cases": [[group, probe, fields, count], ...]}. Events go to standard output (see
`slownet.lab.run.events`): "ceiling" with bit_s, then for each case "case" and then "numbers", "failed" with a message, or
"left_out"; at last "end" with virtual_s, or "error" with a message.
"""

from __future__ import annotations

import json
import sys
import time

from slownet.calibration import probes
from slownet.calibration.carried import carried
from slownet.calibration.cases import Case
from slownet.lab.host import native
from slownet.lab.run.events import tell
from slownet.links.ip import IP, IPV6, VERSIONS
from slownet.model.errors import NetworkError, SlownetError
from slownet.net import neighbours
from slownet.net.network import Network
from slownet.topologies import TwoHosts

HEADROOM = 0.5  # fraction of the ceiling; above it, the result depends on what else the machine does


def main(argv: list[str]) -> int:
    """Run the job and return the exit status: 2 after an error event."""
    job = json.loads(argv[0])
    ip = VERSIONS[job["ip_version"]]
    cases = [Case(group, probe, fields, count, ip=ip) for group, probe, fields, count in job["cases"]]
    began = time.monotonic()
    try:
        with Network(TwoHosts) as net:
            prepare(net, ip)
            measure(net, cases, ip)
    except SlownetError as error:
        tell("error", line=error.line)
        return 2
    tell("end", virtual_s=round(time.monotonic() - began, 6))
    return 0


def prepare(net: Network, ip: IP) -> None:
    """Give the hosts a version of IP, so that no packets but the probes' cross the link."""
    if ip is IPV6:
        net.add_ipv6()
    # An ARP request, or a neighbour solicitation of IPv6, would use up one of the seed's random numbers.
    neighbours.introduce(ends(net), net.shaping.introduced)


def measure(net: Network, cases: list[Case], ip: IP) -> None:
    """Measure the cases one after another, except those with a rate that the CPU may not carry."""
    most = None if native.cpu_is_free() else carried(net.link("client", "server"), net["client"], net["server"], ip)
    tell("ceiling", bit_s=most)
    for index, case in enumerate(cases):
        tell("case", index=index, name=case.name)
        if most is not None and case.rate > HEADROOM * most:
            tell("left_out", index=index)
            continue
        try:
            with net.link("client", "server").set(ping=ip, **case.fields):
                numbers = probes.PROBES[case.probe](ends(net), case)
            tell("numbers", index=index, numbers=numbers)
        except NetworkError as error:
            tell("failed", index=index, line=error.line)


def ends(net: Network) -> probes.Ends:
    """Return the link's two interfaces, the client's first."""
    ((first, second),) = net["client"].connectionsTo(net["server"])
    return first, second


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
