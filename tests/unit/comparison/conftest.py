"""Real web servers on this machine, and records of runs."""

import ssl

import pytest
from pages import PEM, serving

from slownet.judge.records.result import gather


@pytest.fixture
def web():
    yield from serving()


@pytest.fixture
def secure_web():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(PEM)
    yield from serving(context)


WORK = {"tdf": 4, "cpu": "work"}
TIMES = {0: 9.0, 10: 49.0, 40: 169.0, 120: 489.0}


@pytest.fixture
def made():
    """made(times by rtt, ...) returns a run of pages that take four round trips; without delay a round trip is 0.1 ms."""

    def make(times=TIMES, sd=0.4, clock=WORK, **more):
        def sample(index, rtt, time):
            metrics = {
                "time_per_request_ms": {"mean": time, "sd": sd, "n": 100},
                "time_p99_ms": {"mean": time, "sd": 0.0, "n": 100},
            }
            cell = {"cell": {"rtt": f"{rtt}ms"}, "condition": {"rtt_ms": float(rtt)}, "verified_rtt_ms": rtt + 0.1}
            named = {"experiment": "client_delay", "index": index, "status": "ok", "error": None}
            return cell | named | {"metrics": metrics, "facts": {"document_length": 52_000, "header_length": 238}} | more

        return gather([sample(index, *each) for index, each in enumerate(times.items())], {"clock": "virtual", **clock})

    return make
