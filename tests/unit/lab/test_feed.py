import os
import selectors

import pytest

from slownet.lab.run import channel as frames
from slownet.lab.run.boot import Feed
from slownet.lab.run.channel import ProtocolError


class Line:
    """Replaces a channel and records what is sent."""

    def __init__(self):
        self.sent = []

    def send(self, kind, payload=b""):
        self.sent.append((kind, payload))

    def take(self, kind):
        """Return the payloads of that kind sent since the last call, and their size including frame heads."""
        payloads = [payload for each, payload in self.sent if each == kind]
        self.sent = []
        return b"".join(payloads), sum(len(payload) + frames.HEAD_BYTES for payload in payloads)


@pytest.fixture
def line():
    return Line()


@pytest.fixture
def selector():
    with selectors.DefaultSelector() as selector:
        yield selector


def test_a_job_goes_in_pieces_that_fit_and_an_empty_one_ends_it(line):
    feed = Feed(b"j" * 10_000, None, line)
    assert line.sent == []
    feed.start()
    got, room = line.take(frames.JOB)
    assert frames.WINDOW_BYTES - 5 <= room <= frames.WINDOW_BYTES
    assert not feed.job_is_sent
    while not feed.job_is_sent:
        feed.taken(room)
        last = line.sent[-1]
        piece, room = line.take(frames.JOB)
        assert room <= frames.WINDOW_BYTES
        got += piece
    assert got == b"j" * 10_000
    assert last == (frames.JOB, b"")


def test_without_input_its_end_is_told_once(line, selector):
    feed = Feed(b"j", None, line)
    feed.start()
    feed.follow(selector)
    feed.follow(selector)
    assert line.sent == [(frames.JOB, b"j"), (frames.JOB, b""), (frames.END_OF_INPUT, b"")]


def test_a_file_is_read_as_far_as_there_is_room(line, selector, tmp_path):
    data = os.urandom(20_000)
    (tmp_path / "input").write_bytes(data)
    with (tmp_path / "input").open("rb") as file:
        feed = Feed(b"", file.fileno(), line)
        feed.start()
        line.sent = []
        got, steps, end = b"", 0, None
        while feed.fd is not None:
            feed.follow(selector)
            end = line.sent[-1]
            piece, room = line.take(frames.INPUT)
            assert room <= frames.WINDOW_BYTES
            feed.taken(room)
            got += piece
            steps += 1
    assert got == data
    assert steps > 5
    assert end == (frames.END_OF_INPUT, b"")


def test_a_pipe_is_watched_only_while_there_is_room(line, selector):
    reader, writer = os.pipe()
    feed = Feed(b"", reader, line)
    feed.start()
    line.sent = []
    os.write(writer, b"x" * 10_000)
    feed.follow(selector)
    while reader in selector.get_map():
        feed.ready(selector)
        feed.follow(selector)
    got, room = line.take(frames.INPUT)
    assert len(got) < frames.WINDOW_BYTES
    feed.taken(room)
    os.close(writer)
    while feed.fd is not None:
        feed.follow(selector)
        feed.ready(selector)
        more, room = line.take(frames.INPUT) if line.sent[-1][0] == frames.INPUT else (b"", 0)
        feed.taken(room)
        got += more
    os.close(reader)
    assert got == b"x" * 10_000
    assert line.sent == [(frames.END_OF_INPUT, b"")]
    assert not selector.get_map()


def test_input_that_cannot_be_read_has_ended(line, selector, tmp_path):
    folder = os.open(tmp_path, os.O_RDONLY)
    feed = Feed(b"", folder, line)
    feed.start()
    feed.follow(selector)
    os.close(folder)
    assert line.sent[-1] == (frames.END_OF_INPUT, b"")


@pytest.mark.parametrize("more", [1, 3072])
def test_a_lab_cannot_take_more_than_was_sent(line, more):
    feed = Feed(b"j" * 100, None, line)
    feed.start()
    _, sent = line.take(frames.JOB)
    with pytest.raises(ProtocolError, match=rf"^the lab broke .*: it took {sent + more} bytes, and {sent} were on their way: "):
        feed.taken(sent + more)
    feed.taken(sent)
    with pytest.raises(ProtocolError, match="it took 1 bytes, and 0 were on their way"):
        feed.taken(1)
