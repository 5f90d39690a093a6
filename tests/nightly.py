"""`make nightly`: runs the jobs that are too long for `make test`, each to its end even if others fail.

A job's output goes to a file of its own; when it last ran and how it ended goes to `nightly.json` in the same folder, so that a
job that fails or has not run for weeks is noticed: `make nightly-status` prints that. Exit status 1 if a job failed (with
`--status` also if it did not end or never ran), 130 after an interrupt.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

import soak

FOLDER = soak.ROOT / "runs" / "nightly"
RECORD = "nightly.json"
JOBS: Mapping[str, Sequence[str]] = {
    "commands": soak.make("test-commands"),
    "workflows": soak.make("test-workflows"),
    "compose-go": soak.make("test-compose-go"),
    "web-vitals": soak.make("test-web-vitals"),
    "tshark": soak.make("test-tshark"),
    "wide": soak.make("test-wide"),
    "report": soak.make("test-report"),
    "chromium": soak.make("test-chromium"),
    "experiments": soak.make("test-experiments"),
    "long": soak.make("test-long"),
    "theory": soak.make("test-theory"),
    "exact": soak.make("test-exact"),
    "examples": soak.make("examples"),
    "mininet": soak.make("test-mininet"),
    "walls": soak.make("walls"),
    "stock-kernel": soak.make("test-stock-kernel"),
    "vagrant": soak.make("test-vagrant"),
    "provision": soak.make("test-provision"),
    "kernels": soak.make("test-kernels"),
    "soak": (*soak.make("soak"), "ROUNDS=5", "WHOLE=1"),
    "trust": (*soak.make("trust"), "ROUNDS=3"),
}
"""The jobs, shortest first."""
PASSED, INTERRUPTED = "passed", "interrupted"
DAY_S = 86_400
ENDING = (signal.SIGINT, signal.SIGTERM)
OF_MAKE = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "ONLY", "ROUNDS", "WHOLE", "EXPERIMENTS")
"""Variables of the calling `make` that the jobs must not inherit: ONLY, for example, has another meaning there."""


@dataclass(frozen=True)
class Last:
    """A job's last run: times in seconds since 1970, the commit, and how it ended; ``ended`` and ``how`` are None while it
    runs, or if this program was killed."""

    began: float
    commit: str
    ended: float | None = None
    how: str | None = None


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="nightly", description=__doc__)
    parser.add_argument("jobs", nargs="*", metavar="JOB", help=f"only these of {', '.join(JOBS)}")
    parser.add_argument("--status", action="store_true", help="run nothing, only print when each job last ran and how it ended")
    parser.add_argument("--keep", type=Path, default=FOLDER, help="folder for the record and the outputs (runs/nightly)")
    options = parser.parse_args(words)
    if unknown := [each for each in options.jobs if each not in JOBS]:
        parser.error(f"unknown job '{unknown[0]}': choose from {', '.join(JOBS)}")
    names = options.jobs or list(JOBS)
    if options.status:
        return tell(names, options.keep)
    for number in ENDING:  # a background job of a shell ignores SIGINT
        signal.signal(number, signal.default_int_handler)
    try:
        for name in names:
            run(name, options.keep)
    except KeyboardInterrupt:
        tell(names, options.keep)
        return 130
    return tell(names, options.keep)


def run(name: str, folder: Path) -> None:
    """Run a job to its end, and record when it began and how it ended."""
    folder.mkdir(parents=True, exist_ok=True)
    last = Last(time.time(), soak.git("describe", "--always", "--abbrev=12", "--dirty").strip())
    record(folder, name, last)
    print(f"{name} ...", flush=True)
    how = INTERRUPTED
    try:
        with (folder / f"{name}.txt").open("wb") as output:
            with interrupts_held() as received:  # one that came before the process has a name would leave it running
                process = subprocess.Popen(
                    JOBS[name], cwd=soak.ROOT, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                    start_new_session=True, env={name: value for name, value in os.environ.items() if name not in OF_MAKE},
                )  # fmt: skip
            try:
                if received:
                    raise KeyboardInterrupt
                status = process.wait()
            finally:
                if process.poll() is None:
                    soak.end(process)
        how = PASSED if status == 0 else f"failed, status {status}"
    finally:
        record(folder, name, Last(last.began, last.commit, time.time(), how))


@contextmanager
def interrupts_held() -> Iterator[list[int]]:
    """Collect SIGINT and SIGTERM in the list instead of raising KeyboardInterrupt."""
    received: list[int] = []
    before = {number: signal.signal(number, lambda number, frame: received.append(number)) for number in ENDING}
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def read(folder: Path) -> dict[str, Last]:
    """Return the last run of each job."""
    path = folder / RECORD
    kept = json.loads(path.read_text()) if path.exists() else {}
    return {name: Last(**each) for name, each in kept.items()}


def record(folder: Path, name: str, last: Last) -> None:
    """Record one job in the file of all jobs; the file stays intact whenever this is killed."""
    known = read(folder) | {name: last}
    half = folder / f"{RECORD}.new"
    half.write_text(json.dumps({job: asdict(each) for job, each in known.items()}, indent=1) + "\n")
    os.replace(half, folder / RECORD)


def tell(names: Sequence[str], folder: Path) -> int:
    """Print a line for each job; return the exit status."""
    known, now = read(folder), time.time()
    for name in names:
        print(line(name, known.get(name), now, folder))
    return int(any(name not in known or known[name].how != PASSED for name in names))


def line(name: str, last: Last | None, now: float, folder: Path) -> str:
    """``soak          failed, status 1   2026-11-22 03:10 UTC   2 days ago, after 3.1 h   at 6a0da4dc3a1f``"""
    if last is None:
        return f"{name:<14}has not run here"
    began = datetime.fromtimestamp(last.began, UTC).strftime("%Y-%m-%d %H:%M UTC")
    how = last.how or "did not end, or is running"
    took = f", after {(last.ended - last.began) / 3600:.1f} h" if last.ended else ""
    days = int((now - last.began) // DAY_S)
    ago = "today" if not days else f"{days} day{'s' * (days > 1)} ago"
    seen = "" if last.how == PASSED else f"; see {folder / name}.txt"
    return f"{name:<14}{how:<26}{began}, {ago}{took}, at {last.commit}{seen}"


if __name__ == "__main__":
    sys.exit(main())
