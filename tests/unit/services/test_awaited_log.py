"""A service is ready when its log has a text, whatever pieces and whatever amount the program writes."""

import random
from types import SimpleNamespace

import pytest

from slownet.services.readiness import CHUNK, Awaited


class Server(Awaited):
    def __init__(self, log, ready):
        super().__init__(SimpleNamespace(name="here"), log.parent, name="server", port=None, ready=ready, timeout=1)
        self._path = log

    @property
    def log(self):
        return self._path


@pytest.fixture
def log(tmp_path):
    return tmp_path / "server.log"


@pytest.mark.parametrize("seed", range(10))
def test_a_text_counts_wherever_it_lies(log, seed):
    chance = random.Random(seed)
    noise = bytes(chance.choice(b"read") for _ in range(chance.randrange(CHUNK - 10, CHUNK + 10)))
    whole, server = noise + b"ready\n", Server(log, "ready")
    log.write_bytes(b"")
    expected = server.answers()
    while whole:
        size = chance.choice((1, 3, 40_000))
        with log.open("ab") as file:
            file.write(whole[:size])
        whole = whole[size:]
        expected = b"ready" in log.read_bytes()
        assert server.answers() is expected
        assert server.answers() is expected
    assert expected


def test_an_earlier_start_does_not_count_and_a_long_log_is_read_once(log, monkeypatch):
    log.write_bytes(b"ready\n" + b"x" * 3 * CHUNK)
    server = Server(log, "ready")
    server.prepare()
    assert not server.answers()
    with log.open("ab") as file:
        file.write(b"y" * 5 * CHUNK)
    assert not server.answers()
    assert server._logged > 8 * CHUNK
    with log.open("ab") as file:
        file.write(b"ready")
    assert server.answers()
