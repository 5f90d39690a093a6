"""Section `exact`: whether 1 % more CPU work, one question more and 1 ms of delay are found on the exact clock, and nothing
else is.

`changed/page.py` measures a page of a shop of two programs, as often as `--repeat 1%` takes. Each run is compared with the
first one as `slownet compare` does, with its default margin; and claims in it say that no page takes 0.5 % longer than in the
first one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from slownet.comparison.compare import COUNTED, compare
from slownet.comparison.outcome import BETTER, EQUAL, WORSE
from slownet.judge.claim import REFUTED, SUPPORTED
from slownet.judge.records import result
from trust.figures import Figure, Report, of, table
from trust.steps import CommandError, Log, Options, Record, Step, slownet

SECTION = "exact"
FILE = Path(__file__).parent / "changed" / "page.py"
TIME = "time_per_request_ms"
FIRST, SAME = "first", "the same"
TIMES_SAME = 10
"""Runs of the unchanged page a round."""
COUNTED_TO, TWICE = 50_000, "twice the counting"
WORK = "1 % more work"
CHANGES: Mapping[str, Mapping[str, str]] = {WORK: {}, "one question more": {"ARTICLES": "6"}, "1 ms of delay": {"RTT_MS": "11"}}
NO_LIMIT = (1000.0, 1000.0)


def steps(options: Options, log: Log) -> Iterator[Step]:
    yield Step(SECTION, FIRST, 1, partial(measure, options, {}, NO_LIMIT))
    yield Step(SECTION, TWICE, 1, partial(measure, options, {"COUNTED": f"{2 * COUNTED_TO}"}, NO_LIMIT))
    for number in range(1, options.rounds + 1):
        for name, given in CHANGES.items():
            yield Step(SECTION, name, number, partial(compared, options, log, name, given))
        for again in range(TIMES_SAME * (number - 1), TIMES_SAME * number):
            yield Step(SECTION, SAME, again + 1, partial(compared, options, log, SAME, {}))


def measure(options: Options, given: Mapping[str, str], limits: Sequence[float]) -> dict[str, Any]:
    """Measure the page with some variables. Limits are texts of one length: another one would move the program's memory."""
    said = {**given, "LIMITS": " ".join(f"{limit:010.4f}ms" for limit in limits)}
    words = [word for name, value in said.items() for word in ("--env", f"{name}={value}")]
    ((seconds, found),) = slownet(["run", FILE, "--repeat", "1%", "--out", "json=-", "--runs", options.runs / SECTION, *words])
    (run,) = found["runs"]
    means = [cell["metrics"][TIME]["mean"] for cell in run["cells"]]
    repetitions = max(cell["repetitions"] for cell in run["cells"])
    verdicts = [claim["verdict"] for claim in run["claims"]]
    record = {"directory": run["directory"], "means": means, "repetitions": repetitions, "verdicts": verdicts}
    return {**record, "seconds": round(seconds, 3), "said": f"{means}, {repetitions} repetitions"}


def more_work(log: Log) -> dict[str, str]:
    """Return the variable that makes a page near by take 1 % more work."""
    once, twice = (_taken(log, name)["means"][0] for name in (FIRST, TWICE))
    return {"COUNTED": f"{round(COUNTED_TO * (1 + 0.01 * once / (twice - once)))}"}


def _taken(log: Log, name: str) -> Record:
    """Return the record of a step that others build on. Raises CommandError if it has failed."""
    for each in log.of(SECTION):
        if each["name"] == name:
            return each
    raise CommandError(f"the step '{name}' failed")


def compared(options: Options, log: Log, name: str, given: Mapping[str, str]) -> dict[str, Any]:
    """Measure the page after a change, and compare it with the first one."""
    first = _taken(log, FIRST)
    record = measure(options, more_work(log) if name == WORK else given, [mean * (1 + COUNTED) for mean in first["means"]])
    found = compare(*(result.load(each["directory"]) for each in (first, record)), None)
    claimed = REFUTED if REFUTED in record["verdicts"] else SUPPORTED if {*record["verdicts"]} == {SUPPORTED} else "open"
    outcome = {"word": found.outcome.word, "status": found.status, "claimed": claimed}
    return record | outcome | {"said": f"{found.outcome}; the claims are {claimed}"}


def report(log: Log, options: Options) -> Report:
    records = [each for each in log.of(SECTION) if each["name"] not in (FIRST, TWICE)]
    names = [name for name in (*CHANGES, SAME) if any(each["name"] == name for each in records)]
    rows = [_row(name, [each for each in records if each["name"] == name]) for name in names]
    figures = [figure for name in names for figure in _figures(name, [each for each in records if each["name"] == name])]
    return Report(table(("change", "compare", "claims", "repetitions"), rows), tuple(figures))


def _row(name: str, records: Sequence[Record]) -> list[str]:
    counts = (Counter(each[key] for each in records) for key in ("word", "claimed"))
    said = [", ".join(f"{count} {word}" for word, count in found.items()) for found in counts]
    return [name, *said, f"{max(each['repetitions'] for each in records)}"]


def _figures(name: str, records: Sequence[Record]) -> Iterator[Figure]:
    word, claimed = (EQUAL, SUPPORTED) if name == SAME else (WORSE, REFUTED)
    for what, right in (
        ("compare", sum(each["word"] == word for each in records)),
        ("claims", sum(each["claimed"] == claimed for each in records)),
    ):
        yield Figure(
            f"{name}: {what} says {word if what == 'compare' else claimed}",
            of(right, len(records)),
            "all",
            right == len(records),
        )
    if name == SAME:
        wrong = sum(each["word"] in (BETTER, WORSE) or each["status"] != 0 for each in records)
        yield Figure(f"{name}: another exit status than 0", of(wrong, len(records)), "0", wrong == 0)
