"""Measures which programs give the same numbers again when the CPU is free; `make docs-figures` runs it.

    python docs/repeats.py

Each question is asked twice with --tdf inf. docs/figures/repeats.json has, by program, the largest relative difference of a
metric's mean between the two.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

RESULT = Path(__file__).parent / "figures/repeats.json"
SLOWNET = (sys.executable, "-m", "slownet.cli")
QUESTION = """
question = "Does it repeat?"
topology = "{topology}"
{service}
tool = "{tool}"

[options]
{options}

[conditions]
link = ["client", "{end}"]
rtt = ["1ms", "20ms"]

[[prediction]]
claim = "grows"
metric = "{metric}"
"""
WEB, PAIR = {"topology": "client_web_db", "end": "switch"}, {"topology": "two_hosts", "end": "server"}
TIME = "time_per_request_ms"
ASKED: Mapping[str, Mapping[str, str]] = {
    "nginx, asked by ab": WEB | {"service": 'service = "nginx"', "tool": "ab", "options": "requests = 20", "metric": TIME},
    "nginx, asked by wget": WEB | {"service": 'service = "nginx"', "tool": "wget", "options": "", "metric": "seconds"},
    "ping": PAIR | {"service": "", "tool": "ping", "options": 'to = "server"\ncount = 10', "metric": "rtt_ms"},
    "WordPress, asked by ab": WEB
    | {"service": 'service = "wordpress"', "tool": "ab", "options": "requests = 20", "metric": TIME},
    "MariaDB, asked by sysbench": PAIR
    | {
        "service": 'service = "mariadb"',
        "tool": "sysbench",
        "options": "transactions = 50",
        "metric": "latency_avg_ms",
    },
    "iperf3 with cubic": PAIR | {"service": "", "tool": "iperf3", "options": "seconds = 2\nomit = 0", "metric": "mbit_per_s"},
}
"""What is asked in a hypothesis file, by the name that the page shows."""
RUN: Mapping[str, str] = {
    "slownet's load generator, wrk and ab against a server that stalls": "coordinated_omission",
    "Redis, a consumer and MariaDB": "sync_pipeline",
}
"""Experiments that are asked as they are."""


def means(*words: str | Path) -> dict[str, float]:
    """Run a command; return the mean of each metric in each cell, nothing if the watchdog ended it.

    A refuted claim is none of our business.
    """
    done = subprocess.run([*SLOWNET, *words, "--tdf", "inf", "--out", "json=-"], capture_output=True, text=True, check=False)
    if "clock stood still" in done.stderr:
        return {}
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(map(str, words))}: {done.stderr}")
    found: dict[str, float] = {}
    for run in json.loads(done.stdout)["runs"]:
        for number, cell in enumerate(run["cells"]):
            found |= {f"{number} {name}": summary["mean"] for name, summary in cell["metrics"].items()}
    return found


def difference(first: Mapping[str, Any], second: Mapping[str, Any]) -> float | None:
    """Return the largest relative difference of two runs' numbers; None if the watchdog ended one of them."""
    if not first or not second:
        return None
    assert first.keys() == second.keys()
    return max(abs(first[name] - second[name]) / (abs(first[name]) or 1.0) for name in first)


def main() -> None:
    """Ask everything twice."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        file, runs = Path(folder, "asked.toml"), Path(folder, "runs")
        for name, asked in ASKED.items():
            file.write_text(QUESTION.format(**asked))
            found[name] = difference(*(means("check", file, "--runs", runs) for _ in range(2)))
            print(found[name], name, flush=True)
        for name, experiment in RUN.items():
            words = ("run", experiment, "--runs", runs, "--repeat", "1")
            found[name] = difference(*(means(*words) for _ in range(2)))
            print(found[name], name, flush=True)
    RESULT.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
