"""Tools' records with the time of an operation."""

from pathlib import Path

import pytest

from slownet.model.errors import ToolError
from slownet.reproductions.rows_and_messages import Operation
from slownet.tools.ab import parse

RECORD = parse((Path(__file__).parents[1] / "tools" / "data" / "ab-keep-alive.txt").read_text(), command=("ab", "-k"))


def test_the_time_of_the_operation_comes_first_and_everything_else_stays():
    operation = Operation(RECORD, "time_per_request_ms")
    metrics = operation.metrics()
    assert list(metrics) == ["operation_ms", *RECORD.metrics()]
    assert metrics["operation_ms"] == RECORD.metrics()["time_per_request_ms"]
    assert (operation.command, operation.raw) == (RECORD.command, RECORD.raw)
    page = {"document_length": 51686, "header_length": 326, "kept_alive": 50}
    assert operation.facts() == page | {"timed": "time_per_request_ms"}


def test_a_time_that_was_not_measured_suggests_the_nearest():
    with pytest.raises(ToolError, match=r"^ab has no metric 'time_per_page_ms': did you mean 'time_per_request_ms'"):
        Operation(RECORD, "time_per_page_ms").metrics()
