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
    for words, near in ((["basline"], "baseline"), (["lab", "biuld"], "lab build"), (["reprodcue"], "reproduce")):
        with pytest.raises(SlownetError, match=rf"no term, command or page '{' '.join(words)}': did you mean '{near}'\?"):
            run_words(["help", *words])


def test_a_word_that_is_a_term_and_a_command_shows_both(capsys):
    shown = said(capsys, "lab")
    assert shown.startswith("lab: ")
    assert "\n\nUsage: slownet lab" in shown


def test_a_field_of_conditions_leads_to_their_page():
    with pytest.raises(SlownetError, match="'loss': it is a field of conditions: slownet help conditions"):
        run_words(["help", "loss"])
