"""How soon etcd's members serve, which takes a leader, when they are far apart, by its settings.

etcd's documentation: a heartbeat every 0.5 to 1.5 round trips between members, an election timeout of at least 10 round trips
(https://etcd.io/docs/v3.6/tuning/). Its defaults are 100 ms and 1000 ms.
"""

import time
from contextlib import contextmanager, suppress

from members import PATIENCE_S, apart, start

from slownet import PrimaryReplicas, ServiceError, bound, experiment

APART_MS = 300
# Heartbeat and election timeout in ms.
SETTINGS = {"half a round trip": (30, 150), "defaults": (100, 1000), "advised": (300, 3000)}


@contextmanager
def logs(net, directory):
    """Nothing but the place of the members' logs: they are started for each cell."""
    yield directory


@experiment(topology=PrimaryReplicas, service=logs, vary={"settings": list(SETTINGS)}, tdf="inf", blocks=1, warm_up=0)
def etcd_settings(net, directory, settings):
    """How soon do etcd's members serve when they are 300 ms apart, with its defaults and as advised?"""
    heartbeat, election = SETTINGS[settings]
    options = [f"--heartbeat-interval={heartbeat}", f"--election-timeout={election}"]
    began, served = time.monotonic(), 0.0
    with suppress(ServiceError), apart(net, APART_MS), start(net, directory, options):  # an error: none serves in time
        served = time.monotonic() - began
    return {"served_ms": 1000 * (served or time.monotonic() - began)}


# etcd's Raft draws each election timeout between one and two of those that are set. A candidate whose timeout ends before votes
# come back, a round trip later, begins again: shorter ones elect nobody, and three round trips are enough. That ten are advised
# is for round trips that vary, which these do not.
etcd_settings.differs("etcd draws random numbers for its elections")
etcd_settings.claims(
    bound("served_ms", {"settings": "half a round trip"}, at_least=1000 * PATIENCE_S, because="votes come too late: no leader"),
    *(
        bound(
            "served_ms",
            {"settings": name},
            at_most=15_000,
            because="votes come back in time: two timeouts at most, and the members' start",
        )
        for name in ("defaults", "advised")
    ),
)


@etcd_settings.answer
def answer(run):
    soon = [run.at({"settings": name}).amount("served_ms") for name in ("defaults", "advised")]
    never = f"not within {PATIENCE_S} s with an election timeout of half a round trip"
    return f"After {soon[0]} with the defaults, {soon[1]} as advised; {never}."
