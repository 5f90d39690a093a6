"""Whatever a program prints, its parser returns a record with metrics or raises ToolError."""

import re
from pathlib import Path

import pytest
from fuzzing import damaged, only
from hypothesis import given
from hypothesis import strategies as st

from slownet.model.errors import ToolError
from slownet.net import nft, strace
from slownet.reproductions import delayed_ack, exchange
from slownet.reproductions import queried_page as php_page
from slownet.reproductions import replication as commit_delay
from slownet.reproductions import rows_and_messages as row_pipeline
from slownet.reproductions import stores as query_cost
from slownet.tools import (
    ab,
    competing,
    constant_rate,
    curl,
    fetch,
    iperf3,
    oha,
    ping,
    redis_benchmark,
    statements,
    sysbench,
    under_load,
    wget,
    wrk,
)

DATA = Path(__file__).parent / "data"
CURL = b'{"http_code": 200, "size_download": 5, "time_connect": 0.1, "time_total": 0.2, "time_starttransfer": 0.1, "errormsg": null}\n'  # noqa: E501
FETCH = b'{"pages": [{"status": 200, "length": 5, "connect_s": 0.1, "first_byte_s": 0.2, "total_s": 0.3}], "error": null}\n'
RATE = b'{"rate": 5, "requests": [[0, 1, 2]], "errors": 0}\n'
NFT = b"table inet x { counter y { packets 5 bytes 7 } }"
PARSERS = {
    "ab-[0-9]*": lambda text: ab.parse(text),
    "iperf3*": iperf3.parse,
    "iperf3-two*": lambda text: competing.rates(text, "bbr"),
    "iperf3-bidir*": under_load.carried,
    "exchange*": exchange.parse,
    "crafted*": delayed_ack.parse,
    "page-proxy*": php_page.parse,
    "pipeline*": row_pipeline.parse,
    "replication*": commit_delay.parse,
    "strace*": strace.parse,
    "sysbench*": sysbench.parse,
    "ping*": ping.parse,
    "wget*": wget.parse,
    "wrk*": wrk.parse,
    "oha*.json": lambda text: oha.parse(text, [], rate=5.0, planned=5),
}
OTHERS = {"curl": (curl.parse, CURL), "fetch": (fetch.parse, FETCH), "rate": (constant_rate.parse, RATE), "nft": (nft.count, NFT),  # noqa: E501
          "queries": (query_cost.parse, b'{"connect": [5], "select": [7]}'),
          "redis-benchmark": (redis_benchmark.parse, b'"test","rps","avg_latency_ms"\n"GET","3.98","250.003"\n'),
          "statements": (statements.parse, b'{"statement_ns": [2000000, 1000000]}')}  # fmt: skip
PLACES = 40
"""Numbers of one output that are replaced."""
CASES = [
    pytest.param(parse, [each.read_bytes() for each in sorted(DATA.glob(glob)) if each.suffix != ".db"], id=glob)
    for glob, parse in PARSERS.items()
] + [pytest.param(parse, [sample], id=name) for name, (parse, sample) in OTHERS.items()]


@pytest.mark.parametrize(("parse", "samples"), CASES)
@given(data=st.data())
def test_output(parse, samples, data):
    text = data.draw(st.one_of(damaged(samples), st.binary(max_size=60))).decode("utf-8", "replace")
    with only(ToolError):
        found = parse(text)
        if hasattr(found, "metrics"):
            found.metrics()


@pytest.mark.parametrize("number", ["9" * 5000, "9" * 400, "9" * 160, "9" * 20, "1e400", "1e200", "-5"])
@pytest.mark.parametrize(("parse", "samples"), CASES)
def test_a_number_that_no_program_prints(parse, samples, number):
    """In the place of each number of the output, or of enough of them."""
    for text in (each.decode("utf-8", "replace") for each in samples):
        places = list(re.finditer(r"\d+(?:\.\d+)?", text))
        for place in places[:: max(1, len(places) // PLACES)]:
            with only(ToolError):
                found = parse(f"{text[: place.start()]}{number}{text[place.end() :]}")
                if hasattr(found, "metrics"):
                    found.metrics()


@given(st.data())
def test_files_beside_the_output(data):
    texts = [(DATA / f"ab-250.{ending}").read_bytes() for ending in ("csv", "tsv")]
    csv, tsv = (data.draw(damaged([each])).decode("utf-8", "replace") for each in texts)
    with only(ToolError):
        ab.parse((DATA / "ab-250.txt").read_text(), csv, tsv).metrics()


@given(damaged([path.read_bytes() for path in sorted(DATA.glob("oha*.db"))]))
def test_a_database(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "oha.db"
    path.write_bytes(data)
    with only(ToolError):
        oha.requests(path)
