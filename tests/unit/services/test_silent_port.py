"""A program whose port does not answer: the error names the port, the clock, and the ports that listen instead."""

import socket
import subprocess
import sys

import pytest

from slownet.lab.host.native import INSIDE
from slownet.lab.run.charge import clock_words
from slownet.model.errors import ServiceError
from slownet.services import readiness
from slownet.services.readiness import Command, http

HEAD = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode"
LINES = (
    HEAD,
    "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1 0 100 0 0 10 0",
    "   1: 00000000:0050 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 2 1 0 100 0 0 10 0",
    "   2: 0100007F:1B61 0100007F:9C40 01 00000000:00000000 00:00000000 00000000     0        0 3 1 0 20 4 30 10 -1",
)


class Stock:
    """This machine as a host that shares its namespace."""

    name, inNamespace = "stock", False  # noqa: N815

    def IP(self) -> str:  # noqa: N802
        return "127.0.0.1"

    def popen(self, argv, **options):
        return subprocess.Popen(argv, start_new_session=True, **options)


def test_only_sockets_that_listen_count():
    assert readiness.listed(LINES) == (80, 8080)
    assert readiness.listed([HEAD]) == ()


def test_this_machines_own_server_is_found():
    with socket.create_server(("127.0.0.1", 0)) as one:
        port = one.getsockname()[1]
        assert port in readiness.ports(Stock())


def test_a_port_that_never_answers_is_named_with_those_that_listen(tmp_path, monkeypatch):
    monkeypatch.setattr(readiness, "ports", lambda host: (80, 8080))
    with socket.socket() as bound:  # nothing else can listen there
        bound.bind(("127.0.0.1", 0))
        port = bound.getsockname()[1]
        waits = [sys.executable, "-c", "import time; time.sleep(60)"]
        with pytest.raises(ServiceError) as caught:
            Command(Stock(), waits, tmp_path, port=port, timeout=0.2, name="pick").start()
    assert str(caught.value).startswith(
        f"pick does not answer on port {port} after 0.2 s, host 'stock': TCP ports 80, 8080 listen on stock; its log is "
    )


@pytest.mark.parametrize(
    ("found", "ready", "wanted"),
    [
        ((), None, (" on port 7009", "no TCP port listens on stock; ")),
        ((8000,), None, (" on port 7009", "TCP port 8000 listens on stock; ")),
        ((8000,), http("/health"), (" GET /health on port 7009", "TCP port 8000 listens on stock; ")),
        ((8000,), http("/", port=81), (" GET / on port 81", "TCP port 8000 listens on stock; ")),
        ((8000,), lambda service: False, ("", "TCP port 8000 listens on stock; ")),
        ((8000,), "ready", ("", "")),
    ],
)
def test_what_is_awaited(tmp_path, monkeypatch, found, ready, wanted):
    monkeypatch.setattr(readiness, "ports", lambda host: found)
    assert Command(Stock(), "true", tmp_path, port=7009, ready=ready)._waits_for() == wanted


@pytest.mark.parametrize(
    ("kind", "words"),
    [("real", ""), ("inf", " of the virtual clock"), ("3", " of the virtual clock"), ("exact", " of the exact clock")],
)
def test_seconds_name_a_clock_that_is_not_the_real_one(monkeypatch, kind, words):
    monkeypatch.setenv(INSIDE, kind)
    assert clock_words() == words
