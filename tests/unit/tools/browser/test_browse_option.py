"""`browse` on the command line and in hypothesis files."""

from dataclasses import replace
from types import SimpleNamespace

from slownet.tools.browser.browse import browse
from slownet.tools.register import TOOLS, card


def test_its_options_reach_the_tool():
    called = {}

    def told(host, url, **options):
        called.update(options, host=host, url=url)

    tool = replace(card(TOOLS["browse"]), function=told)
    tool.__dict__["options"] = card(browse).options
    tool.__dict__["bound"] = ("host", "url")
    options = {"from": "client", "loads": 5, "http": 2, "cache": "warm"}
    tool.run({"client": "the host"}, SimpleNamespace(url="http://web/"), options)
    assert called == {"host": "the host", "url": "http://web/", "loads": 5, "http": "2", "cache": "warm"}
    assert tool.warm_up == 1
