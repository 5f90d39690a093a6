"""`browse` on the command line and in hypothesis files."""

from functools import partial
from types import SimpleNamespace

import pytest

from slownet.cli.app import main
from slownet.hypotheses import toolbox
from slownet.tools.browser.browse import browse


def test_browse_names_tool_and_page_alone(capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["run", "--compose", "compose.yaml", "--browse", "http://web/", "--tool", "ab"])
    assert "--browse names tool and page" in capsys.readouterr().err


def test_its_options_reach_the_tool():
    called = {}

    def told(host, url, **options):
        called.update(options, host=host, url=url)

    tool = toolbox.TOOLS["browse"]
    measured, *more = tool.run.args
    assert measured is browse
    options = {"from": "client", "loads": 5, "http": 2, "cache": "warm"}
    partial(tool.run.func, told, *more)({"client": "the host"}, SimpleNamespace(url="http://web/"), options)
    assert called == {"host": "the host", "url": "http://web/", "loads": 5, "http": "2", "cache": "warm"}
    assert tool.warm_up == 1
