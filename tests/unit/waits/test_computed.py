"""The programs of steps on a clock that charges for CPU, by what the hosts' kernels count."""

import json
from dataclasses import replace

import pytest
from told import Told, opened

from slownet.net.kernel_record import KernelRecord
from slownet.waits.account import OR_A_TIMER, Cause
from slownet.waits.door import account

CHARGED = f"{OR_A_TIMER}: this clock charges for CPU, and cannot tell"


@pytest.fixture
def told(tmp_path):
    """An answer that comes after 100 ms on the server, and a client that reads it for 100 ms before it asks again."""
    made = Told(tmp_path)
    opened(made)
    made.say("client", "web", "PA", 101, 501, at=40.0, came=60.0, payload=b"GET /")
    made.say("web", "client", "PA", 501, 106, at=160.0, came=180.0, payload=b"200 OK", ports=(80, 40000))
    made.say("client", "web", "PA", 106, 507, at=280.0, came=300.0, payload=b"GET /")
    made.say("web", "client", "PA", 507, 111, at=300.0, came=320.0, payload=b"200 OK", ports=(80, 40000))
    return made


@pytest.mark.parametrize(
    ("cpu_us", "cause", "detail"),
    [
        ({}, Cause.COMPUTING, CHARGED),
        ({"nginx": 95_000}, Cause.COMPUTING, "nginx"),
        ({"nginx": 20_000, "php-fpm": 79_900, "sh": 100}, Cause.COMPUTING, "php-fpm 80 %, nginx 20 %"),
        ({"nginx": 1_000, "php-fpm": 3_000}, Cause.TIMER, "at most 14 ms of it computing, php-fpm 75 %, nginx 25 %"),
        ({"nginx": 0}, Cause.TIMER, "at most 10 ms of it computing, nginx"),
    ],
)
@pytest.mark.parametrize("host", ["web", "client"])
def test_computing_has_its_programs(told, tmp_path, host, cpu_us, cause, detail):
    (tmp_path / "kernel.json").write_text(json.dumps(KernelRecord(cpu_us=cpu_us).to_json()))
    captures = [replace(each, kernel="kernel.json") if each.host == host else each for each in told.captures()]
    found = account(captures, free=False)
    by_host = {each.source: (each.cause, each.detail, each.ms) for each in found.steps if each.source == each.target}
    if host == "client":  # its programs may have ended
        cause, detail = Cause.COMPUTING, CHARGED if not cpu_us else f"{OR_A_TIMER}: {detail.rpartition('computing, ')[2]}"
    assert by_host == {"web": (Cause.COMPUTING, CHARGED, 100.0), "client": (Cause.COMPUTING, CHARGED, 100.0)} | {
        host: (cause, detail, 100.0)
    }
    assert found.remainder_ns == 0
