"""The report page of a run: one self-contained HTML file."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slownet.judge.records.charging import Charging
from slownet.judge.records.judgement import SUPPORTED, WORST_FIRST, Judgement
from slownet.judge.records.naming import capital
from slownet.judge.records.result import RunData
from slownet.lab.run.lab import WRITABLE
from slownet.model.errors import SlownetError
from slownet.model.options import CELL, ENV, SHARE
from slownet.model.sample import Sample, cell_in_words
from slownet.report import delayed_links
from slownet.report.answer import answer, standing
from slownet.report.columns import among_claims, beside_claims, columns, verdicts
from slownet.report.figure import Figure
from slownet.report.grid import matrix
from slownet.report.overlay_figure import names, overlay_figure
from slownet.report.page_template import explained, template, write_html
from slownet.report.plots import figures
from slownet.report.text import confidence
from slownet.report.topology import topology_figure
from slownet.report.view import (
    View,
    beyond_line,
    clock_line,
    instructions_lines,
    intervals_line,
    law_line,
    ratios_line,
    sampling_notes,
    view,
)
from slownet.report.words import claim_sentence

if TYPE_CHECKING:
    from slownet.report.account_section import Seen

# The section of a run's report about where the time went: the account of one cell, or the command that makes it.

MOST_PACKETS = 50_000
"""Packets of a cell whose account is a part of the report: two seconds of its run's end."""
STEPS = "The time of an operation, step by step:"
TEST = "::"
"""A part of the names of tests, whose runs are not measured again by a name."""


@dataclass(frozen=True)
class TimeAccount:
    """The account of a run's cell as its report shows it.

    cell: the cell as text; empty if the run has one cell without conditions.
    seen: the account; None without captures.
    line: a sentence before the command, or a problem of the captures.
    command: the command for other cells, or for this one, as a shell takes it; empty after a problem.
    """

    cell: str
    seen: Seen | None
    line: str
    command: str = ""


def time_account(run: RunData, stem: str) -> TimeAccount | None:
    """Return the account of a run's last cell that has captures, if the CPU was free.

    run: the run.
    stem: the name of the run on the page.
    returns: none of a run on another clock, and of one that was not measured.
    """
    taken = [_sample(each.samples) for each in run.cells if each.samples and "cell" in each.samples[0]]
    if Charging.of(run.facts) is not Charging.FREE or not taken:
        return None
    captured = [each for each in taken if _packets(each)]
    if not captured:
        again = not run.facts.get("compose") and TEST not in str(run.facts.get("source") or TEST)
        return TimeAccount("", None, STEPS, _command(run, taken[-1])) if again else None
    sample = captured[-1]
    if _packets(sample) > MOST_PACKETS:
        return TimeAccount(cell_in_words(sample["cell"]), None, STEPS, _command(run, sample))
    found = _account(run, sample, f"why-{re.sub(r'[^A-Za-z0-9]+', '-', stem).strip('-')}")
    if len(taken) > 1 and found.seen:
        return TimeAccount(found.cell, found.seen, "Other cells:", _command(run, taken[0]))
    return found


def _account(run: RunData, sample: Sample, stem: str) -> TimeAccount:
    """Return the account of a sample; if its captures show none, a line about that."""
    from slownet.report.account_section import seen
    from slownet.waits import of_run

    cell = cell_in_words(sample["cell"])
    try:
        made = of_run.of_sample(run, sample)
    except SlownetError as error:
        problem = str(error)
    except Exception as error:  # a lab wrote the captures, and the report of what was measured does not depend on them
        problem = f"{type(error).__name__}: {ascii(str(error))[:200]}"
    else:
        return TimeAccount(cell, seen(made, of_run.links_between(run.facts.get("topology") or {}), stem), "")
    return TimeAccount(cell, None, f"The time of {cell or 'this run'} has no account: {problem}")


def _sample(samples: Sequence[Sample]) -> Sample:
    """Return a cell's first sample with captures, else its last one."""
    return next((each for each in samples if _packets(each)), samples[-1])


def _packets(sample: Sample) -> int:
    """Return the number of packets in the captures of hosts."""
    return sum(each.get("packets") or 0 for each in sample.get("captures") or () if "before" in each)


def _command(run: RunData, sample: Sample) -> str:
    cell = (word for name, value in sample["cell"].items() for word in (CELL.typed, f"{name}={value}"))
    return shlex.join(["slownet", "why", run.directory.name, *cell])


REPORT = "report.html"
MANY_CLAIMS = 9
"""With more, those that are supported are folded."""
FACTS = (
    "started", "place", "clock", "tdf", "cpu", "machine", "blocks", "labs", "kernel", "image", "seed", "wall_s", "virtual_s",
    "git",
)  # fmt: skip
"""The facts of a run that the page always shows; versions and settings are collapsed."""
NAMED = {"wall_s": "time taken", "virtual_s": "time on the virtual clock", "tdf": "TDF", "cpu": "CPU"}
"""Names of facts for people."""


@dataclass(frozen=True)
class Differences:
    """A comparison of two of a page's runs: its title, its outcome, the table's head and rows, and notes."""

    title: str
    outcome: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str]


def render_page(views: Sequence[View], differences: Sequence[Differences] = (), more: Sequence[Figure] = ()) -> str:
    """Render the page of one or more runs; ``more`` are figures that the first run has beside its own."""
    title = ", ".join(dict.fromkeys(each.run.experiment for each in views))
    contexts = [_context(each, name) for each, name in zip(views, names(views), strict=True)]
    if contexts:
        contexts[0]["figures"] = [*contexts[0]["figures"], *more]
    joint = overlay_figure(views)
    return explained(
        template("page.html.j2").render(runs=contexts, joint=joint, differences=differences, title=title, script=script())
    )


def script() -> str:
    """Return the script of a page, with which arrow keys and pointer read the values of its plots."""
    return resources.files("slownet.report").joinpath("page.js").read_text("utf-8")


def write_page(
    path: Path | str, views: Sequence[View], differences: Sequence[Differences] = (), more: Sequence[Figure] = ()
) -> Path:  # fmt: skip
    """Write the page of one or more runs to a file. Raises SlownetError."""
    return write_html(Path(path), render_page(views, differences, more))


def page_figures(views: Sequence[View]) -> list[tuple[str, Figure]]:
    """Return all figures of a page, each with a name that no other one has."""
    joint = overlay_figure(views)
    found = [(joint.name, joint)] if joint else []
    for each, name in zip(views, names(views), strict=True):
        found += [(f"{name}-{figure.name}", figure) for figure in _figures(each)]
    return found


def write_report(run: RunData) -> Path:
    """Write ``report.html`` into the run's directory."""
    return write_page(run.directory / REPORT, [view(run)])


def _figures(seen: View) -> list[Figure]:
    return [each for each in (topology_figure(seen.run, law=seen.law), *figures(seen)) if each]


def _context(seen: View, name: str) -> dict[str, Any]:
    facts = seen.run.facts
    why = time_account(seen.run, name)
    trips = why.seen.trips if why and why.seen else {}
    return {
        "view": seen,
        "run": seen.run,
        "answer": answer(seen),
        "standing": standing(seen.run.claims),
        **_claims(seen.run),
        "clock": clock_line(seen.run),
        "beyond": beyond_line(seen.run) if any(row.beyond_cpu for row in seen.rows) else "",
        "law": law_line(seen),
        "delayed_links": delayed_links.count(seen.run.cells),
        "instructions": instructions_lines(seen),
        "intervals": intervals_line(seen),
        "ratios": capital(ratios_line(seen)),
        "confidence": confidence(seen.run.confidence),
        "sampling": sampling_notes(seen.run),
        "question": seen.run.facts.get("question") or seen.run.experiment,
        "stem": name,
        "figures": figures(seen),
        "network": topology_figure(seen.run, trips, why.cell if why else "", seen.law),
        "why": why,
        "matrix": matrix(seen),
        "columns": columns(seen),
        "verdicts": verdicts(seen),
        "beside": beside_claims(seen),
        "among": among_claims(seen),
        "facts": [
            *((NAMED.get(name, name), _said(name, facts.get(name))) for name in FACTS if facts.get(name) not in (None, {}, "")),
            *_surroundings(facts),
        ],
        "folded": {name: _pairs(facts[name]) for name in ("versions", "settings", "argv") if facts.get(name)},
    }


def _claims(run: RunData) -> dict[str, list[tuple[Judgement, str]]]:
    """Return the claims with their sentences, worst first; of many those that are supported stand apart, folded."""
    found = [(claim, claim_sentence(claim, run)) for claim in sorted(run.claims, key=_how_good)]
    good = [pair for pair in found if pair[0].verdict == SUPPORTED] if len(found) > MANY_CLAIMS else []
    return {"claims": [pair for pair in found if pair not in good], "folded_claims": good}


def _how_good(claim: Judgement) -> int:
    """Order claims: what needs a look comes first."""
    return WORST_FIRST.index(claim.verdict)


def _surroundings(facts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what the caller and the project's file gave the lab, each under the name of its option or key."""
    project, given = facts.get("project") or {}, facts.get("given") or {}
    named = {
        "project": project.get("file"),
        "share": project.get("share"),
        ENV.typed: list(given.get("env") or ()),
        SHARE.typed: [path + WRITABLE * writable for path, writable in given.get("shares") or ()],
    }
    return ((name, _plain(value)) for name, value in named.items() if value)


def _pairs(value: Any) -> list[tuple[str, str]]:
    """Convert a mapping to pairs for a definition list; anything else becomes one pair."""
    if isinstance(value, Mapping):
        return [(str(name), _plain(each)) for name, each in value.items()]
    return [("", _plain(value))]


def _said(name: str, value: Any) -> str:
    return f"{_plain(value)} s" if name.endswith("_s") else _plain(value)


def _plain(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_plain(each)}" for name, each in value.items())
    if isinstance(value, (list, tuple)):
        return " ".join(_plain(each) for each in value)
    if isinstance(value, float):
        return f"{value:.4g}"
    return value if isinstance(value, str) else json.dumps(value)
