"""What a put costs in etcd by the distance of its members.

etcd's documentation: the minimum is the round trip between members, plus what fdatasync takes
(https://etcd.io/docs/v3.6/op-guide/performance/). The members' data are in memory here, so fdatasync takes nothing.
"""

import base64
import json

from members import apart, start

from slownet import PrimaryReplicas, bound, experiment, law

PUT = json.dumps({"key": base64.b64encode(b"key").decode(), "value": base64.b64encode(b"value").decode()})
APART_MS = ["2", "20", "100"]
# Raft (Ongaro and Ousterhout, 2014), 5.3: to a follower's log and back, and a follower passes a put on to the leader before.
TRIPS = {"leader": 1, "follower": 2}


@experiment(
    topology=PrimaryReplicas, service=start, vary={"asked": list(TRIPS), "apart_ms": APART_MS}, tdf="inf", blocks=1, warm_up=0
)
def etcd_put(net, members, asked, apart_ms):
    """How long does a put take in etcd, by the round trip between its members?"""
    with apart(net, apart_ms):
        member = next(each for each in members if each.leads() == (asked == "leader"))
        return {"put_ms": member.ask("kv/put", PUT, times=11)[1][1:]}


# The CPU is free, so round trips are exact: what etcd does besides takes the same near and far.
etcd_put.differs("etcd draws random numbers for its elections")
etcd_put.claims(
    *(
        law("put_ms", round_trips=trips, within=0.01, along="apart_ms", at={"asked": asked}) for asked, trips in TRIPS.items()
    ),
    bound("put_ms", {"asked": "leader", "apart_ms": "100"}, at_least=100, because="as documented"),
)  # fmt: skip


@etcd_put.answer
def answer(run):
    times = {asked: run.at({"asked": asked, "apart_ms": "100"}).amount("put_ms") for asked in TRIPS}
    return f"With members 100 ms apart {times['leader']} at the leader, {times['follower']} at a follower."
