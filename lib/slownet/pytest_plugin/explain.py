"""Explains failures in pytest: the measured and the expected value, the conditions of the links, and the clock."""

from __future__ import annotations

import sys

import pytest

from slownet.lab.run.clock import FREE
from slownet.pytest_plugin import records

SECTION = "slownet"


def comparison(op: str, left: object, right: object) -> list[str] | None:
    """Return the lines of a failed comparison of a measured number with an expectation; None for other comparisons."""
    expecting = sys.modules.get("slownet.judge.claim.expect")  # if it was not imported, there is no expectation
    for side, other in ((right, left), (left, right)):
        if expecting and isinstance(side, expecting.Expectation) and side.judgement is not None:
            return [f"{other!r} {op} expected", *str(side).split("; ")]
    return None


def with_the_network(item: pytest.Item, report: pytest.TestReport) -> pytest.TestReport:
    """Add a section about the network to a failed test's report."""
    net = item.stash.get(records.NETWORK, None)
    item.stash[records.FAILED] = report.failed or item.stash.get(records.FAILED, False)
    if report.failed and net is not None and report.when != "teardown":
        lines = [records.place()]
        if records.facts().get("cpu") == FREE:
            lines.append("the CPU is free: what programs compute takes no time (--slownet-tdf auto charges it)")
        lines += [f"link set: {each}" for each in net.settings] or ["no link was set"]
        record = item.stash.get(records.RECORD, None)
        lines += [f"measured: {each}" for each in record.lines] if record else []
        lines += [f"claimed: {each['verdict']}: {each['text']}" for each in record.judged] if record else []
        report.sections.append((SECTION, "\n".join(lines)))
    return report
