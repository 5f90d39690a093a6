"""The results of the catalogue, as they are kept, and as rows for other programs."""

from __future__ import annotations

import csv
import fcntl
import io
import itertools
import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from slownet.costs.catalogue import HERE, entries
from slownet.costs.entry import GROUPS, Entry, Operation, order
from slownet.costs.judging import VARIES, WITHIN, Cost
from slownet.costs.measuring import Measured
from slownet.model import whole_file

KEPT = HERE / "measured.json"
SCHEMA = 1
COLUMNS = (
    "id", "program", "version", "ecosystem", "server", "operation", "group", "round_trips", "expected", "spread", "verdict",
    "each", "cure", "cured_id", "cured_round_trips", "note", "guess", "other_versions", "packages", "failure", "account",
)  # fmt: skip
"""The names of a row's values, in JSON and CSV alike. They stay; others may be added at the end."""
ROUND_TRIPS = re.compile(r"(?:(?P<many>[0-9.]+) x )?(?P<cause>[\w ]+\w)")
"""A part of an account whose messages cross the network; other parts begin with a parenthesis."""
UPSTREAM = re.compile(r"^\d+:|[-+~].*")
"""The parts of a package's version that Debian adds: an epoch before, a revision behind."""
Kept = Mapping[str, Any]


def kept() -> Kept:
    """Return what was measured of slownet's own entries: {name: {"versions": {version: {operation: numbers}}, "packages"}}."""
    found: Kept = json.loads(KEPT.read_text("utf-8"))["entries"] if KEPT.is_file() else {}
    return found


def of(results: Iterable[Measured]) -> dict[str, Any]:
    """Return results as they are kept: of each operation k and the difference of its two measurements, or why not.

    With each entry's own version, or the one that was chosen instead, are the accounts of its packets. One that shows another
    number of round trips is left out: what ran side by side took another course that time.
    """
    found: dict[str, Any] = {}
    for each in results:
        entry = found.setdefault(each.item.entry.name, {"versions": {}, "packages": {}})
        entry["packages"] |= each.packages
        numbers = {name: [round(cost.trips, 3), round(cost.spread, 3)] for name, cost in each.costs.items()}
        if each.item.version == each.item.entry.version or not entry["versions"]:
            entry["accounts"] = _accounts(each)
        entry["versions"][each.item.version] = {"failure": each.failure} if each.failure else numbers
    return found


def _accounts(measured: Measured) -> dict[str, Any]:
    shown = {name: one for name, one in measured.accounts.items() if name in measured.costs and one["parts"]}
    return {name: one["parts"] for name, one in shown.items() if abs(one["trips"] - measured.costs[name].trips) <= WITHIN}


def keep(results: Mapping[str, Any]) -> None:
    """Add results, as `of` returns them, to those that are kept; entries that are gone go. Several processes may do so."""
    folder = os.open(KEPT.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        entries.cache_clear()  # whoever kept results meanwhile may have added their entries, too
        merged = {**kept(), **results}
        whole = {name: merged[name] for name in sorted(merged) if name in entries()}
        text = json.dumps({"schema": SCHEMA, "entries": whole}, ensure_ascii=False, indent=0, separators=(",", ":"))
        whole_file.place(KEPT, f"{text}\n".encode(), 0o644)
    finally:
        os.close(folder)


def rows(entries: Iterable[Entry], found: Kept, version: str | None = None) -> list[dict[str, Any]]:
    """Return a row for each operation; what was not measured has no number. version: instead of each entry's own."""
    return [row(each, one, found.get(each.name, {}), version) for each in entries for one in each.operations]


def row(entry: Entry, operation: Operation, found: Mapping[str, Any], version: str | None = None) -> dict[str, Any]:
    """Return the row of an operation, with the names of `COLUMNS`."""
    shown = entry.version if version is None else version
    versions = found.get("versions", {})
    cost = _cost(operation, shown, entry, versions)
    cured = _cost(entry.operation(operation.cured), shown, entry, versions) if operation.cured else None
    others = {each: one for each in versions if each != shown and (one := _cost(operation, each, entry, versions))}
    expected = cost.expected if cost else operation.expected(shown)
    each = list(operation.each) if expected == operation.trips else []  # of another number they are others
    values = (
        f"{entry.name}/{operation.name}", entry.program, shown, entry.ecosystem, entry.server, operation.name,
        operation.group, cost and shown_trips(cost), expected, cost and round(cost.spread, 2),
        cost and cost.verdict, each, operation.cure, operation.cured and f"{entry.name}/{operation.cured}",
        cured and shown_trips(cured), operation.note, operation.guess, {each: shown_trips(one) for each, one in others.items()},
        found.get("packages", {}), versions.get(shown, {}).get("failure", ""),
        causes(found.get("accounts", {}).get(operation.name, ())) if shown == entry.version or [*versions] == [shown] else "",
    )  # fmt: skip
    return dict(zip(COLUMNS, values, strict=True))


def named(each: Sequence[str]) -> str:
    """Return the names of round trips as one text: "TCP, GET", or with semicolons if a name has a comma itself."""
    return ("; " if any("," in one for one in each) else ", ").join(each)


def packaged(packages: Mapping[str, str]) -> str:
    """Return Debian packages with their versions as text, without what Debian adds to these: "curl 8.14.1, nginx 1.26.3"."""
    return ", ".join(f"{name} {UPSTREAM.sub('', version)}" for name, version in packages.items())


def causes(account: Sequence[str]) -> str:
    """Return the causes of an account's round trips, without details and sizes: "TCP handshake, 5 x question and answer"."""
    found = [found for each in account if (found := ROUND_TRIPS.match(each))]
    counted = [
        (cause, sum(float(one["many"] or 1) for one in several))
        for cause, several in itertools.groupby(found, key=lambda one: one["cause"])
    ]
    return ", ".join(f"{many:g} x {cause}" if many != 1 else cause for cause, many in counted)


def shown_trips(cost: Cost) -> float:
    """Return k to a hundredth, a whole number without digits behind it."""
    trips = round(cost.trips, 2)
    return int(trips) if trips == int(trips) else trips


def _cost(operation: Operation, version: str, entry: Entry, versions: Mapping[str, Any]) -> Cost | None:
    numbers = versions.get(version, {}).get(operation.name)
    return Cost(numbers[0], numbers[1], operation.nearest(version, entry.version, numbers[0])) if numbers else None


def changes(row: Mapping[str, Any]) -> str:
    """Return how the number came to be what it is: "6 since 8.0.0, 4 in 5.0.0 to 7.4.1", of the versions that were measured.

    Empty if all of them have the same number.
    """
    numbers = {**row["other_versions"], row["version"]: row["round_trips"]}
    ordered = sorted(numbers, key=order)
    (number, newest), *older = [(number, list(each)) for number, each in itertools.groupby(ordered, numbers.get)][::-1]
    if not older:
        return ""
    texts = [f"{number:g} in {each[0]}" + (f" to {each[-1]}" if len(each) > 1 else "") for number, each in older]
    return ", ".join([f"{number:g} since {newest[0]}", *texts])


def as_json(listed: Sequence[Mapping[str, Any]]) -> str:
    """Return rows as one JSON object."""
    return json.dumps({"schema": SCHEMA, "operations": listed}, ensure_ascii=False, indent=1)


def as_csv(listed: Sequence[Mapping[str, Any]]) -> str:
    """Return rows as CSV with a head; lists and tables are texts."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([_cell(each[name]) for name in COLUMNS] for each in listed)
    return written.getvalue()


def _cell(value: object) -> object:
    if isinstance(value, Mapping):
        return "; ".join(f"{key} {one}" for key, one in value.items())
    return "; ".join(map(str, value)) if isinstance(value, list) else value


def as_text(listed: Sequence[Mapping[str, Any]]) -> str:
    """Return rows as text, those of one entry below each other."""
    lines: list[str] = []
    entry = server = ""
    width = max((len(each["id"]) for each in listed), default=0)
    for each in listed:
        if each["id"].partition("/")[0] != entry or each["server"] != server:
            entry, server = each["id"].partition("/")[0], each["server"]
            lines.append(_heading(each))
            if each["failure"]:
                lines.append(f"  {each['failure']}")
        lines.append(f"  {each['id']:<{width}}  {_number(each):>6}  {_about(each)}".rstrip())
    return "\n".join(lines)


def _heading(row: Mapping[str, Any]) -> str:
    """Return what an entry is: "redis-py 8.1.0 (python, server redis; redis-server 8.0.2)"."""
    about = "; ".join(filter(None, [f"{row['ecosystem']}, server {row['server']}", packaged(row["packages"])]))
    return " ".join(filter(None, [row["program"], row["version"], f"({about})"]))


def _number(row: Mapping[str, Any]) -> str:
    if row["failure"]:
        return "-"
    return "?" if row["round_trips"] is None else f"{row['round_trips']:g}"


def _about(row: Mapping[str, Any]) -> str:
    """Return what the round trips are, what cures them, and what other versions take."""
    if row["failure"]:
        return ""
    each = named(row["each"]) or row["account"]
    parts = [GROUPS[row["group"]] + (f": {each}" if each else "")]
    if row["cure"]:
        cured = row["cured_round_trips"]
        parts.append(f"{row['cure']}: {cured:g}" if cured is not None else row["cure"])
    if changed := changes(row):
        parts.append(changed)
    if row["verdict"] == VARIES:
        parts.append(f"varies by {row['spread']:g}")
    return "; ".join(parts)
