"""What pytest says of a failure: the measured and the expected, the links as they were set, and the clock."""

from __future__ import annotations

import pytest

from slownet.pytest_plugin import records

SECTION = "slownet"


def comparison(op: str, left: object, right: object) -> list[str] | None:
    """The lines of a failed comparison with one of the project's values, by that value itself; None for any other.

    A value explains itself with `explain(op, other)`, where it stands on the right of `op` or the left.
    """
    for side, other in ((right, left), (left, right)):
        explain = getattr(side, "explain_failure", None)
        if explain:
            return [*explain(other), f"on {records.place()}"]
    return None


def with_the_network(item: pytest.Item, report: pytest.TestReport) -> pytest.TestReport:
    """A failed test's report, with a section on its network."""
    net = item.stash.get(records.NETWORK, None)
    if report.failed and net is not None and report.when != "teardown":
        lines = [f"on {records.place()}"]
        lines += [f"link set: {each}" for each in net.settings] or ["no link was set"]
        record = item.stash.get(records.RECORD, None)
        lines += [f"measured: {each}" for each in record.lines] if record else []
        lines += [f"claimed: {each['verdict']}: {each['text']}" for each in record.judged] if record else []
        report.sections.append((SECTION, "\n".join(lines)))
    return report
