"""Any program on a host, and numbers that regular expressions find in what it prints."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from slownet.judge.measured import Metrics
from slownet.model.errors import ExperimentError, ToolError
from slownet.net.output import complaint, unread
from slownet.net.process import Host
from slownet.net.tool import run
from slownet.tools.numbers import Metric, series, single

_OF_A_SHELL = re.compile(r"[|&;<>()$`*?~\n]|^\w+=")
"""Syntax that only a shell understands: its characters, and a variable before the program."""
EXAMPLE = "'tps = ([0-9.]+)'"
UNITS = {"us": "us", "µs": "us", "ms": "ms", "s": "s", "sec": "s", "seconds": "s", "milliseconds": "ms", "%": "percent"}
"""Units after a number in a pattern, and how names of metrics end with them."""
SECONDS = {
    "ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "usec": 1e-6, "ms": 1e-3, "msec": 1e-3, "milliseconds": 1e-3, "s": 1.0,
    "sec": 1.0, "secs": 1.0, "second": 1.0, "seconds": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0,
}  # fmt: skip
"""Units of time that programs print."""
OF_METRICS = {"_ns": 1e-9, "_us": 1e-6, "_ms": 1e-3, "_s": 1.0}
"""The suffixes of metrics that are times, and the seconds of their unit; ``_per_s`` is not one."""
_SIZES = re.compile(r"[kmgtp]?i?(?:b|bytes|bits?|bps)(?:/s(?:ec)?|ps)?", re.IGNORECASE)
"""Units of sizes and rates, of which a K may be 1000 or 1024."""
_UNIT = re.compile(r"(?P<space>[ \t]?)(?P<unit>[A-Za-zµμ]+(?:/s(?:ec)?)?)")
_DURATION = re.compile(r"(?:\d+(?:\.\d*)?(?:h|ms|us|µs|μs|ns|min|m|s))+(?![A-Za-zµμ%])")
"""Go's format of times: 1m30.5s."""
_AFTER = re.compile(r"[)+?*]*(?:\\s|\s)?[*+?]?\s*([a-zµA-Z%/]+)")
_NAME = re.compile(r"\(\?P<\w+>")


@dataclass(frozen=True)
class Matched(Metrics):
    """Numbers that were found in a program's output.

    command: the command.
    raw: its output.
    values: the numbers of each metric, in the order of the output.
    """

    command: tuple[str, ...]
    raw: str
    values: Mapping[str, tuple[float, ...]]

    def metrics(self) -> dict[str, Metric]:
        """Return mean, sample standard deviation and values of each metric. A single value has no deviation."""
        return {
            name: single(found[0], 1) if len(found) == 1 else series(found) for name, found in self.values.items()
        }  # fmt: skip


def matched(host: Host, command: str, patterns: Sequence[re.Pattern[str]], timeout: float = 3600.0) -> Matched:
    """Run a command on a host and find numbers in its output.

    host: the host that it runs on.
    command: the program and its arguments as in a shell, by which it is run if it has pipes or variables.
    patterns: regular expressions whose groups are named after metrics, as from `named`; all that is found counts.
    timeout: seconds for the command.
    returns: the numbers by metric.
    Raises ToolError: the program is missing, fails or takes longer than ``timeout``; a pattern finds nothing, or no number.
    """
    done = run(host, words(command), timeout)
    try:
        return parse(done.raw, patterns, done.argv)
    except ToolError as error:
        raise ToolError(error.what, f"host '{host.name}'", error.fix, raw=error.raw) from error


def words(command: str) -> list[str]:
    """Return a command's words. Raises ExperimentError if they are unclear."""
    if _OF_A_SHELL.search(command):
        return ["sh", "-c", command]
    try:
        found = shlex.split(command)
    except ValueError as error:
        raise ExperimentError(f"unclear command: {error}", command, "quote as in a shell") from error
    if not found:
        raise ExperimentError("the command is empty", fix="write one such as 'pgbench -h db -t 100'")
    return found


def named(pattern: str) -> re.Pattern[str]:
    """Return a pattern whose groups are named after metrics.

    A group that is named ``(?P<latency_ms>[0-9.]+)`` keeps its name. A single one without a name is called after the text
    before it; its unit is in the text behind it: ``latency average = ([0-9.]+) ms`` is
    ``latency_average_ms``. Raises ExperimentError.
    """
    try:
        found = re.compile(pattern, re.MULTILINE)
    except (re.error, OverflowError) as error:
        raise ExperimentError(
            f"unclear pattern '{pattern}': {error}", fix=f"write a regular expression like {EXAMPLE}"
        ) from error
    if not found.groups:
        raise ExperimentError(f"the pattern '{pattern}' has no group", fix=f"put the number in parentheses, as in {EXAMPLE}")
    if found.groups == len(found.groupindex):
        return found
    if found.groups > 1:
        fix = "name each, as in (?P<p50_ms>[0-9.]+), or write (?:...) for those that are no numbers"
        raise ExperimentError(f"the pattern '{pattern}' has {found.groups} groups", fix=fix)
    return _with_name(pattern)


def _with_name(pattern: str) -> re.Pattern[str]:
    opening = next(each.start() for each in re.finditer(r"\\.|\[[^]]*\]|\((?!\?)", pattern) if each[0] == "(")
    before, inside = pattern[:opening], pattern[opening + 1 :]
    parts = re.findall(r"[A-Za-z0-9]+", re.sub(r"\\.|\(\?\w*[:=!<]*|\[[^]]*\]", " ", before))
    name = "_".join(parts).lower()[-48:].strip("_")
    after = _AFTER.match(inside[_closing(inside) :])
    ending = UNITS.get(after[1], "") if after else ""
    whole = "_".join(filter(None, (name or "value", ending)))
    return re.compile(f"{before}(?P<{whole if whole[0].isalpha() else f'value_{whole}'}>{inside}", re.MULTILINE)


def _closing(inside: str) -> int:
    """Return where the group ends that the text is inside of."""
    depth = 1
    for each in re.finditer(r"\\.|\[\]?[^]]*\]|[()]", inside):
        depth += {"(": 1, ")": -1}.get(each[0], 0)
        if not depth:
            return each.start()
    return len(inside)


def parse(text: str, patterns: Sequence[re.Pattern[str]], command: Sequence[str] = ()) -> Matched:
    """Return the numbers that patterns with named groups find. Raises ToolError that names the pattern that finds nothing."""
    found: dict[str, tuple[float, ...]] = {}
    for pattern in patterns:
        for name in pattern.groupindex:
            matches = [each for each in pattern.finditer(text) if each[name] is not None]
            if not matches:
                raise unread(f"nothing in the output matches {_shown(pattern)}", text, command)
            found[name] = (*found.get(name, ()), *(_number(each, name, command) for each in matches))
    return Matched(tuple(command), text, found)


def _number(match: re.Match[str], name: str, command: Sequence[str]) -> float:
    """Return the number of a group in the unit that its metric's name ends with.

    Programs such as wrk print 800.00us, 40.00ms and 2.20s, each with the unit that suits it. Raises ToolError.
    """
    text, found = match.string, match[name]
    wanted = None if name.endswith("_per_s") else next((each for end, each in OF_METRICS.items() if name.endswith(end)), None)
    duration = _DURATION.match(text, match.start(name))
    if wanted and duration and duration.end() >= match.end(name):  # of one part, 40.00ms, or of several, 1m30.5s
        return sum(float(number) * SECONDS[unit] for number, unit in _parts(duration[0])) / wanted
    try:
        number = float(found)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise complaint(f"{_shown(match.re)} finds {found[:40]!r}, which is not a number", text, command)
    printed = _UNIT.match(text, match.end(name))
    return number * _factor(match, name, printed, wanted, command) if printed else number


def _parts(duration: str) -> list[tuple[str, str]]:
    return re.findall(r"([\d.]+)([a-zµμ]+)", duration)


def _factor(match: re.Match[str], name: str, printed: re.Match[str], wanted: float | None, command: Sequence[str]) -> float:
    """Return by what a number is multiplied that is printed with a unit. Raises ToolError for one that may change unseen."""
    unit, attached = printed["unit"], not printed["space"]
    if wanted:
        return SECONDS[unit] / wanted if unit in SECONDS else 1.0
    what = f"{_shown(match.re)} finds {match[name]}{printed[0]}, and the metric is called {name}"
    if unit in SECONDS and attached and not name.endswith("_per_s"):
        raise complaint(
            f"{what}: times are printed in changing units: name one in the pattern, as in (?P<{name}_ms>...)",
            match.string,
            command,
        )
    size = _SIZES.fullmatch(unit)
    if size and attached and not _ends_with_size(name, unit):
        how = f"have the program print one unit, and name it in the pattern, as in (?P<{name}_mb>...)"
        raise complaint(f"{what}: sizes are printed in changing units: {how}", match.string, command)
    return 1.0


def _ends_with_size(name: str, unit: str) -> bool:
    """Return whether a metric's name ends with a unit of a size: ``mb_per_s`` with MB and with MB/s."""
    words = unit.lower().removesuffix("/sec").removesuffix("/s")
    return name.lower().removesuffix("_per_s").removesuffix("_per_sec").rpartition("_")[2] == words


def _shown(pattern: re.Pattern[str]) -> str:
    return f"the pattern '{_NAME.sub('(', pattern.pattern)}'"
