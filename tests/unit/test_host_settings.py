"""Settings of hosts from the environment."""

import pytest

from slownet.model import host_settings
from slownet.model.errors import ExperimentError
from slownet.model.host_settings import KEEP_ALIVE, VARIABLE, is_on, read, written


def test_settings_are_read_as_they_are_written(monkeypatch):
    settings = {"initcwnd": "100", "net.ipv4.tcp_rmem": "4096 1048576 6291456", KEEP_ALIVE: "1"}
    monkeypatch.setenv(VARIABLE, written(settings))
    assert read() == settings
    assert is_on(KEEP_ALIVE)
    assert not is_on("quickack")


def test_without_the_variable_nothing_is_set(monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    assert read() == {}
    assert not is_on(KEEP_ALIVE)


@pytest.mark.parametrize(
    ("text", "what"),
    [("initcwnd", "unclear setting 'initcwnd'"), ("initcwnd=", "unclear"), ("initcwmd=9", "unknown setting 'initcwmd'")],
)
def test_mistakes_are_named(monkeypatch, text, what):
    monkeypatch.setenv(VARIABLE, text)
    with pytest.raises(ExperimentError, match=what) as failed:
        host_settings.read()
    assert VARIABLE in failed.value.line
    assert failed.value.fix
