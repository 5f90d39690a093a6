"""Accounts of the cells of an experiment, measured once with captures at free CPU."""

import json
import subprocess
import sys
from pathlib import Path

from slownet.judge.records.result import load
from slownet.model.errors import ToolError
from slownet.waits import of_run
from slownet.waits.account_text import slopes

CHARGED = {"overload"}
"""Experiments of the CPU: where it is free, the server of `overload` answers so often that half a second has gigabytes."""


def measured(name, folder, *options):
    """Run an experiment once, with captures, at free CPU unless the CPU is its subject; return its run."""
    clock = [] if name in CHARGED else ["--tdf", "inf"]
    words = ["run", name, *clock, "--repeat", "1", "--capture", "--runs", str(folder), *options]
    done = subprocess.run([sys.executable, "-m", "slownet.cli", *words], capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr  # 1: a claim that one repetition does not decide
    (directory,) = (each.parent for each in Path(folder).glob("*/run.json"))
    return load(directory)


def accounts(run):
    """Yield each cell that was measured with its account, which has to add up."""
    for cell in run.cells:
        sample = of_run.sample_of(run, dict(cell.samples[0]["cell"]))
        if sample["status"] != "ok" or not any(each["packets"] for each in sample["captures"]):
            continue
        try:
            found = of_run.of_sample(run, sample)
        except ToolError as error:  # datagrams in one direction, as routers' announcements are
            if "there is nothing to account for" in str(error):
                continue
            raise
        assert all(one.end_ns == other.begin_ns for one, other in zip(found.steps, found.steps[1:], strict=False))
        assert abs(sum(each.ns for each in found.steps) - found.elapsed_ns) <= 1000, json.dumps(sample["cell"])
        assert found.remainder_ns == 0, (
            f"{sample['cell']}: {[each for each in found.steps if each.cause == 'not explained'][:3]}"
        )
        yield cell, found


BEFORE = {"statement_ms": 1}
"""Operations of a program before those that it measures, by metric: `slownet.tools.statements` executes its statement a first
time, which it does not record. Captures of synchronous_commit show it: ten INSERTs are measured, eleven leave the client."""


def laws(run):
    """Yield each law that was claimed of a run: its k as measured, its metric, and the last of its cells."""
    for claim in json.loads((run.directory / "run.json").read_text())["claims"]:
        if claim["kind"] == "law" and claim["measured"] is not None:
            at = claim["parameters"].get("at") or {}
            cells = [each for each in run.cells if at.items() <= dict(each.samples[0]["cell"]).items()]
            yield claim["measured"], claim["metric"], cells[-1]


def round_trips(run, cell, account, metric):
    """Return the slope of an account on the link that its cell sets, of one operation of those that a sample measures.

    The account is of the last operation if each has connections of its own; otherwise it is of all of them.
    """
    sample = of_run.sample_of(run, dict(cell.samples[0]["cell"]))
    found = slopes(account, of_run.links_between(run.facts["topology"]))
    several = sample["metrics"][metric]["n"] + BEFORE.get(metric, 0)
    count = 1 if account.operation.startswith("the last of") else several
    return max(found.get(name, 0.0) for name in sample["links"]) / count
