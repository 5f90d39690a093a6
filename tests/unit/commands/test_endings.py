"""How the command line ends."""

import pytest

from slownet import cli
from slownet.lab import doctor


def test_an_interrupt_is_said_and_is_status_130(monkeypatch, capsys):
    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr(doctor, "examine", interrupted)
    with pytest.raises(SystemExit) as caught:
        cli.main(["doctor"])
    assert caught.value.code == 130
    assert capsys.readouterr() == ("", "slownet: interrupted\n")


def test_an_option_that_does_not_exist_is_one_line(capsys):
    with pytest.raises(SystemExit) as caught:
        cli.main(["doctor", "--jsno"])
    assert caught.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "--jsno" in line
    assert "--json" in line
