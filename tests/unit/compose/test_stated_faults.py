"""Faults that a compose file states: read, checked, handed over, and each mistake one line."""

import json

import pytest

from slownet.compose import extension, reader
from slownet.compose.model import Step, of_json
from slownet.links.faults import Faults
from slownet.model.errors import ComposeError, ConditionError

REST = "services:\n  web: {image: 'web:1'}\n  db: {image: 'db:1'}\n  side: {image: 'db:1', network_mode: 'service:web'}\n"


def project(folder, text, *others):
    files = []
    for number, each in enumerate((text, *others)):
        files.append(folder / f"compose{number or ''}.yaml")
        files[-1].write_text(each)
    return reader.read(files, machine={"WHEN": "7s", "WHO": "db"})


def test_steps_by_their_times_and_as_lines_are_the_same(tmp_path):
    table = project(tmp_path, "x-slownet: {faults: {9s: heal, 5s: [kill db, cut web from db], 7s: start db}}\n" + REST)
    listed = project(
        tmp_path, "x-slownet: {faults: ['heal at 9s', {5s: [kill db, cut web from db]}, 'start db at 7 s']}\n" + REST
    )
    words = "kill db at 5 s; cut web from db at 5 s; start db at 7 s; heal at 9 s"
    assert str(table.faults) == str(listed.faults) == words
    assert table.steps[1] == Step("cut web from db at 5 s", f"{tmp_path}/compose.yaml:1:46")
    assert table.conditions == {}
    assert of_json(json.loads(json.dumps(table.to_json()))) == table


def test_faults_beside_the_clients_link_with_variables_and_merged(tmp_path):
    base = "x-slownet: {rtt: 4ms, faults: {5s: 'kill ${WHO}'}}\n" + REST
    found = project(tmp_path, base, "x-slownet: {faults: {8s: start db}}\n")
    assert found.conditions == {"client": {"rtt": "4ms"}}
    assert str(found.faults) == "kill db at 5 s; start db at 8 s"
    assert str(project(tmp_path, base, "x-slownet: {faults: !reset null}\n").faults) == "none"


@pytest.mark.parametrize("stated", ["", "x-slownet: LTE\n", "x-slownet: {faults: }\n", "x-slownet: {faults: []}\n"])
def test_nothing_breaks_unless_it_is_said(stated, tmp_path):
    assert project(tmp_path, stated + REST).steps == ()


def test_a_service_on_another_ones_host_is_killed_by_its_own_name(tmp_path):
    assert len(project(tmp_path, "x-slownet: {faults: {1s: kill side, 2s: kill web}}\n" + REST).steps) == 2


WRONG = {
    "{5s: kil db}": ("1:22", "'kil db' is not a fault", "kill, start"),
    "{'5': kill db}": ("1:22", "duration '5' has no unit", "10ms"),
    "{5: kill db}": ("1:22", "the key 5 is not a text to compose", "quote"),
    "{5s: kill dbb}": ("1:22", "no service 'dbb'", "'db'?"),
    "{5s: cut web from clientt}": ("1:22", "no host 'clientt'", "'client'?"),
    "{5s: [kill db, 5]}": ("1:36", "a step of the faults is not a text", "kill db at 5 s"),
    "{5s: }": ("1:22", "a step of the faults is not a text", "kill db at 5 s"),
    "kill db": ("1:21", "faults are neither a mapping nor a list", "kill db at 5 s"),
    "[kill db]": ("1:22", "'kill db' has no time", "kill db at 4 s"),
    "{5s: heal}": ("1:22", "nothing is cut that 'heal' could undo", "cut something before it"),
    "{5s: kill db, 4s: start db}": ("1:35", "'start db', but db runs by then", "correct the order"),
    "{5s: crash db}": ("1:22", "'crash db', but a container has no disk of its own", "kill, pause or cut it"),
    "{5s: slow-disk db 5ms}": ("1:22", "'slow-disk db 5 ms', but a container has no disk of its own", "kill"),
}


@pytest.mark.parametrize("stated", WRONG)
def test_a_mistake_has_its_line_and_column(stated, tmp_path):
    where, what, fix = WRONG[stated]
    with pytest.raises(ComposeError) as error:
        project(tmp_path, f"x-slownet: {{faults: {stated}}}\n{REST}")
    assert (error.value.what, error.value.where) == (what, f"{tmp_path}/compose.yaml:{where}")
    assert fix in error.value.fix


def test_a_services_link_has_none(tmp_path):
    with pytest.raises(ComposeError, match=r"no field 'faults', .*:2:37: write it in the x-slownet at the top of the file"):
        project(tmp_path, "services:\n  web: {image: 'web:1', x-slownet: {faults: {5s: kill web}}}\n")


def test_a_check_goes_on_after_it_and_lists_what_is_right(tmp_path):
    (tmp_path / "compose.yaml").write_text("x-slownet: {faults: {5s: kil db}}\n" + REST)
    found = reader.check([tmp_path / "compose.yaml"], machine={})
    assert ([each.what for each in found.refused], found.steps) == (["'kil db' is not a fault"], ())
    assert len(found.services) == 3
    (tmp_path / "compose.yaml").write_text("x-slownet: {faults: {5s: kill db}}\n" + REST)
    found = reader.check([tmp_path / "compose.yaml"], machine={})
    assert found.steps == (Step("kill db at 5 s", f"{tmp_path}/compose.yaml:1:22"),)


def test_others_than_its_own_are_checked_too(tmp_path):
    found = project(tmp_path, REST)
    extension.check(found, Faults.parse("kill db at 1 s"))
    with pytest.raises(ConditionError, match="no service 'dbb', the step 'kill dbb at 1 s': did you mean 'db'"):
        extension.check(found, Faults.parse("kill dbb at 1 s"))
