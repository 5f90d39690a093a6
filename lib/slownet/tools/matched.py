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
"""What only a shell understands: its characters, and a variable before the program."""
EXAMPLE = "'tps = ([0-9.]+)'"
UNITS = {"us": "us", "µs": "us", "ms": "ms", "s": "s", "sec": "s", "seconds": "s", "milliseconds": "ms", "%": "percent"}
"""Units after a number in a pattern, and how names of metrics end with them."""
_AFTER = re.compile(r"[)+?*]*(?:\\s|\s)?[*+?]?\s*([a-zµA-Z%/]+)")
_NAME = re.compile(r"\(\?P<\w+>")


@dataclass(frozen=True)
class Matched(Metrics):
    """Numbers that were found in a program's output.

    Attributes
    ----------
    command : tuple of str
        The command.
    raw : str
        Its output.
    values : mapping of str to tuple of float
        The numbers of each metric, in the order of the output.
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

    Parameters
    ----------
    host : Host
        The host that it runs on.
    command : str
        The program and its arguments as in a shell, by which it is run if it has pipes or variables.
    patterns : sequence of re.Pattern
        Regular expressions whose groups are named after metrics, as from `named`; all that is found counts.
    timeout : float
        Seconds for the command.

    Returns
    -------
    Matched
        The numbers by metric.

    Raises
    ------
    ToolError
        The program is missing, fails or takes longer than ``timeout``; a pattern finds nothing, or no number.
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


def named(pattern: str, unit: str = "") -> re.Pattern[str]:
    """Return a pattern whose groups are named after metrics.

    A group that is named ``(?P<latency_ms>[0-9.]+)`` keeps its name. A single one without a name is called after the text
    before it; its unit, if that is not given, is in the text behind it: ``latency average = ([0-9.]+) ms`` is
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
        if unit:
            what = f"a unit and names in the pattern '{pattern}'"
            raise ExperimentError(what, fix=f"let the names end with it: (?P<{next(iter(found.groupindex))}_{unit}>...)")
        return found
    if found.groups > 1:
        fix = "name each, as in (?P<p50_ms>[0-9.]+), or write (?:...) for those that are no numbers"
        raise ExperimentError(f"the pattern '{pattern}' has {found.groups} groups", fix=fix)
    return _with_name(pattern, unit)


def _with_name(pattern: str, unit: str) -> re.Pattern[str]:
    opening = next(each.start() for each in re.finditer(r"\\.|\[[^]]*\]|\((?!\?)", pattern) if each[0] == "(")
    before, inside = pattern[:opening], pattern[opening + 1 :]
    parts = re.findall(r"[A-Za-z0-9]+", re.sub(r"\\.|\(\?\w*[:=!<]*|\[[^]]*\]", " ", before))
    name = "_".join(parts).lower()[-48:].strip("_")
    after = _AFTER.match(inside[_closing(inside) :])
    ending = _ending(unit) or (UNITS.get(after[1], "") if after else "")
    whole = "_".join(filter(None, (name or "value", ending)))
    return re.compile(f"{before}(?P<{whole if whole[0].isalpha() else f'value_{whole}'}>{inside}", re.MULTILINE)


def _ending(unit: str) -> str:
    """Return how a metric's name ends with a unit."""
    found = UNITS.get(unit, unit).replace("/", "_per_").replace("%", "percent")
    if not re.fullmatch(r"\w*", found):
        raise ExperimentError(f"unclear unit '{unit}'", fix="write one such as ms, s, MB/s or %")
    return found


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
            texts = [each[name] for each in pattern.finditer(text) if each[name] is not None]
            if not texts:
                raise unread(f"nothing in the output matches {_shown(pattern)}", text, command)
            found[name] = (*found.get(name, ()), *(_number(each, pattern, text, command) for each in texts))
    return Matched(tuple(command), text, found)


def _number(found: str, pattern: re.Pattern[str], text: str, command: Sequence[str]) -> float:
    try:
        if math.isfinite(number := float(found)):
            return number
    except ValueError:
        pass
    raise complaint(f"{_shown(pattern)} finds {found[:40]!r}, which is no number", text, command)


def _shown(pattern: re.Pattern[str]) -> str:
    return f"the pattern '{_NAME.sub('(', pattern.pattern)}'"
