"""Does the queue of acknowledged.py keep what it has acknowledged, if all that breaks does so within a second?

`KINDS` names what may break: `slownet hunt briefly.py --env KINDS=kill,reset,corrupt`.
"""

import os

from acknowledged import Queue, puts, reads

from slownet import Recorder, TwoHosts, experiment, faults, no_lost_writes

KINDS = os.environ.get("KINDS", "pause,kill").split(",")
OF_DISKS = ("crash", "fill-disk", "fail-disk", "slow-disk")


def start(net, directory):
    """Return the server on its host, on a disk of its own if that may break."""
    queue = Queue(net["server"], ["python3"], directory, port=7000, name="queue")
    return queue.on_disk("64MB") if any(kind.startswith(OF_DISKS) for kind in KINDS) else queue


@experiment(topology=TwoHosts, service=start, vary={"faults": ["none"]}, tdf="inf")
def briefly(net, server, faults):
    """Does the queue keep what it has acknowledged, whatever breaks within a second?"""
    with net.faults(faults, server) as broken:
        recorder = Recorder(broken)
        recorder.client(net["client"], puts, net["server"].IP())
        recorder.wait()
    server.wait()
    recorder.client(net["client"], reads, net["server"].IP())
    recorder.wait()
    return recorder


briefly.hunt(faults(["server", "client"], KINDS, within="1s", services=["server"]), no_lost_writes("put", "read"))
