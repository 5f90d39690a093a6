"""The account of a cell of a run that has captures."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import combinations

from slownet.judge.records.result import RunData
from slownet.lab.run.outbox import Outbox, RefusedError
from slownet.links.packets.capture_file import MOST_BYTES
from slownet.model.errors import ExperimentError, ToolError, first_of, nearest
from slownet.model.options import Option
from slownet.model.sample import Sample, cell_in_words
from slownet.net import sleeping_calls
from slownet.net.sleeping_calls import SleepingCall
from slownet.waits import dissected, timers
from slownet.waits.account import Account, Cause
from slownet.waits.door import account
from slownet.waits.trace import HostCapture

ENCRYPTED = "encrypted: sizes and times only, for no key log (SSLKEYLOGFILE) was left"
COMMAND_MS = "command_ms"
"""The metric of a command's whole time, see `slownet.hypotheses.commanded`."""
_KEY_LOG = re.compile(r"[-.]keys(\.\w+)?$")
"""The names of key logs in `raw/`, of commands and of tools: 000-ran.keys, 004-handshake.keys.txt."""
SHORT_MS, SILENT = 2.0, 0.01
"""Least time, and part of that time: a command that spent more of both without packets gets a note. The start of a program
reads the clock a thousand times, a microsecond each, where the CPU is free."""


def sample_of(run: RunData, label: Mapping[str, str]) -> Sample:
    """Return the first sample of a cell, one with captures if there is any.

    Parameters
    ----------
    run : RunData
        The run.
    label : mapping of str to str
        Values of conditions, as in the run; those that are not named may be any.

    Raises
    ------
    ExperimentError
        The run has no such cell, several, or nothing was measured in it.
    """
    if not any(cell.samples for cell in run.cells):
        raise ExperimentError("nothing was measured in the run", str(run.directory), "measure it again")
    named = {name for cell in run.cells for name in _label(cell.samples)}
    for name in label:
        if name not in named:
            fix = nearest(name, sorted(named)) if named else "leave it out: the run has one cell"
            raise ExperimentError(f"the run varies no '{name}'", Option("cell"), fix)
    found = [cell.samples for cell in run.cells if label.items() <= _label(cell.samples).items()]
    labels = [_label(cell.samples) for cell in run.cells if cell.samples]
    if not found or not found[0]:
        for name, value in label.items():
            if value not in (values := {each[name] for each in labels if name in each}):
                raise ExperimentError(f"the run has no cell with {name} {value}", Option("cell"), nearest(value, values))
        raise ExperimentError(f"the run has no cell {cell_in_words(label)}", Option("cell"), f"it has {_listed(labels)}")
    if len(found) > 1:
        found = [each for each in found if _label(each) == label] or (found if label else found[-1:])
    if len(found) > 1:
        fix = f"name one of {_listed([_label(each) for each in found])}"
        raise ExperimentError(f"several cells have {cell_in_words(label)}", Option("cell"), fix)
    good = [each for each in found[0] if each.get("status") == "ok"] or list(found[0])
    return max(good, key=lambda each: (has_captures(each, "before"), has_captures(each)))  # the first of those


def _listed(labels: Sequence[Mapping[str, str]]) -> str:
    return first_of([cell_in_words(each) for each in labels], between="; ")


def _label(samples: Sequence[Sample]) -> dict[str, str]:
    return dict(samples[0]["cell"]) if samples else {}


def has_captures(sample: Sample, of: str = "host") -> bool:
    """Return whether a sample has captures of hosts; of "before": of what enters their queues."""
    return any(of in each for each in sample.get("captures") or ())


def of_sample(run: RunData, sample: Sample, client: str | None = None, *, whole: bool = False) -> Account:
    """Return the account of a sample that has captures. Raises SlownetError, see `slownet.waits.door.account`.

    The operation of a sample that measured a command is all that the command did, from its host.
    """
    if not client and (host := (sample.get("facts") or {}).get("host")) and COMMAND_MS in (sample.get("metrics") or {}):
        client, whole = str(host), True
    key = _key(run, sample, client, whole)
    if key not in _MADE:
        while len(_MADE) >= KEPT:
            del _MADE[next(iter(_MADE))]
        _MADE[key] = _made(run, sample, client, whole)
    return _MADE[key]


KEPT = 4
"""Accounts that are kept: a cell that is measured for its account has one in its report, too, by the same process."""
_MADE: dict[tuple[object, ...], Account] = {}


def _key(run: RunData, sample: Sample, client: str | None, whole: bool) -> tuple[object, ...]:
    """Return what an account depends on: the sample, its files as they are now, the clock, and the questions."""
    files_of = [(each["file"], each.get("before"), each.get("kernel")) for each in sample.get("captures") or ()]
    names = [name for each in files_of for name in each if name]
    outbox, files = Outbox(run.directory), []
    for name in names:
        with suppress(OSError, RefusedError):
            files.append((name, *outbox.version(name, MOST_BYTES)))
    facts = [run.facts.get(name) for name in ("cpu", "clock")]
    return str(run.directory), json.dumps(sample, sort_keys=True, default=str), *facts, *files, client, whole


def _made(run: RunData, sample: Sample, client: str | None, whole: bool) -> Account:
    captures = _captures(run, sample)
    lost = sum(each.get("dropped") or 0 for each in sample.get("captures") or ())
    keys = _keys(run, sample)
    asked = dissected.Messages(captures, keys)
    free = run.facts.get("cpu") == "free"
    made = account(captures, client, whole=whole, free=free, asked=asked, is_of_request=asked.is_of_request)
    if (program := _missed(sample, made)) is not None:
        with suppress(ToolError):  # it used no network: then what did is accounted for
            made = account(
                _captures(run, sample, program), client, whole=whole, free=free, asked=asked, is_of_request=asked.is_of_request
            )
    if calls := _calls(run, sample):
        made = timers.named(made, calls)
    notes = [*made.notes, *asked.notes]
    if lost:
        notes.append(f"the captures lack {lost} packets, for which the kernel had no room")
    if not keys and any(made.of(Cause.TLS)):
        notes.append(ENCRYPTED)
    if unknown := what_the_clock_hides(str(run.facts.get("clock")), made.clock_is_free):
        notes.append(unknown)
    for each in sample.get("captures") or ():
        if reason := each.get("obstacle"):
            notes.append(f"{each['interface']}: what enters its queue was not captured: {reason}")
    notes += _of_command(sample, made)
    return Account(made.operation, made.client, made.steps, made.beside, tuple(notes), made.clock_is_free)


def _captures(run: RunData, sample: Sample, between: tuple[int, int] = HostCapture.between) -> list[HostCapture]:
    """Return the captures of hosts, or the part between two times, in ns."""
    outbox = Outbox(run.directory)
    return [HostCapture.of_entry(each, outbox, between) for each in sample.get("captures") or () if "host" in each]


def _missed(sample: Sample, made: Account) -> tuple[int, int] | None:
    """Return the time of the last program that was measured, if an account is of a time in which none ran.

    A program that asks a server on its own host sends nothing itself. What the server then asks of others is on connections
    that others had opened, as a database's replicas do; what is last opened is of the servers' end.
    """
    programs = sample.get("programs") or []
    end = made.begin_ns + made.elapsed_ns
    if not programs or any(begin <= end and made.begin_ns <= until for begin, until in programs):
        return None
    begin, until = programs[-1]
    return begin, until


def what_the_clock_hides(clock: str, is_free: bool) -> str:
    """Return what an account cannot know on a clock; empty where the CPU is free. clock: "real", "virtual" or "exact"."""
    if is_free:
        return ""
    kind = "is real" if clock == "real" else "charges for CPU"
    return f"the clock {kind}: what a host computes and what it waits for look alike"


def _of_command(sample: Sample, made: Account) -> list[str]:
    """Return how a command ended, if not well, and its time without packets."""
    if error := sample.get("error"):
        return [error]
    found, whole = sample.get("facts") or {}, (sample.get("metrics") or {}).get(COMMAND_MS)
    notes = [f"the command ended with status {found['status']}: {found['complaint']}"] if found.get("status") else []
    if whole and (silent := whole["mean"] - made.elapsed_ns / 1e6) > max(SHORT_MS, SILENT * whole["mean"]):
        notes.append(
            f"the command ran {whole['mean']:,.4g} ms, {silent:,.4g} ms of it before its first packet or after its last"
        )
    return notes


def _keys(run: RunData, sample: Sample) -> bytes:
    """Return the key logs that tools have left, one after the other; nothing if they left none. Raises RefusedError."""
    names = [each for each in sample.get("raw") or () if _KEY_LOG.search(each)]
    return b"\n".join(Outbox(run.directory).read(each) for each in names)


def is_traced(sample: Sample) -> bool:
    """Return whether a sample has the sleeping calls of programs."""
    return any(each.endswith(sleeping_calls.FILE) for each in sample.get("raw") or ())


def _calls(run: RunData, sample: Sample) -> list[SleepingCall]:
    """Return the sleeping calls of programs, if they were traced. Raises SlownetError."""
    name = next((each for each in sample.get("raw") or () if each.endswith(sleeping_calls.FILE)), None)
    return sleeping_calls.of_lines(Outbox(run.directory).read(name).decode(errors="replace")) if name else []


def links_between(topology: Mapping[str, object]) -> dict[tuple[str, str], list[str]]:
    """Return the links on the shortest way between each two hosts of a run's topology, by their names in order."""
    links = topology.get("links")
    hosts = topology.get("hosts")
    if not isinstance(links, Mapping) or not isinstance(hosts, Sequence):
        return {}
    found = {}
    for one, other in combinations(sorted(map(str, hosts)), 2):
        if way := _way(links, one, other):
            found[one, other] = way
    return found


def _way(links: Mapping[str, Sequence[str]], one: str, other: str) -> list[str]:
    before: dict[str, tuple[str, str]] = {one: ("", "")}
    waiting = deque([one])
    while waiting and other not in before:
        here = waiting.popleft()
        for name, ends in links.items():
            if here in ends:
                there = str(ends[1] if ends[0] == here else ends[0])
                if there not in before:
                    before[there] = here, name
                    waiting.append(there)
    way: list[str] = []
    at = other
    while at in before and before[at][1]:
        way.append(before[at][1])
        at = before[at][0]
    return way[::-1]
