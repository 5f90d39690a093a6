"""Attacks through the channel, by an experiment with root in the lab: one line each, and the terminal obeys nothing.

Frames are written to the lab's console line, /dev/tty1, events to the standard output of the process that measures.
"""

import json
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from slownet.lab.host import native

PATIENCE_S = 600
SLOWNET = [sys.executable, "-m", "slownet.cli"]
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]")
MEGABYTE = 2**20

pytestmark = pytest.mark.skipif(not native.lacks(), reason="this machine runs experiments in place, without a lab")

EXPERIMENT = '''
import json
import os
import struct
import sys
import time

from slownet.hypotheses.experiment import experiment
from slownet.topologies import TwoHosts


def say(event):
    os.write(1, b"\\x1eslownet " + (event if isinstance(event, bytes) else json.dumps(event).encode()) + b"\\n")


def send(*frames):
    with open("/dev/tty1", "wb", buffering=0) as line:
        line.write(b"".join(kind + struct.pack("<I", len(data)) + data for kind, data in frames))


@experiment(topology=TwoHosts, vary={"rtt": ["0ms", "10ms"]}, tdf="inf", unit="ms")
def attack(net, rtt):
    """Is the host safe?"""
    if rtt == "10ms":
        ATTACK
    return [1.0, 2.0]
'''


@pytest.fixture
def attacked(tmp_path):
    """attacked(code) runs the code in a lab; returns status, standard error and the run's directory."""

    def attacked(code, command="run", *more):
        source = EXPERIMENT.replace("ATTACK", code.strip().replace("\n", "\n        "))
        (tmp_path / "attack.py").write_text(source)
        words = [*SLOWNET, command, "./attack.py", "--place", "lab", *more]
        words += ["--repeat", "1"] if command == "run" else ["--out", "swept", "--labs", "1"]
        before = {path: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
        with (tmp_path / "out").open("wb") as out, (tmp_path / "err").open("wb") as err:
            process = subprocess.Popen(words, cwd=tmp_path, stdout=out, stderr=err, stdin=subprocess.DEVNULL)
            attacked.peak = peak(process)
        out, err = ((tmp_path / name).read_bytes().decode(errors="replace") for name in ("out", "err"))
        assert "Traceback" not in err, err[-3000:]
        assert not CONTROL.search(out + err), repr(CONTROL.search(out + err))
        assert {path: path.read_bytes() for path in before if path.name not in ("out", "err")} == {
            path: data for path, data in before.items() if path.name not in ("out", "err")
        }
        runs = sorted((tmp_path / "runs").glob("*")) if command == "run" else [tmp_path / "swept"]
        return process.returncode, err, runs[-1]

    return attacked


def peak(process):
    """Wait for a process; return the most memory that it had itself, in bytes."""
    most, end = 0, time.monotonic() + PATIENCE_S
    while process.poll() is None:
        assert time.monotonic() < end or process.kill(), "it hangs"
        try:
            status = Path(f"/proc/{process.pid}/status").read_text()
            most = max(most, *(int(each) for each in re.findall(r"^VmHWM:\s+(\d+) kB", status, re.MULTILINE)), 0)
        except (FileNotFoundError, ProcessLookupError):
            pass
        time.sleep(0.05)
    return most * 1024


FRAMES = {
    "no number taken": '[(b"T", b"abc")]',
    "more taken": '[(b"T", b"3072")]',
    "negative": '[(b"T", b"-5")]',
    "no status": '[(b"X", b"abc")]',
    "stopped": '[(b"X", b"127")]',
    "ready again": '[(b"R", b"")]',
    "ended twice": '[(b"X", b"0"), (b"X", b"0")]',
    "unknown": '[(b"\\x1b", b"[2J")]',
    "of the host": '[(b"J", b"arg=sh")]',
    "long output": '[(b"O", b"x" * 100_000)]',
    "long message": '[(b"M", b"x" * 600)]',
    "full of what": '[(b"F", b"host!!")]',
}


@pytest.mark.parametrize("sent", FRAMES.values(), ids=FRAMES)
def test_a_frame_that_init_does_not_send(attacked, sent):
    status, err, run = attacked(f"send(*{sent})\ntime.sleep(3600)")
    assert status == 2, err
    assert "slownet: the lab broke the protocol of its channel: " in err, err
    assert json.loads((run / "run.json").read_text())["experiment"] == "attack"


def test_a_head_that_announces_4_gb(attacked):
    status, err, _ = attacked('open("/dev/tty1", "wb", buffering=0).write(b"O\\xff\\xff\\xff\\xff")\ntime.sleep(3600)')
    assert status == 2
    assert "announces 4294967295 bytes, more than 4096" in err
    assert attacked.peak < 500 * MEGABYTE


def test_a_message_of_the_lab_is_shown(attacked):
    """On the real clock, where nothing else is sent before the host ends the lab."""
    code = 'send((b"M", b"\\x1b]0;pwned\\x07 all is \\x9bwell\\n\\nslownet: done"))\ntime.sleep(3600)'
    status, err, _ = attacked(code, "run", "--clock", "real")
    assert status == 2
    assert "slownet: \\x1b]0;pwned\\x07 all is \ufffdwell slownet: done: the lab was stopped\n" in err


EVENTS = {
    "no JSON": 'b"{"',
    "deep": 'b"[" * 100_000',
    "digits": 'b\'{"event": "end", "virtual_s": \' + b"9" * 5000 + b"}"',
    "list": "[]",
    "no name": '{"index": 1}',
    "unknown": '{"event": "\\x1b[2J"}',
    "facts of the host": '{"event": "facts", "given": {"share": ["/:rw"]}}',
    "far": '{"event": "sample", "index": 10**6, "status": "failed"}',
    "negative": '{"event": "cell", "index": -1, "cell": {}}',
    "text": '{"event": "end", "virtual_s": "long"}',
    "no log": '{"event": "error", "line": "x"}',
    "not finite": 'b\'{"event": "end", "virtual_s": 1e999}\'',
    "64 MB": 'b\'{"event": "\' + b"x" * (64 << 20)',
}


@pytest.mark.parametrize("said", EVENTS.values(), ids=EVENTS)
def test_an_event_that_is_none(attacked, said):
    status, err, _ = attacked(f"say({said})\ntime.sleep(3600)")
    assert status == 2, err
    assert "slownet: the lab sent an invalid event: " in err
    assert len(err) < 2000
    assert attacked.peak < 700 * MEGABYTE


def test_an_event_that_is_none_in_a_sweep(attacked):
    status, err, _ = attacked('say({"event": "sample", "index": "x"})\ntime.sleep(3600)', "sweep")
    assert status != 0
    assert "the lab sent an invalid event" in err


def test_an_error_with_escape_codes(attacked):
    said = {"event": "error", "line": "\x1b[2J\x07failed", "log": "\x1b]52;c;aGk=\x07\n\u202egol"}
    status, err, _ = attacked(f"say({said!r})\nos._exit(2)")
    assert status == 2
    assert "slownet: \\x1b[2J\\x07failed" in err
    assert "    \\x1b]52;c;aGk=\\x07\n    \\u202egol" in err


def test_what_an_experiment_prints_is_shown(attacked):
    _, err, _ = attacked('print("\\x1b[31mred\\x1b]0;title\\x07")\nprint("last", end="")')
    assert "\\x1b[31mred\\x1b]0;title\\x07\n" in err


def test_megabytes_without_a_newline_take_time_in_proportion(attacked):
    took = {}
    for megabytes in (10, 20):
        began = time.monotonic()
        _, err, _ = attacked(f"for _ in range({megabytes}):\n    os.write(1, b'x' * (1 << 20))")
        took[megabytes] = time.monotonic() - began
        assert err.count("x") >= megabytes * MEGABYTE
        assert attacked.peak < 500 * MEGABYTE
    assert took[20] < 3 * took[10], took


def test_200_mb_of_standard_error(attacked):
    status, err, run = attacked("for _ in range(200):\n    os.write(2, b'complaint\\n' * 104858)\nos._exit(3)")
    assert status == 2
    assert "complaint, see " in err
    kept = (run / "stderr.txt").read_bytes()
    assert len(kept) < 3 * MEGABYTE
    assert re.search(rb"\n\.\.\. 19\d MB more \.\.\.\n", kept)
    assert attacked.peak < 300 * MEGABYTE
