"""How the requests of a page are divided, and what is refused of a load's answer."""

import contextlib
import json

import pytest

from slownet.links.packets.seen import Seen
from slownet.model.errors import ToolError
from slownet.reproductions import page_load
from slownet.reproductions.page_load import chains
from slownet.theory.handshakes import STACKS
from slownet.theory.page_loads import PROTOCOLS


@pytest.mark.parametrize(
    ("protocol", "expected"),
    [("HTTP/1.1", [7]), ("HTTP/1.1 on 6 connections", [2, 1, 1, 1, 1, 1]), ("HTTP/2", [1] * 7), ("HTTP/3", [1] * 7)],
)
def test_requests_are_divided_among_connections_or_all_go_at_once(protocol, expected):
    urls = page_load.page("https://a/object", 7)
    found = chains(PROTOCOLS[protocol], urls)
    assert [len(each) for each in found] == expected
    assert sorted(url for each in found for url in each) == urls


def test_a_page_of_few_objects_opens_no_connection_for_nothing():
    assert chains(PROTOCOLS["HTTP/1.1 on 6 connections"], page_load.page("https://a/object", 2)) == [
        ["https://a/object?0"], ["https://a/object?1"],
    ]  # fmt: skip


class Client:
    name = "client"


@pytest.fixture
def loaded(monkeypatch):
    """Load a page of two objects whose loads open these connections, over the one that the capture shows."""
    monkeypatch.setattr(page_load, "Capture", lambda *words, **more: contextlib.nullcontext())
    seen = Seen(STACKS["TLS 1.3"], "h2", 800, 1200, 0, 1, 2, 900, 2)
    monkeypatch.setattr(page_load, "connections", lambda *words: [seen])

    def load(*opened, times=((0.01, 0.03), (0.02, 0.02))):
        transfers = [[{"time_total": each, "num_connects": 0} for each in of] for of in times]
        for each, number in zip(transfers, opened, strict=True):
            each[0]["num_connects"] = number
        answers = iter([json.dumps({"time_s": 0.04, "transfers": each}) + "\n" for each in [transfers[0], *transfers]])

        @contextlib.contextmanager
        def answering(host, command, env):
            assert env["SSLKEYLOGFILE"].endswith("keys")
            yield lambda: next(answers)

        monkeypatch.setattr(page_load, "answering", answering)
        return page_load.page_load(Client(), "https://10.0.0.2/object", "HTTP/2", 2, loads=2)

    return load


def test_each_load_has_its_time_and_the_mean_of_its_objects(loaded):
    found = loaded(1, 1)
    assert found.times_ms == pytest.approx((40, 40))
    assert found.objects_ms == pytest.approx((20, 20))
    assert (found.application, found.connections) == ("h2", 1)
    assert len(found.raw.splitlines()) == 2  # without the first, which was captured


def test_another_number_of_connections_is_one_line(loaded):
    with pytest.raises(ToolError, match=r"^load 2 opened 3 connections instead of 1, host 'client', https://10.0.0.2/object$"):
        loaded(1, 3)
