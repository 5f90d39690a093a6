"""`slownet.run` in programs: interrupted and continued, and in a thread."""

import json
import signal
import subprocess
import sys

from conftest import wait_for_a_sample

PROGRAM = """
import json, sys
import slownet
try:
    run = slownet.run("pages.py", tdf="inf")
except KeyboardInterrupt as error:
    print(json.dumps(error.__notes__))
    sys.exit(3)
"""
CONTINUED = """
import json, sys
from concurrent.futures import ThreadPoolExecutor
import slownet
with ThreadPoolExecutor(1) as pool:  # a thread gets no signals
    run = pool.submit(slownet.run, resume=sys.argv[1]).result()
same = slownet.load(sys.argv[1]).claims == run.claims
print(json.dumps({"supported": run.supported, "rtt_ms": sorted(set(run.frame()["rtt_ms"])), "same": same}))
"""


def test_an_interrupt_keeps_the_samples_and_says_how_to_continue(pages):
    def python(code, *words):
        command = [sys.executable, "-W", "error", "-c", code, *words]
        return subprocess.Popen(command, cwd=pages.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    program = python(PROGRAM)
    samples = wait_for_a_sample(pages.folder, program)
    program.send_signal(signal.SIGINT)
    out, errors = program.communicate(timeout=120)
    assert (program.returncode, errors) == (3, "")
    (note,) = json.loads(out)
    assert note.endswith(f"of 16 measurements of pages are saved. Continue with slownet.run(resume='{samples.parent}')")
    pages.go_on()
    again = python(CONTINUED, str(samples.parent))
    out, errors = again.communicate(timeout=300)
    assert again.returncode == 0, errors
    assert json.loads(out) == {"supported": True, "rtt_ms": [0.0, 20.0, 30.0, 50.0], "same": True}
