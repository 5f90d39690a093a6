"""The page "what a delay costs": the catalogue of `slownet costs`, as tables that work without a script, and as files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from slownet.costs import catalogue, record
from slownet.costs.judging import WITHIN

Row = Mapping[str, Any]
ECOSYSTEMS = {
    "python": "Python", "node": "Node.js", "go": "Go", "java": "Java", "rust": "Rust", "php": "PHP", "ruby": "Ruby",
    "perl": "Perl", "debian": "Programs of Debian",
}  # fmt: skip
"""What each ecosystem is called, in the order of the page."""
COLUMNS = {
    "new connection": ("new",), "first": ("first",), "next": ("next",), "batch": ("batch",), "whole program": ("whole",),
    "end": ("end",),
}  # fmt: skip
SURPRISES = 12


def measured() -> list[Row]:
    """Return the rows that were measured, in the order of the page."""
    order = list(ECOSYSTEMS)
    entries = sorted(catalogue.entries().values(), key=lambda each: (order.index(each.ecosystem), each.name))
    return [each for each in record.rows(entries, record.kept()) if each["round_trips"] is not None]


def page() -> str:
    """Return the catalogue in MyST: what surprises, then a table for each ecosystem."""
    rows = measured()
    programs = len({each["program"] for each in rows})
    parts = [
        f"{len(rows)} operations of {programs} programs in {len({each['ecosystem'] for each in rows})} ecosystems.",
        "## What surprises", _raw(surprises(rows)),
    ]  # fmt: skip
    for ecosystem, title in ECOSYSTEMS.items():
        if own := [each for each in rows if each["ecosystem"] == ecosystem]:
            parts += [f"## {title}", _raw(table(own))]
    return "\n\n".join(parts) + "\n"


def _raw(html: str) -> str:
    return f"```{{raw}} html\n{html}\n```"


def surprises(rows: Iterable[Row]) -> str:
    """Return the table of those operations that cost the most beyond what one would guess."""
    found = [each for each in rows if each["guess"] is not None and each["guess"] != each["round_trips"]]
    found.sort(key=lambda each: abs(each["round_trips"] - each["guess"]), reverse=True)
    found = list({(each["program"].split(",")[0], each["operation"]): each for each in reversed(found)}.values())[::-1]
    body = "".join(
        f"<tr><td>{escape(each['program'])}: {escape(each['operation'])}</td>"
        f'<td data-head="guess: ">{each["guess"]:g}</td><td data-head="measured: ">{_trips(each)}</td>'
        f"<td>{_why(each)}</td></tr>\n"
        for each in found[:SURPRISES]
    )
    heads = "".join(f'<th scope="col">{each}</th>' for each in ("operation", "guess", "measured", "why"))
    return _boxed("costs surprises", heads, body)


def _boxed(kind: str, heads: str, body: str) -> str:
    table = f'<table class="{kind}"><thead><tr>{heads}</tr></thead>\n<tbody>\n{body}\n</tbody></table>'
    return f'<div class="table-wrapper costs-box">{table}</div>'


def table(rows: Sequence[Row]) -> str:
    """Return one ecosystem's programs, a row each: what is done on a new connection, first and next stands side by side."""
    groups = {head: kinds for head, kinds in COLUMNS.items() if any(each["group"] in kinds for each in rows)}
    heads = "".join(f'<th scope="col">{each}</th>' for each in ("program", *groups))
    body = []
    for program in dict.fromkeys(each["program"] for each in rows):
        own = [each for each in rows if each["program"] == program]
        version = f" <small>{escape(own[0]['version'])}</small>" if own[0]["version"] else ""
        cells = "".join(
            f'<td data-head="{head}">{"".join(_operation(each) for each in own if each["group"] in kinds)}</td>'
            for head, kinds in groups.items()
        )
        packages = {name: number for each in own for name, number in each["packages"].items()}
        about = ": ".join(filter(None, [own[0]["server"], record.packaged(packages)]))
        name = f"{escape(program)}{version}<br><small>{escape(about)}</small>"
        body.append(f'<tr><th scope="row">{name}</th>{cells}</tr>')
    return _boxed("costs", heads, "\n".join(body))


def _operation(row: Row) -> str:
    """Return one operation: its name and number, and below what the round trips are."""
    about = (_why(row) + _packets(row)).removeprefix("<br>")
    named = f"{_trips(row)} <span>{escape(row['operation'].replace('-', ' '))}</span>"
    ident = escape(row["id"])
    if not about:
        return f'<div id="{ident}">{named}</div>'
    return f'<details id="{ident}"><summary>{named}</summary>{about}</details>'


def _trips(row: Row) -> str:
    return _number(row["round_trips"])


def _number(trips: float) -> str:
    """Return a number of round trips: whole, where it is so within the margin that it was judged by."""
    shown = round(trips) if abs(trips - round(trips)) <= WITHIN else trips
    return f'<b data-trips="{shown:g}">{shown:g}</b>'


def _why(row: Row) -> str:
    """Return what explains a number: each round trip, the note, the cure with its number, other versions."""
    parts = [escape(record.named(row["each"])), escape(row["note"])]
    if row["cure"]:
        cured = row["cured_round_trips"]
        parts.append(f"<i>{escape(row['cure'])}</i>" + (f": {_number(cured)}" if cured is not None else ""))
    return "<br>".join(filter(None, [*parts, escape(record.changes(row))]))


def _packets(row: Row) -> str:
    return f"<br><small>Its packets: {escape(row['account'])}</small>" if row["account"] else ""


def write(app: Any, error: Exception | None) -> None:
    """Write the catalogue beside the pages, for other programs: costs.json, costs.csv, and the accounts in accounts.json."""
    if error or app.builder.format != "html":
        return
    rows, folder = measured(), Path(app.outdir) / "explanation"
    (folder / "costs.json").write_text(record.as_json(rows), "utf-8")
    (folder / "costs.csv").write_text(record.as_csv(rows), "utf-8")
    kept = {name: found for name, each in record.kept().items() if (found := each.get("accounts"))}
    (folder / "accounts.json").write_text(json.dumps({"schema": record.SCHEMA, "accounts": kept}, indent=1), "utf-8")
