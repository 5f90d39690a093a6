"""Whatever a text or a table holds, a reader returns something or raises an error of slownet's."""

import contextlib
import json
import tempfile
import tomllib
from pathlib import Path

import pytest
from fuzzing import altered, as_toml, damaged, only, scalars, values
from hypothesis import given
from hypothesis import strategies as st

from slownet.comparison import baseline, record
from slownet.compose import reader
from slownet.compose.variables import read as read_dotenv
from slownet.hypotheses import answers, composed, specs
from slownet.hypotheses import file as hypotheses
from slownet.judge.records import sweep_samples
from slownet.lab.build import project
from slownet.links.conditions.link import WORDS, Condition
from slownet.links.conditions.schedule import Schedule
from slownet.links.traces import mahimahi, pinglog, trace_summary
from slownet.model import units, userfile
from slownet.model.errors import ComposeError, ConditionError, ExperimentError, LabError, SweepError, TraceError, UnitError
from slownet.sweep import spec

CHECKOUT = Path(__file__).parents[2]
FOLDER = Path(tempfile.mkdtemp(prefix="fuzz-of-slownet-"))
"""Of this process: one file in it is written anew for each example."""


@pytest.fixture(scope="module", autouse=True)
def folder():
    yield
    for path in FOLDER.iterdir():
        path.unlink()
    FOLDER.rmdir()


def written(name, data):
    path = FOLDER / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode("utf-8", "surrogatepass"))
    return path


# ---- texts ----

quantities = st.one_of(
    st.text(max_size=12),
    st.builds("{}{}".format, st.one_of(st.integers(), st.floats(), st.text(max_size=4)), st.sampled_from(["ms", "s", "kbit", "Mbit", "%", "kB", "packets", ""])),  # noqa: E501
    st.just("9" * 5000 + "ms"),
    st.just("1e" + "9" * 20 + "ms"),
)  # fmt: skip


@given(quantities)
def test_units(text):
    for read in (units.duration, units.rate, units.size, units.percent):
        with only(UnitError):
            read(text)


@given(st.dictionaries(st.sampled_from([*WORDS, "nonsense"]), st.one_of(quantities, scalars), max_size=4))
def test_conditions(fields):
    with only(ConditionError, UnitError, TraceError, ExperimentError):
        Condition.parse(**fields)


@given(
    st.dictionaries(
        quantities, st.one_of(quantities, st.dictionaries(st.sampled_from([*WORDS]), quantities, max_size=2)), max_size=4
    )
)
def test_schedules(steps):
    with only():
        Schedule.parse(steps)


@given(st.lists(st.one_of(quantities, st.builds("{}={}".format, st.sampled_from([*WORDS]), quantities)), max_size=4))
def test_words_of_the_command_line(words):
    with only():
        specs.condition(words)
    with only():
        specs.words(" ".join(words))


@given(
    st.one_of(
        st.text(max_size=30),
        st.sampled_from(["star,-1", "star,x", "chain,1e9", "star,1,2,3", "tree,=", "star,a=b", "~nosuch.py", "a\0.py:x"]),
    )
)
def test_topologies(text):
    with only():
        specs.topology(text)


# ---- TOML ----

HYPOTHESES = [tomllib.loads(path.read_text()) for path in sorted((CHECKOUT / "examples/exercises").glob("*.toml"))]
RAW = [path.read_bytes() for path in sorted((CHECKOUT / "examples/exercises").glob("*.toml"))]
ANSWERS = [{"student": "Ada", "one": {"round_trips": 2, "time": "100ms"}}]
SWEEPS = [
    {
        "sweep": {
            "experiment": "client_delay", "vary": {"rtt": "0:10:5ms"}, "sample": "lhs:3", "seed": 1, "repeat": 1, "fresh": True,
            "env": ["A=1"], "memory": 500, "place": "lab", "criterion": "x", "refine": "rtt:1ms",
        }
    }
]  # fmt: skip
PROJECTS = [{"packages": ["jq"], "dependencies": ["flask>=3"], "requirements": "requirements.txt", "share": ["data"]}]


def read_hypothesis(path):
    found = hypotheses.read(path)
    found.experiment()


@pytest.mark.parametrize(
    ("read", "samples", "kinds"),
    [
        pytest.param(read_hypothesis, HYPOTHESES, (ExperimentError, ComposeError), id="hypothesis"),
        pytest.param(answers.read, ANSWERS, (ExperimentError,), id="answers"),
        pytest.param(spec.from_file, SWEEPS, (SweepError, ExperimentError), id="sweep"),
        pytest.param(lambda path: project.parse(path, userfile.toml(path.read_text())), PROJECTS, (LabError,), id="project"),
    ],
)
@given(data=st.data())
def test_tables_with_other_types(read, samples, kinds, data):
    text = as_toml(data.draw(altered(samples)))
    try:
        tomllib.loads(text)
    except (ValueError, RecursionError):
        read = answers.read if read in (answers.read, read_hypothesis) else read
        if read is not answers.read and read is not spec.from_file:
            return
    with only(*kinds):
        read(written("x.toml", text))


@pytest.mark.parametrize(
    "read", [read_hypothesis, answers.read, spec.from_file, project.at], ids=["hypothesis", "answers", "sweep", "project"]
)
@given(data=damaged([*RAW, *(as_toml(each).encode() for each in (*ANSWERS, *SWEEPS, *PROJECTS))]))
def test_damaged_toml(read, data):
    with only(ExperimentError, SweepError, LabError, ComposeError):
        read(written("slownet.toml", data))


@given(altered([*SWEEPS]))
def test_specs_of_sweeps(table):
    with only(SweepError):
        spec.Spec.from_json(table.get("sweep") if isinstance(table.get("sweep"), dict) else {})


# ---- compose ----

PROJECT = {
    "name": "shop",
    "x-common": {"environment": {"A": "1"}},
    "services": {
        "web": {
            "image": "shop:1", "command": ["a", "b"], "ports": ["80:80", {"target": 81}], "environment": ["A=1"], "depends_on": {"db": {"condition": "service_healthy"}},  # noqa: E501
            "volumes": ["./a:/a:ro", {"type": "tmpfs", "target": "/t"}], "networks": {"back": {"aliases": ["x"]}},
            "healthcheck": {"test": ["CMD", "x"], "interval": "5s", "retries": 2}, "x-slownet": {"rtt": "10ms"},
        },
        "db": {"image": "db:1", "env_file": ".env", "secrets": ["key"], "expose": [5432], "user": "1:1", "tmpfs": "/tmp", "stop_signal": "SIGINT"},  # noqa: E501
    },
    "networks": {"back": {}},
    "volumes": {"data": None},
    "secrets": {"key": {"environment": "HOME"}},
}  # fmt: skip
COMPOSE_FILES = [path.read_bytes() for path in sorted((CHECKOUT / "tests/unit/compose/data").rglob("*.y*ml"))] + [
    (CHECKOUT / "examples/shop/compose.yaml").read_bytes(),
    b"a: &a [x, x]\nb: &b [*a, *a]\nservices: {web: {<<: *b, image: !!python/object:os.system x}}",
    b"services: {web: {image: a, cpus: !!int many, ports: [!!float x, !!binary aGk=, ! x]}}",
]


def read_project(data):
    reader.read([written("compose.yaml", data)], [], {"HOME": "/x"})


@given(altered([PROJECT]))
def test_projects_with_other_types(tree):
    with only(ComposeError, ConditionError, UnitError):
        read_project(json.dumps(tree, ensure_ascii=False))


@given(damaged(COMPOSE_FILES))
def test_damaged_projects(data):
    with only(ComposeError, ConditionError, UnitError):
        read_project(data)


@given(damaged([b"A=1\nB='x y'\nexport C=\"${A:-2}\\n\" # no\nD: 5\n", b"${A?x}=$A\nB=${A:+${B}}\n"]), st.booleans())
def test_variables(data, raw):
    with only(ComposeError):
        read_dotenv(written(".env", data), {"A": "1"}, raw=raw)


# ---- recordings ----

TRACES = [path.read_bytes() for path in sorted((CHECKOUT / "tests/unit/links/traces/data").iterdir())] + [b"1\n5\n5\n1000\n"]


@given(damaged(TRACES))
def test_traces(data):
    path = written("trace", data)
    with only(TraceError):
        found = trace_summary.load(path)
        found.facts()
    with only(TraceError, ConditionError, UnitError):
        mahimahi.schedule(path)
    with only(TraceError, ConditionError, UnitError):
        log = pinglog.load(path)
        log.schedule()
        log.condition()


# ---- records ----

SAMPLE = {
    "experiment": "x", "cell": {"rtt": "0ms"}, "condition": {"delay_ms": 0}, "index": 0, "tool": "ab", "status": "ok", "error": None,  # noqa: E501
    "verified_rtt_ms": 0.1, "boot": 0, "block": 0, "random": False, "metrics": {"time_ms": {"mean": 1.0, "sd": 0.1, "n": 5}},
}  # fmt: skip
BASELINE = {
    "kind": "baseline",
    "facts": {"experiment": "x", "clock": "virtual", "tdf": "1", "cpu": "time"},
    "samples": [SAMPLE],
}
FIELD = {
    "kind": "field", "url": "http://x/", "error": None, "metrics": {},
    "pages": [{"status": 200, "length": 5, "connect_s": 0.1, "first_byte_s": 0.2, "total_s": 0.3}],
}  # fmt: skip
COMPOSED = {
    "files": [str(FOLDER / "compose.yaml")],
    "profiles": [],
    "vary": {"web:rtt": ["0ms"]},
    "tool": "ab",
    "url": "http://web:1/",
    "options": {},
}
HEADER = {"schema": 1, "cells": [], "spec": {"experiment": "x", "where": {}}}


@pytest.mark.parametrize(
    ("read", "sample"),
    [(baseline.read, BASELINE), (baseline.is_one, BASELINE), (record.read, FIELD), (composed.read, COMPOSED), (lambda path: sweep_samples.read_header(FOLDER), HEADER)],  # noqa: E501
    ids=["baseline", "is baseline", "field", "composed", "sweep"],
)  # fmt: skip
@given(data=st.data())
def test_records_with_other_types(read, sample, data):
    text = json.dumps(data.draw(altered([sample]))).encode()
    text = data.draw(st.one_of(st.just(text), damaged([text])))
    written("compose.yaml", "services: {web: {image: a}}")
    with only():
        read(written("sweep.json", text))


@given(st.one_of(values, st.binary()))
def test_json_and_toml_of_anything(value):
    text = value if isinstance(value, bytes) else json.dumps(value)
    with contextlib.suppress(ValueError):
        userfile.json(text)
    with contextlib.suppress(tomllib.TOMLDecodeError):
        userfile.toml(text.decode("utf-8", "replace") if isinstance(text, bytes) else text)
