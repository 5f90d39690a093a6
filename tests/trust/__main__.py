"""`make trust`: tests whether verdicts, intervals and T0 hold under other load. Takes hours; not part of `make test`.

It prints one line per step, then each section's tables and figures next to their targets. Records and runs are kept in a
folder: started again on the same commit, an interrupted session continues with its next step, and more rounds add to the
existing ones. Exit status 1 if a figure misses its target or a step failed, 2 if files of the checkout changed during a step,
which then does not count.
"""

from __future__ import annotations

import argparse
import os
import platform
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import soak

from trust import aa, coverage, digits, exact, power, simulated, t0, verdicts
from trust.figures import Figure, Report
from trust.steps import Log, Options, Step

SECTIONS = {each.SECTION: each for each in (verdicts, t0, coverage, aa, power, exact, digits, simulated)}
STEPS = "steps.jsonl"
ENDS = {"failed": "FAILED: ", "refused": "refused: ", "said": ""}
"""Prefixes of the end of a step's line, by the key in its record."""


def main(words: Sequence[str] | None = None) -> int:
    chosen = arguments(words)
    for number in (signal.SIGINT, signal.SIGTERM):  # a background job of a shell ignores SIGINT
        signal.signal(number, signal.default_int_handler)
    commit = soak.commit()
    folder = (chosen.keep or soak.ROOT / "runs" / f"trust-{commit}").resolve()
    options = Options(folder, chosen.rounds, tuple(chosen.experiments), chosen.hogs, chosen.simulated)
    log = Log.read(folder / STEPS)
    sections = [SECTIONS[name] for name in chosen.sections or SECTIONS]
    print(f"{machine()}; records in {log.path}", flush=True)
    if changed := soak.git("status", "--porcelain"):
        print(f"the checkout has changes: {'; '.join(changed.splitlines())}", flush=True)
    try:
        for section in sections:
            measure(section, options, log)
    except KeyboardInterrupt:
        print("interrupted")
        tell(sections, options, log)
        return 130
    except soak.ChangedError:
        tell(sections, options, log)
        what = "files changed during a step, so it does not count; run it in a clone that nobody works in"
        print(f"{soak.ROOT}: {what}", file=sys.stderr)
        return 2
    return tell(sections, options, log)


def arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="trust", description=__doc__)
    processors = len(os.sched_getaffinity(0))
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=f"some of {', '.join(SECTIONS)} (all)")
    parser.add_argument("--rounds", type=int, default=10, help="number of rounds (%(default)s)")
    parser.add_argument("--experiments", type=str.split, default=[], metavar="'NAME ...'", help="only these (all)")
    parser.add_argument(
        "--hogs", type=int, default=processors, help="busy loops in addition to one memory hog (one per processor)"
    )
    parser.add_argument("--simulated", type=int, default=1000, help="simulated runs of each case (%(default)s)")
    parser.add_argument("--keep", type=Path, help="folder for records and runs (runs/trust-COMMIT)")
    chosen = parser.parse_args(words)
    if unknown := [name for name in chosen.sections if name not in SECTIONS]:
        parser.error(f"unknown section {', '.join(unknown)}: choose from {', '.join(SECTIONS)}")
    return chosen


def machine() -> str:
    """Describe this machine in a line."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.machine())
    return f"{os.cpu_count()} processors, {model}, Linux {platform.release()}"


def measure(section: ModuleType, options: Options, log: Log) -> None:
    """Take the section's steps that have no record yet. Raises ChangedError if files changed; that step is not recorded."""
    step: Step
    for step in section.steps(options, log):
        if log.has(step):
            continue
        began = soak.tree()
        record = step.take()
        if soak.tree() != began:
            raise soak.ChangedError
        log.append(record)
        said = next(f"{name}{record[key]}" for key, name in ENDS.items() if key in record)
        print(f"{step.section} {step.name} {step.number} ({record['seconds']:.0f} s): {said}", flush=True)


def tell(sections: Sequence[ModuleType], options: Options, log: Log) -> int:
    """Print the summary of all records, including earlier sessions'; return the exit status."""
    figures: list[Figure] = []
    for section in sections:
        report: Report = section.report(log, options)
        failed = log.failed(section.SECTION)
        print(f"\n{section.SECTION}{'' if report.figures or failed else ': nothing measured yet'}")
        for line in report.lines:
            print(f"  {line}")
        for each in failed:
            print(f"  FAILED: {each['name']} {each['number']}: {each['failed']}")
        mine = [*report.figures, *([Figure("steps that failed", str(len(failed)), "0", False)] if failed else [])]
        for each in mine:
            print(f"  {each}", flush=True)
        figures += mine
    judged = [each for each in figures if each.met is not None]
    print(f"\n{sum(each.met for each in judged)} of {len(judged)} figures meet their target")
    return int(any(each.met is False for each in figures))


if __name__ == "__main__":
    sys.exit(main())
