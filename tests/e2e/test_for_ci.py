"""What `slownet run` and `slownet check` write for CI services, from a real run."""

import datetime
import xml.etree.ElementTree as ET

from command_line import slownet

MINE = """
from slownet import ClientWebDb, bound, experiment

@experiment(topology=ClientWebDb, vary={"rtt": ["10ms"]}, unit="ms")
def waits(net, rtt):
    "Do five minutes of waiting take five minutes?"
    import time
    with net.link("client", "switch").set(rtt=rtt):
        began = time.monotonic()
        time.sleep(300)
        return 1000 * (time.monotonic() - began)

waits.claims(
    bound("waits_ms", at={"rtt": "10ms"}, at_least=299_999, at_most=300_100),
    bound("waits_ms", at={"rtt": "10ms"}, at_most=1),
)
"""


def test_dates_and_times_are_those_of_the_machine(tmp_path):
    (tmp_path / "mine.py").write_text(MINE)
    before = datetime.datetime.now(datetime.UTC).replace(microsecond=0, tzinfo=None)
    words = ["run", "mine.py", "--tdf", "inf", "--out", "junit=junit.xml", "--out", "markdown=summary.md"]
    done = slownet(*words, cwd=tmp_path)
    after = datetime.datetime.now(datetime.UTC).replace(tzinfo=None)
    assert done.returncode == 1, done.stderr
    (suite,) = ET.parse(tmp_path / "junit.xml").iter("testsuite")
    assert before <= datetime.datetime.fromisoformat(suite.get("timestamp")) <= after
    assert 0 < float(suite.get("time")) <= (after - before).total_seconds()
    assert [suite.get(name) for name in ("tests", "failures", "errors")] == ["2", "1", "0"]
    assert (tmp_path / "summary.md").read_text().startswith("## waits: 1 of 2 claims supported, 1 refuted")


def test_a_folder_that_is_missing_is_said_before_the_run(tmp_path):
    (tmp_path / "mine.py").write_text(MINE)
    words = ["run", "mine.py", "--out", "junit=none/junit.xml"]
    done = slownet(*words, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("slownet: no folder ")
    assert not (tmp_path / "runs").exists()
