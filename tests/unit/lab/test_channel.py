import os
import socket
import struct
import threading
from pathlib import Path

import pytest

from slownet.lab.build import init
from slownet.lab.run import channel as frames
from slownet.lab.run.channel import Channel, Exit, Full, Message, Output, Parser, ProtocolError, Ready, Taken, job


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


def received(channel):
    return list(channel.receive())


def test_frames_that_come_together_are_taken_apart(ends):
    channel, lab = ends
    lab.sendall(frame(b"R", b"") + frame(b"O", b"out") + frame(b"E", b"") + frame(b"T", b"3072") + frame(b"F", b"disk"))
    lab.sendall(frame(b"E", b"late") + frame(b"X", b"256"))
    assert received(channel) == [
        Ready(), Output(b"out", False), Output(b"", True), Taken(3072), Full("disk"), Output(b"late", True), Exit(1),
    ]  # fmt: skip


def test_the_modules_that_were_asked_for_come_last_before_the_end(ends):
    channel, lab = ends
    lab.sendall(R + frame(b"A", b"net-sch-cbq\nrtnl-link-vrf") + frame(b"X", b"0"))
    assert received(channel) == [Ready(), frames.Asked(["net-sch-cbq", "rtnl-link-vrf"]), Exit(0)]


def test_a_frame_that_comes_in_pieces_is_put_together(ends):
    channel, lab = ends
    whole = frame(b"R", b"") + frame(b"O", bytes(range(256)) * 3)
    lab.sendall(whole[:5])
    assert received(channel) == [Ready()]
    for i in range(5, len(whole) - 1):
        lab.sendall(whole[i : i + 1])
        assert received(channel) == []
    lab.sendall(whole[-1:] + frame(b"X", b"0")[:4])
    assert received(channel) == [Output(bytes(range(256)) * 3, False)]
    lab.sendall(frame(b"X", b"0")[4:])
    assert received(channel) == [Exit(0)]


def test_a_torn_frame_is_never_delivered(ends):
    channel, lab = ends
    lab.sendall(frame(b"R", b"") + frame(b"O", b"whole") + frame(b"O", b"torn")[:-1])
    lab.close()
    assert received(channel) == [Ready(), Output(b"whole", False)]
    assert not channel.ended
    assert received(channel) == []
    assert channel.ended


@pytest.mark.parametrize(("status", "code"), [(b"0", 0), (b"256", 1), (b"65280", 255), (b"9", -9), (b"139", -11), (b"64", -64)])
def test_an_exit_is_a_status_of_a_process_that_ended(status, code):
    assert list(Parser().feed(frame(b"R", b"") + frame(b"X", status))) == [Ready(), Exit(code)]


def test_a_message_may_come_at_any_time_and_is_text():
    assert list(Parser().feed(frame(b"M", b"no \xff"))) == [Message("no \ufffd")]
    assert list(Parser().feed(frame(b"R", b"") + frame(b"M", b"x" * 511))) == [Ready(), Message("x" * 511)]


R = frame(b"R", b"")


def fed(data, size):
    """The frames in data that comes in pieces of a size."""
    parser = Parser()
    return [each for at in range(0, len(data), size) for each in parser.feed(data[at : at + size])]


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (R + frame(b"T", b"abc"), "a frame of type T with b'abc', not a number up to 3072"),
        (R + frame(b"T", b"-1"), "a frame of type T with b'-1', not a number up to 3072"),
        (R + frame(b"T", b" 1"), "a frame of type T with b' 1', not a number up to 3072"),
        (R + frame(b"T", b"1_0"), "a frame of type T with b'1_0', not a number up to 3072"),
        (R + frame(b"T", b"3073"), "a frame of type T with b'3073', not a number up to 3072"),
        (R + frame(b"T", b""), "a frame of type T with b'', not a number up to 3072"),
        (R + frame(b"T", "\u0661".encode()), "a frame of type T with b'\\xd9\\xa1', not a number up to 3072"),
        (R + frame(b"T", b"1" * 24), "a frame of type T announces 24 bytes, more than 23"),
        (R + frame(b"X", b"abc"), "a frame of type X with b'abc', not a number up to 65535"),
        (R + frame(b"X", b"-9"), "a frame of type X with b'-9', not a number up to 65535"),
        (R + frame(b"X", b"70000"), "a frame of type X with b'70000', not a number up to 65535"),
        (R + frame(b"X", b"127"), "a frame of type X with status 127, which is not that of a process that has ended"),
        (R + frame(b"X", b"65535"), "a frame of type X with status 65535, which is not that of a process that has ended"),
        (R + frame(b"X", b"0") + frame(b"X", b"0"), "a frame of type X after the last one, of type X"),
        (frame(b"M", b"") + R, "a frame of type R after the last one, of type M"),
        (R + frame(b"X", b"0") + frame(b"O", b""), "a frame of type O after the last one, of type X"),
        (R + R, "a second frame of type R"),
        (frame(b"O", b"early"), "a frame of type O before that of type R"),
        (frame(b"X", b"0"), "a frame of type X before that of type R"),
        (R + frame(b"F", b"flask"), "a frame of type F that names b'flask'"),
        (R + frame(b"F", b"process"), "a frame of type F that names b'process'"),
        (R + frame(b"F", b"memory") + frame(b"F", b"disk"), "a frame of type F after that of type F"),
        (R + frame(b"A", b""), "a frame of type A with b'', not names of modules"),
        (R + frame(b"A", b"a\n\nb"), "a frame of type A with b'a\\n\\nb', not names of modules"),
        (R + frame(b"A", b"\x1b[2J"), "a frame of type A with b'\\x1b[2J', not names of modules"),
        (R + frame(b"A", b"a" * 65), f"a frame of type A with {b'a' * 65!r}, not names of modules"),
        (R + frame(b"A", b"a") + frame(b"O", b""), "a frame of type O after that of type A"),
        (R + frame(b"A", b"a") + frame(b"A", b"a"), "a frame of type A after that of type A"),
        (b"Q\0\0\0\0", "a frame of unknown type 0x51"),
        (b"\x1b\0\0\0\0", "a frame of unknown type 0x1b"),
        (R + b"J\0\0\0\0", "a frame of unknown type 0x4a"),
        (R + b"O\0\0\0\xff", "a frame of type O announces 4278190080 bytes, more than 4096"),
        (b"M\0\2\0\0", "a frame of type M announces 512 bytes, more than 511"),
        (b"R\1\0\0\0", "a frame of type R announces 1 bytes, more than 0"),
    ],
)
def test_what_init_never_sends_ends_the_lab_with_one_line(data, what):
    for size in (len(data), 1):
        with pytest.raises(ProtocolError) as error:
            fed(data, size)
        fix = "it was stopped; only root in the lab can write to its channel"
        assert str(error.value) == f"the lab broke the protocol of its channel: {what}: {fix}"


def test_changes_of_shares_come_from_exact_labs_alone():
    data = R + frame(b"S", b"d\0000\0755\0a\0") + frame(b"C", b"x") + frame(b"X", b"0")
    assert list(Parser(frames.MOST_BYTES_EXACT).feed(data)) == [
        Ready(), frames.Change(b"d\0000\0755\0a\0"), frames.Content(b"x"), Exit(0)
    ]  # fmt: skip
    with pytest.raises(ProtocolError, match="unknown type 0x53"):
        fed(data, 1)
    with pytest.raises(ProtocolError, match="a frame of type S before that of type R"):
        list(Parser(frames.MOST_BYTES_EXACT).feed(frame(b"S", b"")))
    with pytest.raises(ProtocolError, match="a frame of type S announces 8257 bytes, more than 8256"):
        list(Parser(frames.MOST_BYTES_EXACT).feed(R + frame(b"S", bytes(8257))))


def test_the_limits_are_those_of_init():
    source = Path(init.__file__).with_name("init.c").read_text()
    assert f"#define CHUNK {frames.MOST_BYTES[frames.OUTPUT]}\n" in source
    assert f"#define WINDOW_BYTES {frames.WINDOW_BYTES}\n" in source
    assert f"#define HEAD_BYTES {frames.HEAD_BYTES}\n" in source
    message = source[source.index("static void fail(") :]
    assert f"char line[{frames.MOST_BYTES[frames.MESSAGE] + 1}];" in message[: message.index("\n}")]
    assert f"char text[{frames.MOST_BYTES[frames.TAKEN] + 1}];" in source[source.index("static void acknowledge(") :][:60]
    assert f"char text[{frames.MOST_BYTES[frames.EXIT] + 1}];" in source[source.index("int main(void)") :]
    sent = {line.split("'")[1] for line in source.splitlines() if "send_frame('" in line} | {"O", "E"}
    assert {kind.decode() for kind in frames.MOST_BYTES} == sent


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
