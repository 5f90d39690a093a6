"""Tests of `slownet help`."""

import pytest

from slownet.cli.app import run_words
from slownet.model.errors import SlownetError


def said(capsys, *words):
    with pytest.raises(SystemExit) as ended:
        run_words(["help", *words])
    assert ended.value.code == 0
    return capsys.readouterr().out


def test_a_term_is_one_line(capsys):
    assert said(capsys, "T0").startswith("T0: Time per operation without added delay")
    assert said(capsys, "verified", "RTT").count("\n") == 1


def test_without_a_word_all_terms_are_said(capsys):
    lines = said(capsys).splitlines()
    assert {"law", "lab", "TDF"} <= {line.partition(":")[0] for line in lines}


def test_a_command_shows_its_help(capsys):
    assert "Usage: slownet reproduce" in said(capsys, "reproduce")
    assert "Usage: slownet lab build" in said(capsys, "lab", "build")


def test_a_typo_is_one_line_that_names_the_nearest(capsys):
    with pytest.raises(SlownetError, match=r"no term or command 'basline'.*baseline"):
        run_words(["help", "basline"])
    with pytest.raises(SlownetError, match="no term or command 'lab biuld'"):
        run_words(["help", "lab", "biuld"])


def test_a_field_of_conditions_leads_to_their_page():
    with pytest.raises(SlownetError, match="'loss': it is a field of conditions: slownet docs conditions"):
        run_words(["help", "loss"])
