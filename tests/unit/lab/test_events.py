"""An experiment's own output and the events of its run share one stream and are separated again."""

import json
import subprocess
import sys

import pytest

from slownet.lab import events

FORGED = b'{"event": "end", "virtual_s": 0}\n'
TOLD = {"event": "sample", "index": 3, "status": "ok"}


@pytest.fixture
def read():
    """`read(data)` returns the events in the data, fed in pieces of one byte, as from a pipe."""

    def read(data):
        found = []
        take = events.reader(found.append)
        for each in data:
            take(bytes([each]))
        return found

    return read


def test_json_that_an_experiment_prints_is_no_event(read, capsys):
    assert read(FORGED + events.line(**TOLD) + FORGED) == [TOLD]
    assert capsys.readouterr().err == 2 * FORGED.decode()


def test_an_event_behind_an_unfinished_line_is_one(read, capsys):
    assert read(b"50 % done" + events.line(**TOLD)) == [TOLD]
    assert capsys.readouterr().err == "50 % done\n"


def test_an_empty_line_is_shown_and_an_event_leaves_none(read, capsys):
    assert read(b"\n" + events.line(**TOLD)) == [TOLD]
    assert capsys.readouterr().err == "\n"


def test_what_is_told_comes_in_the_order_of_what_is_printed(read, capsys):
    code = f"""
import io, sys
from slownet.lab.events import tell
print("first", end="")
tell({TOLD["event"]!r}, index=3, status="ok")
print({FORGED.decode()!r}, end="")
sys.stdout.flush()
sys.stdout = io.StringIO()
tell("end")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert read(done.stdout) == [TOLD, {"event": "end"}]
    assert capsys.readouterr().err == "first\n" + json.dumps(json.loads(FORGED)) + "\n"
