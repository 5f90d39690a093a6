"""Measures entries where the network is, in a lab: `python -m slownet.costs.inside JOB`.

JOB is a file of JSON: {"warm": rtt, "rtts": [rtt, ...], "servers": [{server, "items": [item, ...]}, ...]}, where an item has
"index", "argv", "code", "link", "env", "operations" with name, run and before. With "accounts": [rtt, ...] each item is done
with all packets captured, too, at these until its accounts have the round trips that its times have. Events go to standard
output (see `slownet.lab.run.events`): "item" with index before an item, "seconds" with index (see `STEP`), "accounts" with
index and operations, "failed" with index and a line, and at last "end" with virtual_s, or "error" with a line.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from statistics import mean
from typing import Any

from slownet.costs.judging import CAPTURED, STEP, WITHIN, slopes
from slownet.costs.served import serving
from slownet.lab.host import owner
from slownet.lab.run.events import tell
from slownet.model.errors import ServiceError, SlownetError, ToolError
from slownet.net.network import Network
from slownet.net.tool import run
from slownet.services.service import Service
from slownet.topologies import TwoHosts
from slownet.waits.account import Cause
from slownet.waits.account_text import SHORT_NS
from slownet.waits.blocks import Block, blocks
from slownet.waits.live import Captured

# The causes of an operation's round trips, from the packets of one more time: by the account of waits.


def account_of(captured: Captured, begin: int, end: int) -> dict[str, Any]:
    """Return the round trips ("trips") of the time between two instants in ns since 1970, and what they were ("parts").

    Nothing was sent, or nothing answered: 0 and an empty list.
    """
    try:
        account = captured.made((begin, end))
    except SlownetError:  # no packets, or no answer
        return {"trips": 0, "parts": []}
    parts = [_text(each) for each in blocks(account, SHORT_NS)]
    return {"trips": len(list(account.trips())) / 2, "parts": [each for each in parts if each]}


def _text(block: Block) -> str:
    """Return a block as text: "2 x question and answer: 47, 60, 30, 5 bytes"; in parentheses if nothing crosses."""
    if block.cause in (Cause.SERIALISATION, Cause.QUEUE):
        return ""
    many = f"{block.round_trips:g} x " if block.round_trips not in (0, 1) else ""
    sizes = ", ".join(str(each.size) for each in block.steps if each.trip and each.size)
    detail = f" ({block.detail})" if block.detail and block.round_trips else ""
    text = f"{many}{block.cause}{detail}{f': {sizes} bytes' if sizes else ''}"
    return text if block.round_trips else f"({text})"


LINE = re.compile(r"^slownet-cost (\S+) ([0-9.]+(?:e-?[0-9]+)?)(?: ([0-9.]+))?$", re.MULTILINE)
"""A line that a client program prints for each operation: its name, its seconds, and when it began, in seconds since 1970."""
READING_NS = 1_000
"""A reading of a clock at free CPU, and the last digit of a begin, which client programs cut off behind the us."""
ROUNDING_NS = 5_000
"""More than an operation's seconds and begin lose, which are rounded to a us each."""
ENDING_NS = 100_000
"""More than the threads of a client program take from the last answer to the reading of a clock, at free CPU."""
LIMIT_S = 900.0
Item = dict[str, Any]


def main(argv: list[str]) -> int:
    """Run the job; return the exit status, 2 after an error."""
    job = json.loads(Path(argv[0]).read_text())
    began = time.monotonic()
    logs = Path(tempfile.mkdtemp(prefix="costs-", dir=owner.directory()))
    try:
        with Network(TwoHosts) as net:
            for server in job["servers"]:
                measure(net, server, [job["warm"], *job["rtts"]], logs, job.get("accounts", ()))
    except SlownetError as error:
        tell("error", line=error.line)
        return 2
    finally:
        shutil.rmtree(logs, ignore_errors=True)
    tell("end", virtual_s=round(time.monotonic() - began, 6))
    return 0


def measure(net: Network, server: Mapping[str, Any], rtts: list[int], logs: Path, accounts_at: Sequence[int] = ()) -> None:
    """Start a server and measure its items at each round trip; the first is not recorded. accounts_at: those of accounts."""
    failed: dict[int, str] = {}
    taken: dict[int, dict[int, Mapping[str, float]]] = {item["index"]: {} for item in server["items"]}
    shown: dict[int, dict[str, Any]] = {item["index"]: {} for item in server["items"]}

    def left() -> list[Item]:
        return [item for item in server["items"] if item["index"] not in failed]

    try:
        with serving(net["server"], server, logs) as (served, service):
            for number, rtt in enumerate(rtts):
                with net.link("client", "server").set(rtt=f"{rtt}ms"):
                    for item in left():
                        taken[item["index"]][rtt] = _take(net, item, served, rtt if number else None, failed)
                        _blame(service, item["index"], failed)
            for number, rtt in enumerate(accounts_at):
                with net.link("client", "server").set(rtt=f"{rtt}ms"):
                    for item in left():
                        if not number:
                            tell("item", index=item["index"] * STEP + CAPTURED)
                        _account(net, item, served, taken[item["index"]], shown[item["index"]])
    except (ServiceError, ToolError) as error:
        line = _of_server(error) if isinstance(error, ServiceError) else error.line
        failed |= {item["index"]: line for item in left()}
    for index, line in failed.items():
        tell("failed", index=index, line=line)
    for index, operations in ((index, found) for index, found in shown.items() if found):
        tell("accounts", index=index, operations=operations)


def _blame(service: Service, index: int, failed: dict[int, str]) -> None:
    """If an item failed and its server has ended, let that be the reason: the client saw only what follows from it."""
    if index in failed and not service.running:
        failed[index] = _of_server(service.error(f"{service.name} ended while it was measured"))


def _of_server(error: ServiceError) -> str:
    """Return a server's failure with the last line of its log, which is gone with the lab."""
    last = error.log.strip().rpartition("\n")[2].strip()
    return ServiceError(error.what, error.where, f"its log ends with: {last}" if last else "its log is empty").line


def _take(
    net: Network, item: Item, served: Mapping[str, str], rtt: int | None, failed: dict[int, str]
) -> Mapping[str, float]:  # fmt: skip
    """Do an item and return the seconds of its operations; if it fails, note why and return none."""
    tell("item", index=item["index"] * STEP + (rtt or 0))
    try:
        seconds = {name: each.seconds for name, each in _timed(net, item, served).items()}
    except (ToolError, OSError) as error:
        failed[item["index"]] = error.line if isinstance(error, ToolError) else str(error)
        return {}
    if rtt is not None:
        tell("seconds", index=item["index"] * STEP + rtt, seconds=seconds)
    return seconds


def _account(
    net: Network, item: Item, served: Mapping[str, str], taken: Mapping[int, Mapping[str, float]], shown: dict[str, Any]
) -> None:  # fmt: skip
    """Do an item with all packets captured, unless each operation has shown the round trips that its times have.

    At one delay a way of more round trips may take as long as one with a timer, and what runs side by side takes another course
    at times. What fails was measured before, and only has no account. taken: by round trip, the seconds of operations; shown:
    their accounts; lacking ones are added.
    """
    if shown and all(_agrees(one, name, taken) for name, one in shown.items()):
        return
    with suppress(ToolError, OSError), Captured(net, "client") as captured:
        done = _timed(net, item, served)
        captured.stop()
        for name, each in done.items():
            if name not in shown or not _agrees(shown[name], name, taken):
                shown[name] = _shown(captured, each)


def _agrees(account: Mapping[str, Any], name: str, taken: Mapping[int, Mapping[str, float]]) -> bool:
    """Return whether an account of an operation has the round trips that its seconds have."""
    trips = mean(slopes({rtt: seconds[name] for rtt, seconds in taken.items()}))
    return bool(abs(account["trips"] - trips) <= WITHIN)


@dataclass(frozen=True)
class _Timed:
    """An operation that was done: its seconds, and its begin, its end and the latest one, in ns since 1970."""

    seconds: float
    begin_ns: int
    end_ns: int
    latest_ns: int


def _shown(captured: Captured, done: _Timed) -> dict[str, Any]:
    """Return the account of an operation until its latest end; until its end if what came next is in it, without its answer."""
    found = account_of(captured, done.begin_ns, done.latest_ns)
    return found if found["parts"] and found["trips"] % 1 == 0 else account_of(captured, done.begin_ns, done.end_ns)


def _by_client(found: Sequence[tuple[float, int]]) -> list[_Timed]:
    """Return operations that a client program timed, from their seconds and their begins in ns since 1970, in their order.

    The answer to what was asked before may have come at the instant when the clock was read; the operation's first packet
    comes one reading later. Its last answer may come after its seconds have passed, but not after the next operation's begin.
    """
    begins = [began + READING_NS for _, began in found]
    timed = []
    for (seconds, _), begin in zip(found, begins, strict=True):
        taken = begin + int(seconds * 1e9)
        after = min((other - 1 for other in begins if other > begin), default=taken + ENDING_NS)
        end, latest = (max(begin, min(taken + more, after)) for more in (ROUNDING_NS, ENDING_NS))
        timed.append(_Timed(seconds, begin, end, latest))
    return timed


def _timed(net: Network, item: Item, served: Mapping[str, str]) -> dict[str, _Timed]:
    """Do an item and return each of its operations by name. Raises ToolError."""
    with _folder(item) as folder:
        env = {
            **served, "HOME": str(folder), "TMP": str(folder), "CLIENT": net["client"].IP(),
            "PYTHONPYCACHEPREFIX": "/tmp/slownet-costs-bytecode", "PYTHONDONTWRITEBYTECODE": "", **item["env"],
        }  # fmt: skip
        if not item["argv"]:
            return dict(_commands(net, item, env))
        done = run(net["client"], ["sh", "-ec", f'cd "$TMP"; exec {item["argv"]}'], LIMIT_S, env=env)
    found = LINE.findall(done.stdout)
    asked, named = [each["name"] for each in item["operations"]], [name for name, *_ in found]
    if sorted(asked) != sorted(named):
        missing = ", ".join(sorted(set(asked) - set(named))) or "one twice"
        fix = "let it time each operation once"
        raise ToolError(f"the client program did not time its operations: {missing}", fix=fix, raw=done.raw)
    timed = _by_client([(float(seconds), _ns(began)) for _, seconds, began in found])
    return dict(zip(named, timed, strict=True))


def _ns(seconds: str) -> int:
    """Return seconds since 1970 as ns: a float would keep a quarter of a us of them."""
    return int(Decimal(seconds or 0) * 10**9)


def _commands(net: Network, item: Item, env: Mapping[str, str]) -> Iterator[tuple[str, _Timed]]:
    """Run the commands of an item. A command may end with its last answer, so the clock is read around all of it."""
    for each in item["operations"]:
        if each["before"]:
            run(net["client"], ["sh", "-ec", f'cd "$TMP"; {each["before"]}'], LIMIT_S, env=env)
        begin = time.time_ns()
        done = run(net["client"], ["sh", "-ec", f'cd "$TMP"; {each["run"]}'], LIMIT_S, env=env)
        end = time.time_ns()
        yield each["name"], _Timed(done.seconds, begin, end, end)


@contextmanager
def _folder(item: Item) -> Iterator[Path]:
    """Make a client's folder, which is its home: empty but for its program and a link to its packages."""
    folder = Path(tempfile.mkdtemp(prefix="cost-", dir=owner.directory()))
    try:
        if item["file"]:
            (folder / item["file"]).write_text(item["code"])
        if item["link"]:
            (folder / Path(item["link"]).name).symlink_to(item["link"])
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    os.umask(0o022)
    sys.exit(main(sys.argv[1:]))
