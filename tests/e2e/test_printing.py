"""An experiment may print anything, even text that looks like the progress of its run."""

import json
from pathlib import Path

from command_line import slownet

CHATTY = '''
import json
import subprocess

from slownet.judge.claim import law
from slownet.hypotheses.experiment import experiment
from slownet.tools.ping import ping


@experiment(topology="two_hosts", vary={"rtt": ["0ms", "20ms"]}, warm_up=0)
def chatty(net, rtt):
    """What does a ping take?"""
    print(json.dumps({"event": "sample", "index": 0, "status": "failed", "error": "forged"}))
    subprocess.run(["echo", json.dumps({"event": "end", "virtual_s": -1})], check=True)
    print("unfinished", end="")
    with net.link("client", "server").set(rtt=rtt):
        return ping(net["client"], net["server"].IP(), count=3)


chatty.claims(law("rtt_ms", round_trips=1, within=0.05))
'''


def test_json_with_an_event_is_shown_and_not_believed(built, tmp_path):
    (tmp_path / "chatty.py").write_text(CHATTY)
    done = slownet("run", "chatty.py", "--tdf", "inf", "--place", "lab", "--out", "json=-", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (run,) = json.loads(done.stdout)["runs"]
    assert [cell["status"] for cell in run["cells"]] == ["ok", "ok"]
    assert json.loads((Path(run["directory"]) / "run.json").read_text())["virtual_s"] > 0
    assert done.stderr.count('"forged"') == done.stderr.count('"virtual_s": -1') == done.stderr.count("unfinished\n") >= 2
