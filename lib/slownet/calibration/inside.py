"""The part of a calibration that happens where the network is: `python -m slownet.calibration.inside JOB`.

The job (JSON) is {"cases": [[group, probe, fields, count], ...]}. Standard output has its events (see `slownet.lab.events`):
"ceiling" with bit_s, then for each case "case" and "numbers", or "failed" with a line; "error" ends it.
"""

from __future__ import annotations

import json
import sys
import time

from slownet.calibration import probes
from slownet.calibration.carried import carried
from slownet.calibration.matrix import Case
from slownet.errors import NetworkError, SlownetError
from slownet.lab import native
from slownet.lab.events import tell
from slownet.net import Network
from slownet.topologies import TwoHosts

HEADROOM = 0.5  # nearer to what the CPU carries the rest of the machine decides


def main(argv: list[str]) -> int:
    """Runs the job. Returns the exit status: 2 after an error event."""
    cases = [Case(*each) for each in json.loads(argv[0])["cases"]]
    began = time.monotonic()
    try:
        with Network(TwoHosts) as net:
            net.mininet.staticArp()  # an ARP request would take one of a seed's draws
            measure(net, cases)
    except SlownetError as error:
        tell("error", line=error.line)
        return 2
    tell("end", virtual_s=round(time.monotonic() - began, 6))
    return 0


def measure(net: Network, cases: list[Case]) -> None:
    """Measures the cases one after the other; those with a rate that the CPU may not carry are left out."""
    most = None if native.cpu_is_free() else carried(net.link("client", "server"), net["client"], net["server"])
    tell("ceiling", bit_s=most)
    for index, case in enumerate(cases):
        tell("case", index=index, name=case.name)
        if most is not None and case.rate > HEADROOM * most:
            tell("left_out", index=index)
            continue
        try:
            with net.link("client", "server").set(**case.fields):
                numbers = probes.PROBES[case.probe](ends(net), case)
            tell("numbers", index=index, numbers=numbers)
        except NetworkError as error:
            tell("failed", index=index, line=error.line)


def ends(net: Network) -> probes.Ends:
    """The cable's interfaces, the client's first."""
    ((first, second),) = net["client"].connectionsTo(net["server"])
    return first, second


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
