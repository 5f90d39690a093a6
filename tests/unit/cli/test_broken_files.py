"""Whatever a file holds, or is, that a command reads: status 2 and one line, no traceback, and no waiting."""

import os
import re
import shutil
import signal
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from slownet.cli import app as cli
from slownet.judge.records.samples import SampleLog, write_run_json
from slownet.lab.run import place
from slownet.lab.run.clock import Clock
from slownet.model import userfile
from slownet.model.errors import SlownetError

EXERCISE = Path(__file__).parents[3] / "examples/exercises/01_one_way_and_back.toml"
PATIENCE_S = 20
CELLS = [{"rtt": "0ms"}, {"rtt": "10ms"}]
SAMPLE = {
    "experiment": "client_delay", "condition": {}, "status": "ok", "metrics": {"ms": {"mean": 1.0, "sd": 0.1, "n": 9}},
    "raw": [], "captures": [], "facts": {}, "unverified": [], "boot": 1, "block": 1,
}  # fmt: skip
FACTS = {
    "slownet": "0.1", "source": "client_delay", "experiment": "client_delay", "place": "native", "clock": "real", "tdf": None,
    "planned": CELLS, "kernel": "7", "image": "Debian", "argv": ["slownet", "run"],
}  # fmt: skip
TOML = b'[sweep]\nexperiment = "client_delay"\nvary = {rtt = "0:10:5ms"}\n'
COMPOSE = b"name: shop\nservices:\n  web:\n    image: web:1\n    env_file: web.env\n"


def a_run(folder):
    """Make a run of two cells, as a killed one leaves it."""
    folder.mkdir()
    with SampleLog(folder) as log:
        for index, cell in enumerate(CELLS):
            log.append({**SAMPLE, "cell": cell, "index": index})
        write_run_json(folder, {**FACTS, "samples": log.seal})


@dataclass
class Case:
    """A command's words, which file of the working directory it reads, and what a good one has."""

    words: str
    file: str
    good: bytes | None = None
    fine: frozenset[str] = field(default_factory=frozenset)
    """Kinds that are no mistake, or a smaller one: an empty list of settings, samples that are left out."""


NOTHING = frozenset({"empty", "zeros"})
LEFT_OUT = frozenset({"empty", "missing", "dangling"}) | {
    *("truncated", "binary", "zeros", "deep", "digits", "infinite", "list", "text", "number", "null", "wrong types"),
}
"""Of samples, as long as run.json is good: what is damaged is said, and the rest used."""
WITHOUT = frozenset({"missing", "dangling", "infinite"})
"""Of run.json, as long as the samples are good: either is enough, and a record of another program's is none of ours."""
VARIABLES = frozenset({"empty", "zeros", "truncated", "deep", "digits", "list", "text", "number", "null"})
"""Texts that a file of variables may have, in which a name alone is one."""
REFUSED = frozenset({"binary", "infinite", "wrong types", "folder", "FIFO", "endless", "dangling", "circle", "missing"})
"""What `slownet shell compose --check` lists on standard output, with status 1."""
CASES = {
    "run experiment": Case("run ./broken.py", "broken.py"),
    "run resume": Case("run --resume run", "run/run.json"),
    "run resume samples": Case("run --resume run", "run/samples.jsonl", fine=LEFT_OUT),
    "run compose": Case("run broken.yaml --tool ping", "broken.yaml", COMPOSE),
    "sweep file": Case("sweep broken.toml --out swept", "broken.toml", TOML),
    "sweep resume": Case("sweep --out swept --resume", "swept/sweep.json", b'{"schema": 1, "experiment": "client_delay"}'),
    "show": Case("show run", "run/run.json", fine=WITHOUT),
    "show samples": Case("show run", "run/samples.jsonl", fine=LEFT_OUT),
    "show sweep": Case("show swept", "swept/sweep.json", b'{"schema": 1}'),
    "report": Case("show run --out page", "run/run.json", fine=WITHOUT),
    "report samples": Case("show run --out page", "run/samples.jsonl", fine=LEFT_OUT),
    "predict": Case("show run --at rtt=10ms,t0=5ms", "run/run.json", fine=WITHOUT),
    "compare": Case("compare run other", "other/run.json", fine=WITHOUT),
    "compare field": Case("compare run field.json", "field.json", b'{"url": "http://web/", "requests": 9}'),
    "baseline save": Case("compare save run out.json", "run/run.json", fine=WITHOUT),
    "baseline check": Case("compare run broken.json", "broken.json", b'{"cells": [], "schema": 1}'),
    "check": Case("check broken.toml", "broken.toml", EXERCISE.read_bytes()),
    "check answers": Case("check good.toml --answers broken.toml", "broken.toml", b"[congestion]\nx = 1\n", NOTHING),
    "mark": Case("check mark broken.toml --key key.toml", "broken.toml", b'student = "Ada"\n'),
    "mark key": Case("check mark answers.toml --key broken.toml", "broken.toml", b"[one]\nx = {right = 1}\n"),
    "trace": Case("field trace broken.txt", "broken.txt", b"1\n2\n3\n", frozenset({"truncated", "number"})),
    "compose": Case("shell compose broken.yaml --check", "broken.yaml", COMPOSE, frozenset({"truncated"})),
    "compose include": Case("shell compose outer.yaml --check", "broken.yaml", COMPOSE, frozenset({"truncated"})),
    "compose env file": Case("shell compose good.yaml --check", "web.env", b"A=1\n", VARIABLES | REFUSED),
    "compose .env": Case("shell compose good.yaml --check", ".env", b"A=1\n", VARIABLES | REFUSED),
    "shell": Case("shell broken.py", "broken.py"),
    "lab import": Case("lab import broken.tar", "broken.tar"),
    "image add": Case("lab image add ./broken.tar", "broken.tar"),
    "project": Case("check good.toml", "slownet.toml", b'packages = ["jq"]\n', frozenset({"empty", "missing", "dangling"})),
}  # fmt: skip


def deep(path):
    return {".toml": b"x = " + b"[" * 1000, ".yaml": b"[" * 20_000, ".py": b"(" * 5000}.get(path.suffix, b"[" * 100_000)


KINDS = {
    "empty": lambda path, good: path.write_bytes(b""),
    "binary": lambda path, good: path.write_bytes(bytes(range(256)) * 40),
    "zeros": lambda path, good: path.write_bytes(bytes(4096)),
    "truncated": lambda path, good: path.write_bytes((good or b'{"planned": [')[: len(good or b"x" * 13) * 2 // 3]),
    "deep": lambda path, good: path.write_bytes(deep(path)),
    "digits": lambda path, good: path.write_bytes((b"x = " if path.suffix == ".toml" else b"") + b"9" * 5000),
    "infinite": lambda path, good: path.write_bytes(
        b'x = inf\n' if path.suffix == ".toml" else b'{"schema": 1e999, "cell": {}, "index": 1e999, "planned": -1e999}\n'
    ),
    "list": lambda path, good: path.write_bytes(b"[]\n"),
    "text": lambda path, good: path.write_bytes(b'"text"\n'),
    "number": lambda path, good: path.write_bytes(b"3\n"),
    "null": lambda path, good: path.write_bytes(b"null\n"),
    "wrong types": lambda path, good: path.write_bytes(
        b'x = 1\nsweep = 3\npackages = 7\nquestion = []\nprediction = 4\n'
        if path.suffix == ".toml"
        else b'{"planned": 3, "source": [], "place": {}, "clock": 1, "cell": 3, "index": {}, "schema": []}\n'
    ),
    "folder": lambda path, good: path.mkdir(),
    "FIFO": lambda path, good: os.mkfifo(path),
    "endless": lambda path, good: path.symlink_to("/dev/zero"),
    "dangling": lambda path, good: path.symlink_to("nothing-there"),
    "circle": lambda path, good: path.symlink_to(path.name),
    "missing": lambda path, good: None,
    "unreadable": lambda path, good: (path.write_bytes(good or b"x"), path.chmod(0)),
}  # fmt: skip


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working directory with good files beside the broken one."""
    for name in ("run", "other"):
        a_run(tmp_path / name)
    (tmp_path / "swept").mkdir()
    shutil.copy(EXERCISE, tmp_path / "good.toml")
    (tmp_path / "good.yaml").write_bytes(COMPOSE)
    (tmp_path / "web.env").write_text("A=1\n")
    (tmp_path / "outer.yaml").write_text("include: [broken.yaml]\n")
    (tmp_path / "answers.toml").write_text('student = "Ada"\n')
    (tmp_path / "key.toml").write_text("[one]\nx = {right = 1}\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(userfile, "WRITER_S", 0.05)
    of_project = place.here

    def choose(*words, **more):
        of_project()
        return place.Place(Clock("real"), {"kernel": "7", "image": "Debian", "place": "native", "versions": {}})

    def run(self, *words, **more):
        raise SlownetError("it would run")

    monkeypatch.setattr(place, "choose", choose)
    monkeypatch.setattr("slownet.runner.run_request.choose", choose)
    monkeypatch.setattr(place.Place, "run", run)
    return tmp_path


def ended(words, capfd):
    """The status and what a command printed, which must not take long."""

    def late(number, frame):
        raise AssertionError(f"{words} hangs")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(PATIENCE_S)
    try:
        with pytest.raises(SystemExit) as caught:
            cli.main(words)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    out, err = capfd.readouterr()
    return caught.value.code, out, err


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", CASES)
def test_a_broken_file_is_one_line(folder, capfd, name, kind):
    if kind == "unreadable" and os.geteuid() == 0:
        pytest.skip("root reads it")
    case = CASES[name]
    file = folder / case.file
    good = case.good or (file.read_bytes() if file.is_file() else b"PK" * 500)
    file.unlink(missing_ok=True)
    KINDS[kind](file, good)
    status, out, err = ended(case.words.split(), capfd)
    assert status in ((0, 1, 2, 3) if kind in case.fine else (2,)), (status, out, err)
    assert "Traceback" not in out + err
    assert not re.search("slownet: no (command|option)|see slownet .*--help", err), err  # the file was not read
    if kind not in case.fine:
        assert len(err.splitlines()) == 1, err
        assert err.startswith("slownet: "), err
    assert len(err) < 1000, err
