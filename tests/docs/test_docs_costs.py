"""The page of what a delay costs: each measured operation is there once, explained, in a page that stays small."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs" / "_ext"))
from slownet_docs import costs  # noqa: E402  # from the folder above

from slownet.costs import record  # noqa: E402  # as the one above

PAGE = costs.page()


def test_each_measured_operation_is_there_once():
    named = re.findall(r'id="([^"]+)"', PAGE)
    assert len(named) == len(set(named))
    assert sorted(named) == sorted(each["id"] for each in costs.measured())


def test_the_page_is_small():
    assert len(PAGE.encode()) < 350_000


def test_each_surprise_has_its_reason():
    rows = costs.measured()
    table = costs.surprises(rows)
    lines = re.findall(r"<tr><td>.*</tr>", table)
    assert len(lines) == costs.SURPRISES
    assert [line for line in lines if line.endswith("<td></td></tr>")] == []


def test_what_is_quoted_is_escaped():
    row = {**costs.measured()[0], "program": "<b>&", "each": ["<i>"], "note": "", "cure": "", "guess": 99}
    assert "&lt;b&gt;&amp;" in costs.table([row])
    assert "&lt;i&gt;" in costs.surprises([row])


def test_the_columns_are_those_of_the_data():
    text = (ROOT / "docs" / "explanation" / "delay-costs.md").read_text()
    section = text.partition("### Columns")[2].partition("\n## ")[0]
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    assert tuple(name for row in rows for name in re.findall(r"`(\w+)`", row)) == record.COLUMNS


def test_versions_are_of_the_packages_where_there_are_no_others():
    row = {**costs.measured()[0], "version": "", "server": "nginx", "packages": {"curl": "8.14.1-2+deb13u7"}}
    assert "<small>nginx: curl 8.14.1</small>" in costs.table([row])
