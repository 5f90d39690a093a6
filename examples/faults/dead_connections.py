"""How long does a pool's user wait for a database that is gone without a word? `slownet run dead_connections.py` measures it.

No reset comes and no ICMP, as when a firewall forgets its connections, or a virtual machine is moved away. The user's statement
is sent, and TCP sends it again (Linux, net/ipv4/tcp_timer.c):

    RTO   the smoothed round trip and 200 ms, rounded up to ticks of 4 ms: 204 ms next door; then twice as long each time, at
          most 120 s
    end   at the first of these timers at which 924.6 s have gone since the first retransmission, which is what
          tcp_retries2 = 15 timeouts would take that begin with 200 ms: (2^10 - 1) * 200 ms + 6 * 120 s (tcp_model_timeout)

That is the 16th: (2^10 - 1) * 204 ms + 6 * 120 s = 928.7 s, if timers are in time. They go off at the end of a slot of the
timer wheel (kernel/time/timer.c), which is 32 ms wide for timers of 0.25 to 2 s, 256 ms up to 16 s and 2.048 s up to 129 s. Of
the timers, 3 are of the first, 3 of the second and 9 of the third kind, which is 19.3 s at most. A tail loss probe (RFC 8985)
may come before the first retransmission, which is then 0.2 s later. So the statement fails after 928.7 to 948.3 s.

With tcp_user_timeout = 30 s the last timer is set so that it ends 30 s after the first retransmission; with a slot of 256 ms
and the probe that is after 30.2 to 30.7 s. Keepalives change nothing: none is sent while data wait for their acknowledgement.
That holds for the SELECT 1 of a pool that checks its connections before use, too. And each connection of the pool is as dead.
"""

import time

from slownet import Recorder, TwoHosts, bound, experiment
from slownet.services.postgresql import PostgreSQL

KEEPALIVES = {"keepalives_idle": 5, "keepalives_interval": 5, "keepalives_count": 3}
# Parameters of libpq, and seconds by the theory above.
SETTINGS = {
    "Linux's defaults": ({}, 928.7, 948.3),
    "keepalives": (KEEPALIVES, 928.7, 948.3),
    "tcp_user_timeout": ({"tcp_user_timeout": 30_000}, 30.2, 30.7),
}


def start(net, directory):
    """Return the database on its host."""
    return PostgreSQL(net["server"], directory)


def asks(client, database, parameters, waited):
    """Ask on a connection, and again when the database is gone; note the seconds until that fails."""
    import psycopg  # labs have it

    kept = psycopg.connect(**database.login, **parameters, autocommit=True)
    for _ in client.every("2s", "4s"):
        began = time.monotonic()
        try:
            kept.execute("SELECT 1")
        except psycopg.OperationalError:
            waited.append(time.monotonic() - began)


@experiment(topology=TwoHosts, service=start, vary={"connection": list(SETTINGS)}, tdf="inf", blocks=1, warm_up=0)
def dead_connections(net, database, connection):
    """How long does a statement wait on a pool's connection when the database is gone without a word?"""
    waited = []
    with net.faults({"1s": "cut server from client"}, database) as broken:
        recorder = Recorder(broken)
        recorder.client(net["client"], asks, database, SETTINGS[connection][0], waited)
        recorder.wait()
    return {"waited_s": waited}


dead_connections.differs("where the timer wheel stands when the statement is sent")
dead_connections.claims(
    *(
        bound("waited_s", {"connection": name}, at_least=least, at_most=most, because="Linux's timers, as above")
        for name, (_, least, most) in SETTINGS.items()
    )
)


@dead_connections.answer
def answer(run):
    return ", ".join(f"{run.at({'connection': name}).amount('waited_s')} with {name}" for name in SETTINGS) + "."
