"""How `slownet doctor` shows its findings."""

import io
import json
from dataclasses import replace

from rich.console import Console

from slownet.cli import doctor as command
from slownet.lab.host.examination import Finding

LACK = Finding("lab", False, "it is not built", "slownet lab build")


def test_what_is_optional_does_not_count():
    assert command.ready([replace(LACK, needed=False), replace(LACK, good=True)])
    assert not command.ready([LACK])


def test_a_mend_stands_on_a_line_of_its_own():
    screen = Console(width=60, file=io.StringIO())
    screen.print(command.table([LACK, replace(LACK, needed=False, name="native"), replace(LACK, good=True, repair="")]))
    assert [line.split() for line in screen.file.getvalue().splitlines()] == [
        ["lab", "NO", "it", "is", "not", "built"], ["slownet", "lab", "build"],
        ["native", "no", "it", "is", "not", "built"], ["slownet", "lab", "build"],
        ["lab", "yes", "it", "is", "not", "built"],
    ]  # fmt: skip


def test_findings_are_json():
    assert json.loads(json.dumps(LACK.to_json())) == {
        "name": "lab", "good": False, "text": "it is not built", "repair": "slownet lab build", "needed": True,
    }  # fmt: skip
