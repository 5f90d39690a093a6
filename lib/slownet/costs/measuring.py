"""Measures entries: fetches their packages, boots labs with their servers, and judges the times."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from slownet.costs import packages
from slownet.costs.catalogue import entries, find_server
from slownet.costs.entry import Entry, Server
from slownet.costs.judging import AS_EXPECTED, CAPTURED, RTTS, STEP, Cost, cost
from slownet.lab.build import cache, parts
from slownet.lab.run import events
from slownet.lab.run.clock import ClockRequest
from slownet.lab.run.events import Event
from slownet.lab.run.excerpt import Excerpt
from slownet.lab.run.lab import Share
from slownet.lab.run.place import Place, choose
from slownet.model.errors import LabError, SlownetError
from slownet.model.shapes import each as list_of
from slownet.model.shapes import mapping, member, number, record, text

WARM = 20
"""Round trip in ms of the first time, which is not recorded: servers and caches are warm afterwards."""
ITEMS = 12
"""Programs that one boot measures."""
MEGABYTES = 2048
Follow = Callable[[str], None]


@dataclass(frozen=True)
class Item:
    """A version of an entry that is measured."""

    entry: Entry
    version: str

    @property
    def name(self) -> str:
        """The entry's name, and the version if it is not the entry's own."""
        return self.entry.name if self.version == self.entry.version else f"{self.entry.name} {self.version}"


@dataclass
class Measured:
    """The results of an item: a cost for each operation, or the line of its failure."""

    item: Item
    costs: dict[str, Cost] = field(default_factory=dict)
    failure: str = ""
    packages: dict[str, str] = field(default_factory=dict)
    """Versions of the Debian packages of client and server."""
    accounts: dict[str, dict[str, Any]] = field(default_factory=dict)
    """By operation: the round trips ("trips") that its packets show, and what they are ("parts")."""

    @property
    def complaints(self) -> list[str]:
        """A line for each operation that is not as expected, or the one of its failure."""
        if self.failure:
            return [f"{self.item.name}: {self.failure}"]
        unlike = [(name, cost) for name, cost in self.costs.items() if cost.verdict != AS_EXPECTED]
        return [f"{self.item.name}/{name}: {cost.sentence}" for name, cost in unlike]


@dataclass
class _Prepared:
    item: Item
    server: Server
    client: packages.Client


def measure(
    items: Sequence[Item], labs: int = 1, follow: Follow = lambda line: None, accounts: bool = False,
    done: list[Measured] | None = None,
) -> list[Measured]:  # fmt: skip
    """Measure items, those of one ecosystem in the same boots, and return them in their order. Raises SlownetError.

    accounts: do each once more with its packets captured, for an account of its time. done: gets each when it is measured
    or has failed, for a measurement that is interrupted.
    What cannot be measured is a failure of its own, and the others go on.
    """
    done = [] if done is None else done
    with cache.in_use(packages.home()):
        for group in _groups(items):
            for place, placed in _places(_prepared(group, done, follow), done, follow):
                with ThreadPoolExecutor(labs) as pool:
                    list(pool.map(partial(_boot, place, follow, accounts, done), list(_boots(placed))))
    found = {id(each.item): each for each in done}
    return [found[id(item)] for item in items]


def _groups(items: Sequence[Item]) -> list[list[Item]]:
    ecosystems = dict.fromkeys(item.entry.ecosystem for item in items)
    return [[item for item in items if item.entry.ecosystem == each] for each in ecosystems]


def _prepared(group: Sequence[Item], done: list[Measured], follow: Follow) -> list[_Prepared]:
    """Fetch the packages of the clients; those that cannot be had are failures."""
    made = []
    for item in group:
        follow(f"{item.name}: packages")
        try:
            server = find_server(item.entry)
            packages.of_server(server)
            made.append(_Prepared(item, server, _client(item)))
        except SlownetError as error:
            done.append(Measured(item, failure=error.line))
    return made


def _client(item: Item) -> packages.Client:
    entry, needs = item.entry, item.entry.needs(item.version)
    return packages.client(entry.ecosystem, needs, entry.code) if entry.code else packages.commands(entry.ecosystem, needs)


def _places(
    prepared: Sequence[_Prepared], done: list[Measured], follow: Follow
) -> Iterator[tuple[Callable[[], Place], Sequence[_Prepared]]]:
    """Yield what makes places with the Debian packages of items, and the items: all, if all of their packages can be had.

    Otherwise those of the same packages each; items whose packages cannot be had are failures.
    """
    if not prepared:
        return
    image = parts.need().image.versions
    try:
        place = _place(_layer(prepared, image), follow)
    except LabError as error:
        alike: dict[frozenset[str], list[_Prepared]] = {}
        for each in prepared:
            alike.setdefault(frozenset(_layer([each], image)), []).append(each)
        for some in alike.values() if len(alike) > 1 else ():
            yield from _places(some, done, follow)
        for each in prepared if len(alike) == 1 else ():
            fix = "correct `debian`, of it or of its server, or check the network"
            done.append(Measured(each.item, failure=LabError(error.what, str(each.item.entry.file), fix).line))
        return
    yield place, prepared


def _layer(prepared: Sequence[_Prepared], image: Container[str]) -> set[str]:
    """Return the Debian packages that these items need besides the image's; those of the catalogue have all of its packages."""
    debian = set().union(*(_debian(each.item.entry, each.server) for each in prepared))
    lacking = {each for each in debian if each not in image}
    if lacking and all(each.item.entry in entries().values() for each in prepared):
        # One layer for the whole catalogue: it is built once, whichever entries are chosen. One's own has its own, a small one.
        debian = set().union(*(_debian(each, find_server(each)) for each in entries().values()))
        lacking = {each for each in debian if each not in image}
    return lacking


def _place(debian: Collection[str], follow: Follow) -> Callable[[], Place]:
    """Return what makes places with these Debian packages. Raises LabError."""
    follow(f"a layer of {len(debian)} Debian packages" if debian else "the lab's own packages")
    folder = packages.layer(sorted(debian))
    return lambda: choose("lab", ClockRequest("virtual", "inf", None), MEGABYTES, folder=folder)


def _debian(entry: Entry, server: Server) -> list[str]:
    """Return the Debian packages that an entry needs: its own, its server's, and those of their ecosystems."""
    used = {server.ecosystem if server.packages or server.code else "", entry.ecosystem if entry.code or entry.packages else ""}
    basic = [name for each in used for name in packages.BASIC.get(each, ())]
    return list(dict.fromkeys([*entry.debian, *server.debian, *basic]))


def _boots(prepared: Sequence[_Prepared]) -> Iterable[list[_Prepared]]:
    """Divide items into boots, those of one server beside each other."""
    ordered = sorted(prepared, key=lambda each: each.server.name)
    for first in range(0, len(ordered), ITEMS):
        yield ordered[first : first + ITEMS]


@dataclass
class _Boot:
    """The reports of one boot about its items, which have their places in it."""

    items: Sequence[_Prepared]
    follow: Follow
    results: list[Measured]
    seconds: list[dict[int, Mapping[str, float]]]
    errors: list[str] = field(default_factory=list)
    last: int | None = None
    """The place of the item that was begun last."""

    def on_event(self, event: Event) -> None:
        """Keep what an event reports."""
        match event["event"]:
            case "item":
                self.last, rtt = divmod(event["index"], STEP)
                self.follow(f"{self.items[self.last].item.name} at {rtt or WARM} ms")
            case "seconds":
                index, rtt = divmod(event["index"], STEP)
                self.seconds[index][rtt] = event["seconds"]
            case "accounts":
                self.results[event["index"]].accounts = event["operations"]
            case "failed":
                self.results[event["index"]].failure = event["line"]
            case "error":
                self.errors.append(event["line"])

    def left(self) -> list[int]:
        """Return the items that were not measured, because the lab ended with the one that it was at."""
        taken = zip(self.results, self.seconds, strict=True)
        return [each for each, (result, times) in enumerate(taken) if not result.failure and sorted(times) != RTTS]

    def judged(self, places: Iterable[int], place: Place) -> list[Measured]:
        """Return the results of items, judged, with the versions of the Debian packages that they used."""
        versions = place.parts.versions if place.parts else {}
        found = []
        for index in places:
            each, result = self.items[index], self.results[index]
            result.packages = {name: versions[name] for name in _debian(each.item.entry, each.server) if name in versions}
            _judge(result, self.seconds[index], self.errors)
            found.append(result)
        return found


def _boot(
    place: Callable[[], Place], follow: Follow, accounts: bool, done: list[Measured], boot: Sequence[_Prepared]
) -> None:  # fmt: skip
    """Measure the items of one boot. If the lab ends early, only the item that it was at fails: the others are booted again."""
    seen = _Boot(boot, follow, [Measured(each.item) for each in boot], [{} for _ in boot])
    chosen = place()
    try:
        _run(chosen, boot, seen.on_event, seen.errors, accounts)
    except KeyboardInterrupt:
        left = seen.left()
        done += seen.judged((index for index in range(len(boot)) if index not in left), chosen)
        raise
    except SlownetError as error:
        if seen.last is None:
            raise
        seen.errors.append(error.line)
    again = [each for each in seen.left() if seen.last is not None and each != seen.last]
    done += seen.judged((index for index in range(len(boot)) if index not in again), chosen)
    if again:
        _boot(place, follow, accounts, done, [boot[each] for each in again])


def _judge(result: Measured, times: Mapping[int, Mapping[str, float]], errors: Sequence[str]) -> None:
    if not result.failure and sorted(times) != RTTS:
        result.failure = errors[0] if errors else "the lab ended before it was measured"
    if result.failure:
        return
    for each in result.item.entry.operations:
        taken = {rtt: seconds[each.name] for rtt, seconds in times.items() if each.name in seconds}
        if sorted(taken) != RTTS:
            result.failure = f"operation {each.name} was not timed"
            return
        result.costs[each.name] = cost(each, result.item.version, taken, result.item.entry.version)


def _run(place: Place, boot: Sequence[_Prepared], on_event: Callable[[Event], None], errors: list[str], accounts: bool) -> None:
    complaints, began = Excerpt(), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="slownet-costs-") as folder:
        file = Path(folder, "job.json")
        file.write_text(
            json.dumps({"warm": WARM, "rtts": RTTS, "accounts": RTTS if accounts else [], "servers": _servers(boot)})
        )
        with events.Reader(on_event, _grammar(len(boot))) as stdout:
            status = place.run(
                [place.python, "-m", "slownet.costs.inside", str(file)], stdout=stdout, stderr=complaints.add,
                shares=[Share(packages.home()), Share(Path(folder))],
            )  # fmt: skip
    if status < 0:
        raise KeyboardInterrupt
    if status and not errors:
        errors.append(f"the lab failed after {time.monotonic() - began:.0f} s: {complaints.last_line(f'status {status}')}")


def _grammar(count: int) -> events.Grammar:
    index = member(range(count), "the place of an item")
    place = member([number * STEP + rtt for number in range(count) for rtt in (0, CAPTURED, *RTTS)], "a place and a round trip")
    return {
        "item": record({"index": place}),
        "seconds": record({"index": place, "seconds": mapping(number(0))}),
        "accounts": record({"index": index, "operations": mapping(record({"trips": number(0), "parts": list_of(text())}))}),
        "failed": record({"index": index, "line": text()}),
        "error": record({"line": text()}),
        "end": record({"virtual_s": number(0)}),
    }


def _servers(boot: Sequence[_Prepared]) -> list[dict[str, Any]]:
    """Return the servers of a job, each with its items."""
    servers = {each.server.name: each.server for each in boot}
    return [
        {
            "name": server.name, "service": server.service, "options": server.options, "prepare": server.prepare,
            "run": server.run, "port": server.port, "env": dict(server.env), "settles": server.settles,
            **packages.of_server(server),
            "items": [_job(index, each) for index, each in enumerate(boot) if each.server.name == name],
        }
        for name, server in servers.items()
    ]  # fmt: skip


def _job(index: int, each: _Prepared) -> dict[str, Any]:
    client = each.client
    operations = [{"name": one.name, "run": one.run, "before": one.before} for one in each.item.entry.operations]
    return {
        "index": index, "argv": client.argv, "file": client.file, "code": client.code, "link": client.link,
        "env": dict(client.env), "operations": operations,
    }  # fmt: skip
