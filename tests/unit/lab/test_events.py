"""An experiment's own output and the events of its run share one stream and are separated again."""

import json
import os
import subprocess
import sys
import tracemalloc

import pytest

from slownet.lab.run import events
from slownet.lab.run.events import EVENT_BYTES, LINE_BYTES, MARK, EventError, Reader
from slownet.model.errors import LabError
from slownet.runner.booting import grammar

PRINTED = b'{"event": "end", "virtual_s": 0}\n'
MEASURED = {"cell": {"rtt": "10ms"}, "index": 3, "status": "ok", "error": None, "virtual_s": 0.5, "metrics": {}}
TOLD = {"event": "sample", "index": 3, "sample": MEASURED}
END = {"event": "end", "virtual_s": 1.5}
FACTS = {
    "event": "facts", "settings": {"a": "1"}, "openvswitch": "3.5", "service": {"page_bytes": 1},
    "topology": {"hosts": ["a"], "switches": [], "links": {"a-b": ["a", "b"]}},
}  # fmt: skip
CELL = {"event": "cell", "index": 3, "cell": {"rtt": "10ms"}}


def told_with(index=3, **changed):
    """An event of a sample with other values."""
    return {**TOLD, "index": index, "sample": {**MEASURED, **changed}}


def parted(data, size=1):
    """The events in the data, fed in pieces of that size, as from a pipe."""
    found = []
    with Reader(found.append, grammar([3, 4])) as take:
        for at in range(0, len(data), size):
            take(data[at : at + size])
    return found


def test_json_that_an_experiment_prints_is_no_event(capsys):
    assert parted(PRINTED + events.line(**TOLD) + PRINTED) == [TOLD]
    assert capsys.readouterr().err == 2 * PRINTED.decode()


def test_an_event_behind_an_unfinished_line_is_one(capsys):
    assert parted(b"50 % done" + events.line(**TOLD)) == [TOLD]
    assert capsys.readouterr().err == "50 % done\n"


def test_an_empty_line_is_shown_and_an_event_leaves_none(capsys):
    assert parted(b"\n" + events.line(**TOLD)) == [TOLD]
    assert capsys.readouterr().err == "\n"


def test_what_is_told_comes_in_the_order_of_what_is_printed(capsys):
    code = f"""
import io, sys
from slownet.lab.run.events import tell
print("first", end="")
tell(**{TOLD!r})
print({PRINTED.decode()!r}, end="")
sys.stdout.flush()
sys.stdout = io.StringIO()
tell("end", virtual_s=1.5)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert parted(done.stdout) == [TOLD, END]
    assert capsys.readouterr().err == "first\n" + json.dumps(json.loads(PRINTED)) + "\n"


def test_what_is_printed_last_without_the_end_of_a_line_is_shown(capsys):
    assert parted(events.line(**TOLD) + b"no newline") == [TOLD]
    assert capsys.readouterr().err == "no newline\n"
    assert parted(b"cut" + events.line(**TOLD)[:-1]) == []
    assert capsys.readouterr().err == "cut\n"


def test_every_event_of_a_boot_is_taken():
    told = [FACTS, CELL, TOLD, {**CELL, "index": 4}, told_with(4, status="failed", error="no"), END]
    data = b"".join(events.line(**each) for each in told)
    assert parted(data) == parted(data, 4096) == told
    failed = {"event": "error", "line": "no nginx", "log": ""}
    assert parted(events.line(**failed)) == [failed]


def test_control_characters_of_what_is_printed_are_shown(capsys):
    assert parted(b"\x1b]52;c;aGk=\x07 \x9b2J a\rb\r\n\tc\xe2\x80\xae\n") == []
    assert capsys.readouterr().err == "\\x1b]52;c;aGk=\\x07 \ufffd2J a\\x0db\r\n\tc\\u202e\n"


@pytest.mark.parametrize("size", [LINE_BYTES // 3, 4096, 10**9])
@pytest.mark.parametrize("length", [0, 1, 8, 9, 10, LINE_BYTES - 1, LINE_BYTES, LINE_BYTES + 1, LINE_BYTES + 9, 2 * LINE_BYTES])
@pytest.mark.parametrize("end", [b"\n", b"", events.line(**TOLD)])
def test_a_long_line_is_passed_on_in_pieces_and_an_event_behind_it_is_one(capsys, length, size, end):
    printed = ("\u00e4" * length).encode()[: length + length % 2]  # characters of two bytes
    assert parted(b"!" * (length > 9) + printed + end, size) == ([TOLD] if len(end) > 1 else [])
    lines = capsys.readouterr().err.splitlines()
    assert "".join(lines) == "!" * (length > 9) + printed.decode()
    assert all(len(line.encode()) <= LINE_BYTES for line in lines)


def test_the_marker_in_two_pieces_behind_a_long_line(capsys):
    told = events.line(**TOLD)
    for cut in range(len(MARK) + 1):
        found = []
        with Reader(found.append, grammar([3])) as take:
            take(b"x" * (LINE_BYTES - 3))
            take(b"y" * 3 + told[:cut])
            take(told[cut:])
        assert found == [TOLD]
        assert capsys.readouterr().err.replace("\n", "") == "x" * (LINE_BYTES - 3) + "yyy"


@pytest.fixture
def silent(monkeypatch):
    """Nothing is kept of what is printed."""
    with open(os.devnull, "w") as nothing:
        monkeypatch.setattr("sys.stderr", nothing)
        yield


@pytest.mark.usefixtures("silent")
def test_memory_is_bounded_by_one_line():
    tracemalloc.start()
    with Reader(lambda event: None, {}) as take:
        for _ in range(5000):  # 20 MB
            take(b"x" * 4096)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20 * LINE_BYTES


@pytest.mark.usefixtures("silent")
def test_time_is_linear():
    """Bytes that are searched for ends of lines and markers and copied, per byte of output, whatever its length."""

    class Counting(bytearray):
        work = 0

        def find(self, text, start=0):
            Counting.work += len(self) - start
            return super().find(text, start)

    works = []
    for pieces in (1000, 2000, 4000):
        Counting.work = 0
        with Reader(lambda event: None, {}) as take:
            take._pending = Counting()
            for _ in range(pieces):
                take(b"x" * 4096)
        works.append(Counting.work / pieces)
    assert max(works) < 1.1 * min(works)


def mark(text):
    return MARK + (text if isinstance(text, bytes) else json.dumps(text).encode()) + b"\n"


def without(event, name):
    return {key: value for key, value in event.items() if key != name}


SAMPLE = "'sample'"
HOSTILE = {
    "nothing": (b"", "no JSON"),
    "no JSON": (b"{", "no JSON"),
    "no UTF-8": (b'{"event": "end\xff"}', "no JSON"),
    "UTF-16": ('{"event": "end"}'.encode("utf-16"), "no JSON"),
    "deep": (b"[" * 100_000, "no JSON"),
    "deep object": (b'{"event":' * 50_000, "no JSON"),
    "digits": (b'{"event": "end", "virtual_s": ' + b"1" * 5000 + b"}", "no JSON"),
    "NaN": (b'{"event": "end", "virtual_s": NaN}', "no JSON"),
    "infinite": (b'{"event": "end", "virtual_s": 1e999}', "'end'.virtual_s is inf, not a number from 0 on"),
    "huge": (b'{"event": "end", "virtual_s": 1' + b"0" * 4000 + b"}", "a number of more than 300 digits, not a number"),
    "list": ([], "no object with the name of an event"),
    "text": ("end", "no object with the name of an event"),
    "null": (None, "no object with the name of an event"),
    "no name": ({"virtual_s": 1}, "no object with the name of an event"),
    "name no text": ({"event": ["end"]}, "no object with the name of an event"),
    "unknown": ({"event": "pwn\x1b[2J"}, "its name 'pwn\\x1b[2J' is unknown"),
    "of the host": ({"event": "planned", "cells": 10**9}, "its name 'planned' is unknown"),
    "long name": ({"event": "x" * 10**6}, f"its name '{'x' * 40}' is unknown"),
    "no index": (without(TOLD, "index"), f"{SAMPLE} has no 'index'"),
    "further": ({**TOLD, "lab": 7}, f"{SAMPLE} has 'lab', which is unknown"),
    "far": ({**TOLD, "index": 5}, f"{SAMPLE}.index is 5, not a place in the plan of this boot"),
    "negative": ({**TOLD, "index": -1}, f"{SAMPLE}.index is -1, not a place in the plan of this boot"),
    "true index": ({**TOLD, "index": True}, f"{SAMPLE}.index is True, not a place in the plan of this boot"),
    "float index": ({**TOLD, "index": 3.0}, f"{SAMPLE}.index is 3.0, not a place in the plan of this boot"),
    "list index": ({**TOLD, "index": [3]}, f"{SAMPLE}.index is a list, not a place in the plan of this boot"),
    "status": (told_with(status="supported"), f"{SAMPLE}.sample.status is 'supported', not 'ok' or 'failed'"),
    "error": (told_with(error={"a": 1}), f"{SAMPLE}.sample.error is an object, not a text of at most 1048576 characters"),
    "half": (told_with(error="\ud800"), f"{SAMPLE}.sample.error is '\\ud800', not a text of Unicode characters"),
    "metric": (told_with(metrics={"a": 1}), f"{SAMPLE}.sample.metrics.a is 1, not an object"),
    "mean": (told_with(metrics={"a": {"mean": "1", "sd": 0, "n": 1}}), f"{SAMPLE}.sample.metrics.a.mean is '1', not a number"),
    "facts": ({**FACTS, "given": {"share": ["/:rw"]}}, "'facts' has 'given', which is unknown"),
    "topology": ({**FACTS, "topology": {"hosts": 1}}, "'facts'.topology has no 'switches'"),
    "depth": ({**FACTS, "service": {"a": json.loads("[" * 30 + "]" * 30)}}, "a is a list, not a value of at most 20 levels"),
    "cell": ({**CELL, "cell": {"rtt": 10}}, "'cell'.cell.rtt is 10, not a text of at most 1048576 characters"),
    "log": ({"event": "error", "line": "x", "log": None}, "'error'.log is None, not a text of at most 1048576 characters"),
    "many": (b'{"event": "end", "x": [' + b"0," * 4_000_001 + b"0]}", "more than 32 MB or 4000000 values"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "what"), HOSTILE.values(), ids=HOSTILE)
def test_a_forged_event_is_one_line(text, what):
    with pytest.raises(EventError) as error:
        parted(mark(text), 1 << 16)
    line = str(error.value)
    assert line.startswith("the lab sent an invalid event: ")
    assert what in line
    assert len(line) < 400
    assert line.isprintable()


def test_an_event_that_never_ends_is_one_line_and_bounded():
    def endless():
        with Reader(lambda event: None, {}) as take:
            take(MARK + b'{"a": "')
            for _ in range(EVENT_BYTES // 65536 + 2):
                take(b"x" * 65536)
                assert len(take._pending) <= EVENT_BYTES + 65536 + len(MARK)

    with pytest.raises(EventError, match="the lab sent an invalid event: more than 32 MB or 4000000 values: "):
        endless()


@pytest.mark.parametrize(
    ("told", "what"),
    [
        ([TOLD, TOLD], "a second 'sample' of 3"),
        ([END, TOLD], "'sample' after 'end'"),
        ([END, END], "'end' after 'end'"),
        ([FACTS, FACTS], "a second 'facts'"),
        ([{"event": "error", "line": "a", "log": ""}, END], "'end' after 'error'"),
    ],
)
def test_each_event_comes_once(told, what):
    with pytest.raises(EventError, match=f"the lab sent an invalid event: {what}: "):
        parted(b"".join(events.line(**each) for each in told))


def test_a_measurement_too_large_for_an_event_is_an_error_where_it_is_made():
    fine = events.line("sample", values=[0.123456789] * 1_000_000)
    assert len(fine) < EVENT_BYTES
    with pytest.raises(LabError, match=r"^37 MB, 3000002 values, are too much for one measurement: at most 32 MB and"):
        events.line("sample", values=[0.123456789] * 3_000_000)
