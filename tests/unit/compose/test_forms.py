"""Forms of fields: what compose's own library takes, we take as the same; what it refuses, we refuse."""

import json
from functools import partial

import forms
import pytest
import test_against_compose

from slownet.compose import reader
from slownet.model.errors import ComposeError

EXPECTED = json.loads(forms.FILE.read_text())
CHECKS = [
    test_against_compose.test_replicas,
    test_against_compose.test_images,
    *(partial(test_against_compose.test_texts, field=field) for field in test_against_compose.TEXTS),
    test_against_compose.test_what_containers_may_do,
    *(partial(test_against_compose.test_commands, field=field) for field in ("command", "entrypoint")),
    test_against_compose.test_environments,
    test_against_compose.test_tcp_ports,
    test_against_compose.test_read_only_and_init,
    test_against_compose.test_volumes,
    test_against_compose.test_networks,
    test_against_compose.test_dependencies,
    test_against_compose.test_healthchecks,
    test_against_compose.test_how_long_a_service_may_take_to_stop,
    test_against_compose.test_further_hosts,
]  # fmt: skip
STRICTER = (
    "is not possible in a lab",  # fields.py: a lab has no such thing
    "no /nowhere", "no file ", "is not set",  # an engine refuses it when the container is made
    "is above the hard one", "unknown limit", "unclear shm_size", "unclear size", "unclear subnet", "is not a whole path",
    "is not an Ethernet address", "is not declared", "unclear test", "unclear port", "is the whole machine's",
    "has no value", "a line without a name",  # a variable without a name, or with a tab in it
    "1.5 retries",  # compose cuts it to 1
    "unknown field 'other' in services.a.extends",  # compose takes the field out before it checks the others
    "an include names no file",
)  # fmt: skip
"""What we refuse, with a line, and compose's library takes: mostly because the engine that gets the project refuses it."""


def test_there_are_at_least_400_forms_of_each_kind_of_answer():
    refused = sum("refused" in each for each in EXPECTED.values())
    assert set(EXPECTED) == set(forms.FORMS)
    assert len(EXPECTED) - refused >= 400
    assert refused >= 400


@pytest.mark.parametrize("kind", sorted({name.rpartition("-")[0] for name in forms.FORMS}))
def test_forms(tmp_path, kind):
    for name, form in forms.FORMS.items():
        if name.rpartition("-")[0] == kind:
            check(
                form.lay_out(tmp_path, name),
                json.loads(json.dumps(EXPECTED[name]).replace("/FORMS", str(tmp_path))),
                f"{name}: {form}",
            )


def check(files, theirs, form):
    ours, why = read(files)
    if ours is None:
        assert "refused" in theirs or any(each in str(why) for each in STRICTER), f"{form}: {why}"
        assert why.where.rpartition("/")[2].partition(":")[0].endswith((".yaml", ".env")), form
        return
    assert "refused" not in theirs, f"{form}: {theirs}"
    for each in CHECKS:
        try:
            each((ours, theirs))
        except AssertionError as error:
            raise AssertionError(f"{form}: {error}") from error


def read(files):
    """Return the project that we find, or why we refuse it."""
    try:
        return reader.read(files, machine=forms.MACHINE | {"PWD": str(files[0].parent)}), None
    except ComposeError as error:
        return None, error
