import os
import socket
import struct
import threading

import pytest

from slownet.lab import channel as frames
from slownet.lab.channel import Channel, job


@pytest.fixture
def ends():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield Channel(ours), theirs


def frame(kind, payload):
    return kind + struct.pack("<I", len(payload)) + payload


def test_a_frame_is_a_type_a_length_and_the_payload(ends):
    channel, lab = ends
    channel.send(frames.SIGNAL, b"15")
    channel.send(frames.END_OF_INPUT)
    assert lab.recv(100) == b"K\x02\x00\x00\x0015" + b"Z\x00\x00\x00\x00"


def test_frames_that_come_together_are_taken_apart(ends):
    channel, lab = ends
    lab.sendall(frame(b"O", b"out") + frame(b"E", b"") + frame(b"X", b"0"))
    assert list(channel.receive()) == [(b"O", b"out"), (b"E", b""), (b"X", b"0")]


def test_a_frame_that_comes_in_pieces_is_put_together(ends):
    channel, lab = ends
    whole = frame(b"O", bytes(range(256)) * 3)
    for i in range(len(whole) - 1):
        lab.sendall(whole[i : i + 1])
        assert list(channel.receive()) == []
    lab.sendall(whole[-1:] + frame(b"X", b"0")[:4])
    assert list(channel.receive()) == [(b"O", bytes(range(256)) * 3)]
    lab.sendall(frame(b"X", b"0")[4:])
    assert list(channel.receive()) == [(b"X", b"0")]


def test_a_torn_frame_is_never_delivered(ends):
    channel, lab = ends
    lab.sendall(frame(b"O", b"whole") + frame(b"O", b"torn")[:-1])
    lab.close()
    assert list(channel.receive()) == [(b"O", b"whole")]
    assert not channel.ended
    assert list(channel.receive()) == []
    assert channel.ended


def test_sending_to_a_lab_that_is_gone_is_no_error(ends):
    channel, lab = ends
    lab.close()
    channel.send(frames.INPUT, b"x")
    channel.send(frames.INPUT, b"x")
    assert not channel.has_unsent


def test_sending_never_waits_and_frames_stay_whole_and_in_order(ends):
    channel, lab = ends
    payloads = [os.urandom(100_000) for _ in range(20)]
    for payload in payloads:
        channel.send(frames.INPUT, payload)  # nobody reads yet: far more than the socket buffer
    assert channel.has_unsent
    received = bytearray()
    while channel.has_unsent:
        received += lab.recv(1 << 20)
        channel.flush()
    lab.setblocking(False)
    while len(received) < 20 * 100_005:
        received += lab.recv(1 << 20)
    assert bytes(received) == b"".join(frame(b"I", payload) for payload in payloads)


def test_threads_that_send_at_once_do_not_tear_frames(ends):
    channel, lab = ends
    received = bytearray()

    def read():
        while data := lab.recv(1 << 16):
            received.extend(data)

    def send(kind):
        for i in range(200):
            channel.send(kind, bytes([i]) * 500)

    reader = threading.Thread(target=read)
    senders = [threading.Thread(target=send, args=(kind,)) for kind in (b"I", b"W", b"K")]
    for thread in [reader, *senders]:
        thread.start()
    for sender in senders:
        sender.join()
    while channel.has_unsent:
        channel.flush()
    channel.close()
    reader.join()
    by_kind = {b"I": [], b"W": [], b"K": []}
    while received:
        kind, size = struct.unpack_from("<cI", received)
        by_kind[kind].append(bytes(received[5 : 5 + size]))
        del received[: 5 + size]
    assert all(each == [bytes([i]) * 500 for i in range(200)] for each in by_kind.values())


def test_a_job_is_lines_that_end_in_nul():
    payload = job(
        ["sh", "-c", "a=b\n\xfc"],
        mounts=[("ro", "/a b:c", "/x"), ("rw", "/d", "/d")],
        env={"A": "1=2", "B": ""},
        cwd="/x",
        clock=1_750_000_000,
        tty=True,
        limit=3600,
    )
    assert payload.split(b"\0") == [
        b"host=/a b:c", b"ro=/x", b"host=/d", b"rw=/d", b"env=A=1=2", b"env=B=", b"clock=1750000000", b"cwd=/x", b"tty=1",
        b"limit=3600", b"arg=sh", b"arg=-c", b"arg=a=b\n\xc3\xbc", b"",
    ]  # fmt: skip


def test_a_job_says_nothing_of_what_is_not_asked_for():
    assert job(["true"]) == b"arg=true\0"


def test_words_that_are_no_text_go_through_unchanged():
    assert job([os.fsdecode(b"\xff\xfe")]) == b"arg=\xff\xfe\0"
