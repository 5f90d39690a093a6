"""What a lab or somebody else's run says cannot control the terminal, whichever command prints it."""

import ast
import copy
import io
import json
import re
from pathlib import Path

import pytest
from rich.console import Console
from rich.table import Table
from rich.text import Text

import slownet
from slownet.api import presented
from slownet.cli.app import main
from slownet.model.control_characters import VisibleStream
from slownet.report.progress import Terminal
from slownet.report.screen import Screen

EVIL = "\x1b]0;pwned\x07\x1b[2J\x9b31m\x08\rslownet: all is well\u202e[/red][bold][link=http://evil]:skull:"
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
LIB = Path(slownet.__file__).parent

METRIC = "time_per_request_ms"
SAMPLES = [
    {
        "experiment": "shop", "cell": {"rtt": rtt, "loss": "1 %"}, "condition": {"rtt_ms": float(rtt[:-2])}, "index": index,
        "tool": "ab", "status": "ok" if index < 3 else "failed", "error": None if index < 3 else "no answer",
        "metrics": {METRIC: {"mean": mean, "sd": 0.1, "n": 100}} if index < 3 else {}, "boot": 1, "block": 1, "lab": 1,
        "unverified": ["client-switch: no ping"], "raw": ["raw/ab.txt"], "links": {"client-switch": "rtt 10 ms"},
        "counters": {"client-switch": {"up": {"dropped": 1}, "down": {"dropped": 0}}}, "facts": {"server": "nginx"},
    }
    for index, (rtt, mean) in enumerate({"0ms": 10.0, "10ms": 50.0, "40ms": 170.0, "80ms": 0.0}.items())
]  # fmt: skip
FACTS = {
    "experiment": "shop", "question": "How slow?", "clock": "virtual", "tdf": "inf", "cpu": "time", "kernel": "7.3.4",
    "image": "Debian 13", "place": "lab", "confined": "yes", "operation": "page", "source": "shop", "slownet": "0.1.0",
    "versions": {"nginx": "1"}, "git": {"revision": "230112a", "changed": True}, "started": "2026-11-25T04:27:40+00:00",
    "published": {"metric": METRIC, "title": "An article", "rows": [{"rtt_ms": 0.0, METRIC: 12.3}]}, "repeats": "similar",
    "settings": {"net.ipv4.tcp_congestion_control": "cubic"}, "service": {"page_length": 51686, "server": "nginx"},
    "topology": {"hosts": ["client", "web"], "switches": ["switch"], "links": {"client-switch": ["client", "switch"]}},
    "sampling": {"repeat": 1, "why": "1 repetition", "last_line": "too few for a verdict"}, "openvswitch": "3.5.0",
    "contradicted": {"service.server": ["nginx", "apache"]}, "argv": ["slownet", "run", "shop"],
    "claims": [
        {"name": "at most 60 ms", "verdict": "refuted", "measured": 170.0, "expected": 60.0, "low": 169.0, "high": 171.0,
         "text": "170 ms at rtt 40ms"},
    ],
}  # fmt: skip


def saved(directory, facts=FACTS, samples=SAMPLES):
    """A run as somebody else's program may have written it."""
    directory.mkdir(parents=True)
    (directory / "samples.jsonl").write_text("".join(json.dumps(each) + "\n" for each in samples))
    (directory / "run.json").write_text(json.dumps(facts))
    return directory


def evil(value):
    """The value with every text and every name, but those of the format, made evil."""
    if isinstance(value, dict):
        return {key: evil(each) for key, each in value.items()}
    if isinstance(value, list):
        return [evil(each) for each in value]
    return f"{value}{EVIL}" if isinstance(value, str) else value


def leaves(value, path=()):
    """The paths of all texts in a value."""
    if isinstance(value, (dict, list)):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from leaves(value[key], (*path, key))
    elif isinstance(value, str):
        yield path


def with_evil(value, path):
    """The value with one text made evil."""
    changed = copy.deepcopy(value)
    inner = changed
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] += EVIL
    return changed


@pytest.fixture
def printed(capfd, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")

    def printed(*words):
        try:
            main([str(each) for each in words])
            status = 0
        except SystemExit as ended:
            status = ended.code or 0
        out, err = capfd.readouterr()
        assert not CONTROL.search(out + err), (words, CONTROL.search(out + err), out + err)
        return status, out, err

    return printed


def test_every_text_of_a_run(printed, tmp_path):
    """One text at a time, so that one that stops the command hides no other."""
    statuses, shown = set(), 0
    everything = {"facts": FACTS, "samples": SAMPLES[::3]}
    for number, path in enumerate(leaves(everything)):
        changed = with_evil(everything, path)
        run = saved(tmp_path / str(number), changed["facts"], changed["samples"])
        status, out, err = printed("show", run)
        statuses.add(status)
        shown += "\\x1b]0;pwned" in out + err
    assert statuses == {0, 2}
    assert shown > 8, "the attack did not reach the terminal's side"


def test_a_run_of_nothing_else(printed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = saved(tmp_path / f"run {EVIL.replace('/', '')}", evil(FACTS), evil(SAMPLES))
    for words in (
        ("show", run), ("show", run, "--json"), ("show", run, "--out", "page"), ("show", run, "--out", f"svg={tmp_path}/svg"),
        ("compare", run, run), ("compare", run, saved(tmp_path / "good")), ("show", run, "--at", "rtt=40ms,t0=10ms"),
        ("check", "mark", run / "run.json", "--key", run / "run.json"), ("field", "trace", run / "run.json"),
        ("run", EVIL.replace("/", "")), ("run", "--resume", run), ("check", run / "run.json"),
        ("sweep", "--out", run, "--resume"),
        ("lab", "image", "add", EVIL), ("lab", "import", run / "run.json"), (EVIL,), ("show", f"--{EVIL}"), ("help", EVIL),
        ("shell", "compose", run / "run.json"), ("shell", EVIL), ("reproduce", EVIL),
    ):  # fmt: skip
        printed(*words)


def test_square_brackets_are_text():
    file = io.StringIO()
    screen = Screen(file=file, width=80)
    table = Table()
    table.add_column("[bold]a")
    table.add_row("[/red]")
    screen.print(table)
    screen.print("[link=http://evil]x[/link] :skull:")
    assert "[bold]a" in file.getvalue()
    assert "[/red]" in file.getvalue()
    assert "[link=http://evil]x[/link] :skull:" in file.getvalue()


def test_a_screen_sends_its_own_styles_and_no_other_codes():
    file = io.StringIO()
    screen = Screen(file=VisibleStream(file), force_terminal=True, color_system="standard", width=80)
    screen.print(Text("red\x1b[31m\x1b]52;c;aGk=\x1b\\", style="bold red"))
    assert file.getvalue() == "\x1b[1;31mred\\x1b[31m\\x1b]52;c;aGk=\\x1b\\\x1b[0m\n"


def test_what_is_printed_during_progress_is_shown(monkeypatch):
    """Rich reads styles of such text, and would send them again."""
    raw = io.StringIO()
    raw.isatty = lambda: True
    monkeypatch.setattr("sys.stderr", VisibleStream(raw))
    monkeypatch.setattr("sys.stdout", VisibleStream(io.StringIO()))
    monkeypatch.setenv("TERM", "xterm")
    shown = Terminal({}, Screen(stderr=True, force_terminal=True, color_system="standard", width=80))
    shown.begin()
    print("\x1b[35mlab\x1b]0;title\x07", file=__import__("sys").stderr)
    shown.complain("slownet: x\x1b[36m")
    shown.end()
    sent = raw.getvalue()
    assert "\\x1b[35mlab\\x1b]0;title\\x07" in sent
    assert "slownet: x\\x1b[36m" in sent
    assert "\x1b[35m" not in sent
    assert "\x1b[36m" not in sent
    assert "\x1b]" not in sent
    assert "\x1b[?25l" in sent  # Rich hides the cursor: its own codes pass


def test_runs_in_python_are_shown_without_control_characters(tmp_path, capsys):
    run = presented.Run.of(slownet.load(saved(tmp_path / "run", {**FACTS, "question": EVIL, "experiment": EVIL})))
    print(run)
    print(repr(run))
    Console(width=200).print(run)
    out = capsys.readouterr().out
    assert "\\x1b]0;pwned" in out
    assert not CONTROL.search(out)


RAW = {
    ("lab/run/foreground.py", "os.write"): "the output of a user's own command in a lab",
    ("live/inside.py", "os.write"): "messages of a program in a lab to its host",
    ("live/line.py", "os.write"): "orders to a lab, to its standard input",
    ("live/shells.py", "os.write"): "what a page types, to the terminal of a shell in the lab",
    ("lab/run/events.py", "os.write"): "a program in a place to its host",
    ("tools/browser/devtools.py", "os.write"): "commands to a browser, to a pipe that it reads",
    ("lab/run/changed_shares.py", "os.write"): "a file that an exact lab changed",
    ("lab/run/pytest_inside.py", "os.write"): "events of pytest in a lab to its host",
    ("pytest_plugin/xdist_workers.py", "os.write"): "a pipe between two processes of pytest",
}
"""Where something is written past the guard, and why that is no way to the terminal for a lab."""


def past_the_guard(tree):
    """The names of functions that write to a terminal other than by `sys.stdout`, `sys.stderr` or a Screen."""
    raw = ("os.write", "sys.__stdout__", "sys.__stderr__", "sys.stdout.buffer", "sys.stderr.buffer", "rich.print")
    ends = {name.rpartition(".")[2] for name in raw}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and {getattr(node.func, "attr", ""), getattr(node.func, "id", "")} & {
            "Console",
            "Progress",
        }:
            yield ast.unparse(node.func)
        if isinstance(node, ast.ImportFrom) and node.module == "rich":
            yield from (f"rich.{each.name}" for each in node.names)
        if isinstance(node, ast.Attribute) and node.attr in ends and ast.unparse(node) in raw:
            yield ast.unparse(node)


def test_nothing_is_written_past_the_guard():
    found = set()
    for path in LIB.rglob("*.py"):
        found |= {(str(path.relative_to(LIB)), name) for name in past_the_guard(ast.parse(path.read_text()))}
    assert found == set(RAW)
