"""`make trust`: do verdicts, intervals and T0 hold whatever else the machine does? Hours; no part of `make test`.

One line a step, then each section's tables and figures beside what is wanted. Records and runs are kept in a folder: what
was interrupted goes on with its next step when it is started again on the same commit, and more rounds add to those that
are there. Exit status 1 if a figure is not as wanted or a step failed, 2 if files of the checkout changed while a step
ran: it does not count, for nobody knows what it measured.
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

from trust import aa, coverage, power, simulated, t0, verdicts
from trust.figures import Figure, Report
from trust.steps import Log, Options, Step

SECTIONS = {each.SECTION: each for each in (verdicts, t0, coverage, aa, power, simulated)}
STEPS = "steps.jsonl"
ENDS = {"failed": "FAILED: ", "refused": "refused: ", "said": ""}
"""How a step's line ends."""


def main(words: Sequence[str] | None = None) -> int:
    chosen = arguments(words)
    for number in (signal.SIGINT, signal.SIGTERM):  # a shell's job in the background ignores the first
        signal.signal(number, signal.default_int_handler)
    commit = soak.commit()
    folder = (chosen.keep or soak.ROOT / "runs" / f"trust-{commit}").resolve()
    options = Options(folder, chosen.rounds, tuple(chosen.experiments), chosen.hogs, chosen.simulated)
    log = Log.read(folder / STEPS)
    sections = [SECTIONS[name] for name in chosen.sections or SECTIONS]
    print(f"{machine()}; records in {log.path}", flush=True)
    if changed := soak.git("status", "--porcelain"):
        print(f"the checkout is not as committed: {'; '.join(changed.splitlines())}", flush=True)
    try:
        for section in sections:
            measure(section, options, log)
    except KeyboardInterrupt:
        print("interrupted")
        tell(sections, options, log)
        return 130
    except soak.ChangedError:
        tell(sections, options, log)
        what = "changed while a step ran, which does not count; run it in a clone that nobody works in"
        print(f"{soak.ROOT}: {what}", file=sys.stderr)
        return 2
    return tell(sections, options, log)


def arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="trust", description=__doc__)
    processors = len(os.sched_getaffinity(0))
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=f"some of {', '.join(SECTIONS)} (all)")
    parser.add_argument("--rounds", type=int, default=10, help="how often everything is measured (%(default)s)")
    parser.add_argument("--experiments", type=str.split, default=[], metavar="'NAME ...'", help="only these (all)")
    parser.add_argument("--hogs", type=int, default=processors, help="busy loops beside one memory hog (one a processor)")
    parser.add_argument("--simulated", type=int, default=1000, help="simulated runs of each case (%(default)s)")
    parser.add_argument("--keep", type=Path, help="where records and runs are kept (runs/trust-COMMIT)")
    chosen = parser.parse_args(words)
    if unknown := [name for name in chosen.sections if name not in SECTIONS]:
        parser.error(f"no section {', '.join(unknown)}: there are {', '.join(SECTIONS)}")
    return chosen


def machine() -> str:
    """What a record of this machine begins with."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.machine())
    return f"{os.cpu_count()} processors, {model}, Linux {platform.release()}"


def measure(section: ModuleType, options: Options, log: Log) -> None:
    """The section's steps that have no record yet, each to its end. Raises ChangedError, of which no record is left."""
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
    """Prints the summary of all that was recorded, also in sessions before; returns the exit status."""
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
    print(f"\n{sum(each.met for each in judged)} of {len(judged)} figures as wanted")
    return int(any(each.met is False for each in figures))


if __name__ == "__main__":
    sys.exit(main())
