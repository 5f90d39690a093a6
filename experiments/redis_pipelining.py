"""Redis's documentation on pipelining: at 250 ms of round-trip time, a client that waits for each answer gets four a second."""

from slownet import Redis, TwoHosts, experiment, predicted, round_trips_between
from slownet.theory import published
from slownet.tools.redis_benchmark import redis_benchmark

TURNS = 200  # how often each connection asks, after the round trip of its handshake
# Connections, and how many requests each sends before it waits. RFC 9293, 3.5 for the handshake's round trip; RFC 6928: a new
# connection sends 10 segments of 1448 B, so a pipeline of 1000 requests of 36 B takes two flights the first time.
# Client and server are Debian 13's, Redis 8.0.2.
WAYS = {
    "one by one": (1, 1, 0, "it waits for its answer"),
    "50 connections": (50, 1, 0, "they wait at the same time"),
    "pipeline of 10": (1, 10, 0, "they wait together"),
    "pipeline of 100": (1, 100, 0, "they wait together"),
    "pipeline of 1000": (1, 1000, 1, "they wait together, the first time for a second flight, too"),
}
NEAR, FAR = "10ms", "250ms"


@experiment(
    topology=TwoHosts, service=lambda net, directory: Redis(net["server"], directory),
    vary={"way": list(WAYS), "rtt": [NEAR, FAR]}, published=published.database("redis_pipelining"), tdf="inf", blocks=1,
)  # fmt: skip
def redis_pipelining(net, redis, way, rtt):
    """How many requests a second does Redis answer at 250 ms of round-trip time, with and without pipelining?"""
    connections, pipeline, *_ = WAYS[way]
    with net.link("client", "server").set(rtt=rtt):
        address, requests = redis.host.IP(), TURNS * connections * pipeline
        return redis_benchmark(net["client"], address, requests=requests, connections=connections, pipeline=pipeline)


# The CPU is free, so round trips are exact; redis-benchmark counts whole milliseconds, 1 of 2000.
redis_pipelining.claims(
    predicted(
        "requests_per_s", {"way": "one by one", "rtt": FAR}, expected=1000 / 250, within=0.01,
        because="as published: at most one answer per round trip",
    ),
    *(
        round_trips_between(
            "turn_ms", {"way": way, "rtt": FAR}, of={"way": way, "rtt": NEAR}, expected=(TURNS + 1 + more) / TURNS, within=0.01,
            because=why, name=f"{connections * pipeline} requests, {way}",
        )
        for way, (connections, pipeline, more, why) in WAYS.items()
    ),
)  # fmt: skip


@redis_pipelining.answer
def answer(run):
    rates = [run.at({"way": way, "rtt": FAR}).summary("requests_per_s").mean for way in WAYS]
    one, fifty, *piped = (f"{rate:,.0f}" if rate >= 1000 else f"{rate:.3g}" for rate in rates)
    return f"{one} one by one, {fifty} on 50 connections, {', '.join(piped)} in pipelines of 10, 100 and 1000."
