"""Whether receive windows limited senders."""

import pytest

from slownet.net.senders import Sender, limited
from slownet.net.sock_diag import Connection

STOPPED = Connection(("10.0.0.2", 5201), ("10.0.0.1", 40000), 1, 5_120_000, 4_960_000, 0, 10**8, 10, 10)


def test_a_sender_is_what_the_kernel_reports_of_a_connection():
    found = Sender.of("server", STOPPED)
    assert (found.host, found.busy_s, found.waited_s) == ("server", pytest.approx(5.12), pytest.approx(4.96))
    assert found.sent == 10**8


def test_only_connections_that_carried_much_count():
    idle = Sender("server", 1.0, 0.9, 1000)
    assert limited([Sender.of("server", STOPPED), idle]) == {"by": "receive window", "share": 0.9688, "host": "server"}
    assert limited([idle]) is limited([]) is None


def test_less_than_half_of_the_time_is_no_limit():
    sent = 10**6
    assert limited([Sender("a", 10.0, 4.0, sent)]) is None
    assert limited([Sender("a", 10.0, 4.0, sent), Sender("b", 10.0, 8.0, 2 * sent)]) == {
        "by": "receive window", "share": 0.6, "host": "b",
    }  # fmt: skip
