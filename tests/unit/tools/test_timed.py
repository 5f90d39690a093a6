"""Programs that are timed as a whole."""

import pytest

from slownet.model.errors import ToolError
from slownet.tools.timed import timed


def test_each_time_is_a_value(canned):
    host = canned("done\n")
    found = timed(host, ["git", "pull"], times=3)
    assert found.metrics()["time_ms"]["n"] == 3
    assert all(round(each, 1) == each >= 0 for each in found.times_ms)
    assert found.raw == "done\n" * 3
    assert host.argv == [["git", "pull"]] * 3


def test_a_program_that_fails_is_one_line(canned):
    with pytest.raises(ToolError, match="git ended with status 1: git: no repository, host 'here'"):
        timed(canned("", "git: no repository\n", 1), ["git", "pull"])
