"""The systems that are hunted in examples, each under a schedule that its page shows."""

import json
import shutil
from pathlib import Path

import pytest
from command_line import slownet

EXAMPLES = Path(__file__).parents[2] / "examples"
CRASH = '"4s" = "crash primary"\n"4.5s" = "start primary"'
FAILOVER = '"2s" = "cut replica1 from primary"\n"4s" = "kill primary"\n"9s" = ["start primary", "heal"]'


def replay(name, steps, folder, **variables):
    """Replay a schedule, and return the status and what was printed."""
    (folder / "faults.toml").write_text(f"[faults]\n{steps}\n")
    given = [word for pair in variables.items() for word in ("--env", "=".join(pair))]
    done = slownet("hunt", "replay", "faults.toml", str(EXAMPLES / "faults" / name), *given, cwd=folder)
    assert "boot 1: the first history" in done.stdout, done.stdout + done.stderr
    return done.returncode, done.stdout


@pytest.mark.parametrize(
    ("waits_for", "steps", "lost"),
    [
        ("off", CRASH, True),
        pytest.param("local", FAILOVER, True, marks=pytest.mark.long),
        pytest.param("on", FAILOVER, False, marks=pytest.mark.long),
    ],
)
def test_postgresql_loses_acknowledged_rows_if_a_commit_does_not_wait(built, tmp_path, waits_for, steps, lost):
    status, printed = replay("failover.py", steps, tmp_path, SYNCHRONOUS_COMMIT=waits_for)
    assert (status, "acknowledged inserts lost" in printed) == (int(lost), lost), printed


def test_a_pool_waits_as_long_as_timers_of_linux_say(built, tmp_path):
    shutil.copy(EXAMPLES / "faults/dead_connections.py", tmp_path)
    done = slownet(
        "run", "dead_connections.py", "--repeat", "1", "--out", "json=-", cwd=tmp_path
    )  # too few for verdicts: status 1
    (run,) = json.loads(done.stdout)["runs"]
    waited = {each["condition"]["connection"]: each["metrics"]["waited_s"]["mean"] for each in run["cells"]}
    assert 928.7 <= waited["Linux's defaults"] <= 948.3
    assert 928.7 <= waited["keepalives"] <= 948.3
    assert 30.2 <= waited["tcp_user_timeout"] <= 30.7


PAUSE = '"0.1s" = "pause server"\n"0.6s" = "resume server"'
RESTART = '"20s" = "kill server"\n"21s" = "start server"'


@pytest.mark.parametrize(
    ("retries", "steps", "lasts"),
    [("immediate", PAUSE, True), ("budget", PAUSE, False), ("immediate", f"{PAUSE}\n{RESTART}", False)],
)
def test_a_storm_of_retries_outlasts_a_pause_unless_they_are_few_or_the_server_restarts(built, tmp_path, retries, steps, lasts):
    status, printed = replay("retries.py", steps, tmp_path, RETRIES=retries)
    assert (status, "a client was not served again" in printed) == (int(lasts), lasts), printed
