"""Whatever the files of a run directory hold: a run, or an error of slownet's; what was damaged is said."""

import json
import warnings

import pytest
from fuzzing import altered, damaged, only
from hypothesis import given

from slownet.judge.records import result, samples
from slownet.model.errors import DamageWarning
from slownet.report.view import view
from slownet.runner import planning

CELLS = [{"rtt": "0ms"}, {"rtt": "10ms"}]
SAMPLES = [
    {
        "experiment": "client_delay", "cell": cell, "index": index, "status": "ok", "tool": "ab",
        "metrics": {"ms": {"mean": 1.0 + index, "sd": 0.1, "n": 2, "values": [1.0 + index, 1.1 + index]}}, "raw": [], "boot": 1,
        "block": 1, "random": False, "condition": {"delay_ms": 5.0}, "verified_rtt_ms": 0.1, "facts": {}, "captures": [],
    }
    for index, cell in enumerate(CELLS)
]  # fmt: skip
FACTS = {
    "slownet": "0.1", "source": "client_delay", "experiment": "client_delay", "question": "How slow?", "place": "lab",
    "clock": "virtual", "tdf": "4", "cpu": "time", "kernel": "7", "planned": CELLS, "boots": [], "sampling": {"mode": "fixed"},
    "labs": 1, "wall_s": 3.0, "claims": [], "cells": [], "given": {"env": [], "share": []}, "argv": ["slownet", "run"],
}  # fmt: skip


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    with samples.SampleLog(folder) as log:
        for each in SAMPLES:
            log.append(each)
        samples.write_run_json(folder, FACTS | {"samples": log.seal})
    return folder, (folder / "samples.jsonl").read_bytes()


def read(folder):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DamageWarning)
        with only():
            found = result.load(folder)
            view(found)
        with only():
            planning.where_it_ran(folder)


@given(altered([FACTS]))
def test_facts_of_other_types(run, facts):
    folder, whole = run
    (folder / "samples.jsonl").write_bytes(whole)
    (folder / "run.json").write_text(json.dumps(facts))
    read(folder)


@given(damaged([json.dumps(FACTS).encode()]))
def test_damaged_facts(run, data):
    folder, whole = run
    (folder / "samples.jsonl").write_bytes(whole)
    (folder / "run.json").write_bytes(data)
    read(folder)


@given(altered(SAMPLES))
def test_samples_of_other_types(run, sample):
    folder, _ = run
    (folder / "run.json").write_text(json.dumps(FACTS))
    (folder / "samples.jsonl").write_text("".join(json.dumps(each) + "\n" for each in (sample, *SAMPLES[1:])))
    read(folder)


@given(damaged([b"".join(json.dumps(each).encode() + b"\n" for each in SAMPLES)]))
def test_damaged_samples(run, data):
    folder, _ = run
    (folder / "run.json").write_text(json.dumps(FACTS))
    (folder / "samples.jsonl").write_bytes(data)
    read(folder)
