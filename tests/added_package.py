"""A package that extends slownet with one tool, service, claim, condition, topology and fixture each.

Each is one file and one row of the metadata, as in a third-party package. `write` installs it into a folder, for a Python with
that folder on its path.
"""

import textwrap
from pathlib import Path

ROWS = """
[slownet.tools]
dial = mine.dial:dial
[slownet.services]
pages = mine.pages:serve
[slownet.claims]
costs_at_most = mine.costs_at_most:costs_at_most
[slownet.conditions]
pigeon = mine.pigeon:PIGEON
[slownet.topologies]
lane = mine.lane:Lane
[pytest11]
mine = mine.fixtures
"""

FILES = {
    "__init__": "",
    "dial": '''
        """The time of a page, including the start of the program."""
        from dataclasses import dataclass

        from slownet.judge.measured import Metrics
        from slownet.net.tool import run
        from slownet.tools.register import tool


        @dataclass(frozen=True)
        class Dial(Metrics):
            command: tuple
            raw: str
            seconds: float

            def metrics(self):
                return {"dial_ms": {"mean": 1000 * self.seconds, "sd": 0.0, "n": 1}}


        @tool(services=["pages"])
        def dial(host, url, *, pauses: int = 0):
            done = run(host, ["wget", "-q", "-O", "/dev/null", url])
            return Dial(done.argv, done.raw, done.seconds)

    ''',
    "pages": '''
        """An empty page over HTTP."""
        import sys

        from slownet.services.service import Service
        from slownet.net.tool import run


        class Pages(Service):
            name = "pages"

            @property
            def url(self):
                return f"http://{self.host.IP()}:8080/"

            def command(self):
                return [sys.executable, "-m", "http.server", "8080", "--directory", str(self.state)]

            def answers(self):
                return run(self.host, ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/8080"], check=False).status == 0


        def serve(net, directory, page):
            return Pages(net["far"], directory)
    ''',
    "costs_at_most": '''
        """A claim: a metric is above the baseline's by no more than a limit."""
        from collections.abc import Mapping
        from dataclasses import dataclass

        from slownet.judge.claim import ALONE, decide
        from slownet.theory.stats import difference


        @dataclass(frozen=True)
        class costs_at_most:
            metric: str
            at: Mapping
            limit: float

            def judge(self, run, siblings=ALONE):
                cell, base = run.at(self.at), run.baseline_of(self.at)
                gap = lambda: difference(cell.summary(self.metric), base.summary(self.metric))
                return decide(run, f"at most {self.limit:g} more", gap, margin=(None, self.limit), cells=(base, cell))

            @staticmethod
            def sentence(claim, run):
                return f"a page costs at most {claim.parameters['limit']:g} ms more"
    ''',
    "pigeon": """
        from slownet.links.conditions.profiles import Named

        PIGEON = Named("pigeon", {"rtt": "700ms"}, "RFC 1149, over a short way")
    """,
    "lane": """
        from mininet.topo import Topo


        class Lane(Topo):
            def build(self):
                self.addLink(self.addHost("near"), self.addHost("far"))
    """,
    "fixtures": """
        import pytest


        @pytest.fixture
        def pages(net, tmp_path):
            from mine.pages import Pages

            with Pages(net["far"], tmp_path) as server:
                yield server
    """,
}

HYPOTHESIS = """
question = "What does an empty page cost whose reader is 100 ms away?"
topology = "lane"
service = "pages"
tool = "dial"

[conditions]
link = ["near", "far"]
rtt = ["0ms", "100ms"]

[[prediction]]
claim = "costs_at_most"
metric = "dial_ms"
at = { rtt = "100ms" }
limit = 250
"""

TEST = """
import pytest
from mine.dial import dial
from mine.lane import Lane

pytestmark = [pytest.mark.topology(Lane), pytest.mark.tdf("inf")]


def test_a_page_by_pigeon_takes_two_round_trips(net, pages):
    with net.link("near", "far").set("pigeon"):
        assert 1.4 < dial(net["near"], pages.url).seconds < 1.7
"""


def write(folder: Path, rows: str = ROWS, **files: str) -> Path:
    """Write the package to a folder and return it; ``files`` replaces some of its files."""
    (folder / "mine").mkdir(parents=True, exist_ok=True)
    for name, text in {**FILES, **files}.items():
        (folder / "mine" / f"{name}.py").write_text(textwrap.dedent(text))
    metadata = folder / "mine-1.0.dist-info"
    metadata.mkdir(exist_ok=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(rows)
    return folder
