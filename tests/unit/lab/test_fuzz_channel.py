"""Whatever a lab writes, the host gets frames and events or one error of slownet's, the same ones in pieces of any size."""

import contextlib
import io
import json
import re
import struct
from unittest import mock

from hypothesis import example, given, settings
from hypothesis import strategies as st

from slownet.judge.records.result import gather
from slownet.lab.run import channel as frames
from slownet.lab.run import events
from slownet.lab.run.boot import Feed
from slownet.lab.run.channel import Exit, Full, Message, Output, Parser, ProtocolError, Ready, Taken
from slownet.lab.run.events import MARK, EventError, Reader
from slownet.model.control_characters import visible
from slownet.report.progress import RunProgress
from slownet.report.topology import topology_figure
from slownet.runner.booting import grammar
from slownet.runner.repetition import news

untimed = settings(deadline=None)
CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def framed(kind, payload):
    return kind + struct.pack("<I", len(payload)) + payload


def in_pieces(data, sizes):
    """Yield the data in pieces of these sizes, over and over."""
    at = number = 0
    while at < len(data):
        yield data[at : at + sizes[number % len(sizes)]]
        at += sizes[number % len(sizes)]
        number += 1


sizes = st.lists(st.integers(1, 40), min_size=1, max_size=5)
payloads = st.one_of(
    st.binary(max_size=30), st.integers(-5, 70_000).map(lambda number: str(number).encode()),
    st.sampled_from([b"disk", b"memory", b"", b"abc", b"0", b"256", b"127", b"x" * 4096, b"x" * 4097, b"9" * 23]),
)  # fmt: skip
any_frame = st.builds(framed, st.sampled_from([bytes([each]) for each in b"ROETFMXJIZKWQ\x00\xff"]), payloads)
heads = st.builds(
    lambda kind, size: kind + struct.pack("<I", size), st.binary(min_size=1, max_size=1), st.integers(0, 2**32 - 1)
)
pieces = st.one_of(any_frame, st.binary(max_size=12), heads)
streams = st.builds(
    lambda begin, rest: begin + b"".join(rest), st.sampled_from([b"", framed(b"R", b"")]), st.lists(pieces, max_size=12)
)


def parsed(data, pieces):
    """The frames in the data, and the error that ended them."""
    parser, found = Parser(), []
    try:
        for piece in in_pieces(data, pieces):
            found += parser.feed(piece)
            assert len(parser._received) < frames.HEAD_BYTES + 4096 + len(piece)
    except ProtocolError as error:
        return found, str(error)
    return found, ""


@untimed
@given(streams, sizes)
@example(framed(b"R", b"") + framed(b"T", b"1_0"), [1])
def test_any_bytes_are_frames_or_one_error(data, pieces):
    found, error = parsed(data, pieces)
    assert (found, error) == parsed(data, [max(1, len(data))])
    assert error.isprintable()
    assert len(error) < 250
    kinds = [type(each) for each in found]
    assert kinds.count(Ready) <= 1
    assert sum(kinds.count(each) for each in (Exit, Message)) <= 1
    assert not found or Message in kinds[-1:] or isinstance(found[0], Ready)
    assert all(0 <= each.count <= frames.WINDOW_BYTES for each in found if isinstance(each, Taken))
    assert all(-127 < each.status < 256 for each in found if isinstance(each, Exit))


outputs = st.lists(st.builds(Output, st.binary(max_size=4096), st.booleans()), max_size=5)
taken = st.lists(st.builds(Taken, st.integers(0, frames.WINDOW_BYTES)), max_size=5)
full = st.lists(st.builds(Full, st.sampled_from(["disk", "memory"])), max_size=1)
ends = st.one_of(
    st.builds(Exit, st.integers(-64, 255)), st.builds(Message, st.text(st.characters(codec="ascii"), max_size=511))
)


def sent(frame):
    """The frame as init.c sends it."""
    match frame:
        case Ready():
            return framed(b"R", b"")
        case Output(data, is_error):
            return framed(b"E" if is_error else b"O", data)
        case Taken(count):
            return framed(b"T", str(count).encode())
        case Full(what):
            return framed(b"F", what.encode())
        case Message(text):
            return framed(b"M", text.encode())
        case Exit(status):
            return framed(b"X", str(status << 8 if status >= 0 else -status).encode())


@untimed
@given(outputs, taken, full, outputs, ends, sizes)
def test_all_that_init_sends_is_taken(first, counts, full, rest, end, pieces):
    whole = [Ready(), *first, *counts, *full, *rest, end]
    assert parsed(b"".join(map(sent, whole)), pieces) == (whole, "")


@untimed
@given(st.integers(0, 9000), st.lists(st.integers(0, frames.WINDOW_BYTES), max_size=30))
def test_never_more_is_on_its_way_than_init_has_room_for(size, counts):
    line = mock.Mock()
    feed = Feed(b"j" * size, None, line)
    feed.start()
    on_its_way = acknowledged = 0
    for count in counts:
        on_its_way = sum(frames.HEAD_BYTES + len(each.args[1]) for each in line.send.call_args_list) - acknowledged
        assert on_its_way <= frames.WINDOW_BYTES
        try:
            feed.taken(count)
        except ProtocolError:
            assert count > on_its_way
            return
        assert count <= on_its_way
        acknowledged += count


SAMPLE = {
    "event": "sample", "index": 1,
    "sample": {
        "cell": {"rtt": "10ms"}, "index": 1, "status": "ok", "error": None, "virtual_s": 0.5,
        "metrics": {"time_ms": {"mean": 1.5, "sd": 0.1, "n": 10}},
    },
}  # fmt: skip
TOLD = [
    {"event": "facts", "settings": {"a": "1"}, "openvswitch": "3.5", "service": {"page": [1, {"x": None}]},
     "topology": {"hosts": ["a"], "switches": ["s"], "links": {"a-s": ["a", "s"]}}},
    {"event": "cell", "index": 1, "cell": {"rtt": "10ms"}}, SAMPLE,
    {"event": "end", "virtual_s": 1.5}, {"event": "error", "line": "no", "log": "a\nb"},
]  # fmt: skip
json_values = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(-3, 3), st.integers(), st.floats(), st.text(max_size=8),
        st.sampled_from([10**400, -(10**400), "\x1b]0;x\x07", "\ud800", 1e308, "x" * 2_000_000, "ok", "event", "index"]),
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=6), inner, max_size=3)), max_leaves=8,
)  # fmt: skip


def ways(value, way=()):
    """Yield the ways to all values below this one."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in items:
        yield (*way, key)
        yield from ways(each, (*way, key))


@st.composite
def altered_events(draw):
    """An event with some values replaced, removed or added."""
    event = json.loads(json.dumps(draw(st.sampled_from(TOLD))))
    for _ in range(draw(st.integers(0, 3))):
        way = draw(st.sampled_from(list(ways(event)) or [("event",)]))
        inner = event
        for key in way[:-1]:
            inner = inner[key]
        change = draw(st.integers(0, 5))
        if change == 0 and way[-1] in (inner if isinstance(inner, dict) else range(len(inner))):
            del inner[way[-1]]
        elif change == 1 and isinstance(inner, dict):
            inner[draw(st.text(max_size=6))] = draw(json_values)
        else:
            inner[way[-1]] = draw(json_values)
    return event


def read(data, pieces):
    """The events in the data, what was printed, and the error that ended them."""
    found, printed = [], io.StringIO()
    take = Reader(found.append, grammar([0, 1]))
    with contextlib.redirect_stderr(printed):
        try:
            for piece in in_pieces(data, pieces):
                take(piece)
            take.close()
        except EventError as error:
            return found, printed.getvalue(), str(error)
    return found, printed.getvalue(), ""


lines = st.one_of(
    st.binary(max_size=60), st.text(max_size=40).map(lambda text: text.encode(errors="surrogatepass")),
    st.sampled_from([MARK, MARK[:4], b"\x1e", b"\n", b"{}", b"\xc3", b"[" * 3000, b"x" * 100]),
    altered_events().map(lambda event: MARK + json.dumps(event).encode() + b"\n"),
    st.sampled_from(TOLD).map(lambda event: events.line(**event)),
    json_values.map(lambda value: MARK + json.dumps(value).encode() + b"\n"),
)  # fmt: skip


@untimed
@given(st.lists(lines, max_size=8).map(b"".join), sizes)
@example(b"x" * 16 + MARK[:5] + b"y\n", [16, 3])
@example(b"x" * 16 + b"\x80" + b"x" * 9, [1])
@example(b"x" * 15 + b"\xc2\x80" + b"x" * 8, [1])
@example(b"\xc3\xa4" * 20 + events.line(**SAMPLE), [1])
def test_any_output_is_text_and_events_or_one_error(data, pieces):
    with mock.patch.multiple(events, LINE_BYTES=16, EVENT_BYTES=1000):  # so that long lines are short enough to try many
        found, printed, error = read(data, pieces)
        assert (found, printed, error) == read(data, [max(1, len(data))])
    assert not CONTROL.search(printed)
    assert not CONTROL.search(error)
    assert "\n" not in error
    assert len(error) < 500
    keys = [(each["event"], each.get("index")) for each in found]
    assert len(keys) == len(set(keys))
    if not data.count(b"\x1e"):
        assert (found, error) == ([], "")
        text = visible(data.decode(errors="replace")).replace("\r", "\\x0d").replace("\n", "")
        assert len(printed.replace("\r", "\\x0d").replace("\n", "")) >= len(text)  # a torn character becomes several marks


@untimed
@given(altered_events())
@example({**TOLD[0], "topology": {"hosts": [], "switches": [], "links": {"a": []}}})
def test_what_is_taken_of_an_event_can_be_used(event):
    """As `slownet.runner.repetition` and those who follow a run use it."""
    found, _, error = read(MARK + json.dumps(event).encode() + b"\n", [1 << 30])
    assert bool(found) is not bool(error)
    for each in found:
        json.dumps(each, allow_nan=False).encode()
        json.dumps(each, ensure_ascii=False).encode()
        going = RunProgress("run", 2)
        told = {"event": "sample", "index": each["index"], **news(each["sample"])} if each["event"] == "sample" else each
        going.take({**told, "lab": 1}, 0.0)
        assert going.progress(1.0) + going.activity(1.0) + going.summary(1.0)
        facts = {key: value for key, value in each.items() if key != "event"}
        topology_figure(gather([], {"experiment": "x", **facts} if each["event"] == "facts" else {"experiment": "x"}))
