"""Measures what the documentation shows: `make docs-figures`. An hour and more; nothing else should run meanwhile.

    python docs/figures.py RUNS [--draw] [EXPERIMENT...]

Runs each experiment of the articles, and those on protocols, into RUNS, then writes to docs/figures,
from the newest run of each: its pictures (`slownet show --out svg=FOLDER`), what `slownet show` prints, and the numbers
that pages quote (figures.json).
--draw only writes. Pictures that no page shows are left out.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from slownet.judge.records.result import RunData, load
from slownet.report.view import view
from slownet.reproductions import articles

HERE = Path(__file__).parent / "figures"
SLOWNET = (sys.executable, "-m", "slownet.cli")
BUDGET = "6,8m"
WIDTH = 88
FOLDED = 140
BEGINS = re.compile(r"(supported|refuted|inconclusive|not judged|virtual clock|real clock|sampling|records|[*†] )")
EXPERIMENTS = (*(name for names in articles.ARTICLES.values() for name in names), *articles.OF_PROTOCOLS)
OF_EXAMPLES = ("routing/failover", "routing/news")
"""They need a layer of the lab, which `slownet lab build` makes in their folder."""


def newest(runs: Path, name: str) -> Path | None:
    """Return the newest complete run of an experiment, if there is one."""
    found = sorted(runs.glob(f"*-{short(name)}"), key=lambda path: path.name)
    return next((path for path in reversed(found) if (path / "report.html").exists()), None)


def short(name: str) -> str:
    """Return an experiment's own name, without its folder's."""
    return name.rpartition("/")[2]


def numbers(run: RunData) -> dict[str, Any]:
    """Return what pages quote of a run, as texts that are already rounded."""
    found: dict[str, Any] = {"clock": run.setting, "date": run.facts["started"][:10]}
    law = view(run).law
    if law:
        found |= {"t0_ms": f"{law.t0.mean:.3g}", "k": f"{law.k.mean:.3g}"}
    found["cells"] = {cell.title: _means(run, cell) for cell in run.cells}
    found["verdicts"] = [claim.verdict for claim in run.claims]
    return found


def _means(run: RunData, cell: Any) -> Mapping[str, str]:
    return {name: f"{cell.summary(name).mean:.3g}" for name in run.metrics if cell.status == "ok" and name in cell.metrics}


def measure(runs: Path, name: str) -> None:
    """Run an experiment; a refuted claim is a result like any other."""
    done = subprocess.run([*SLOWNET, "run", name, "--runs", runs, "--budget", BUDGET, "--labs", "1"], check=False)
    if done.returncode not in (0, 1):
        sys.exit(f"{name} was not measured: see above")


def write(directory: Path, name: str) -> dict[str, Any]:
    """Write the pictures and the text of a run; return its numbers."""
    for old in HERE.glob(f"{name}-*.svg"):
        old.unlink()
    drawn = HERE / "drawn"
    subprocess.run([*SLOWNET, "show", directory, "--out", f"svg={drawn}"], check=True, stdout=subprocess.DEVNULL)
    pages = "".join(path.read_text() for path in HERE.parent.rglob("*.md"))
    for path in drawn.iterdir():
        picture = HERE / f"{name}-{path.stem.rpartition(f'{name}-')[2]}.svg"
        path.rename(picture) if f"/{picture.name})" in pages else path.unlink()
    drawn.rmdir()
    environment = {**os.environ, "NO_COLOR": "1"}
    shown = subprocess.run([*SLOWNET, "show", directory], check=True, env=environment, capture_output=True, text=True).stdout
    (HERE / f"{name}.txt").write_text("\n".join(folded(shown)) + "\n")
    return numbers(load(directory))


def folded(shown: str) -> Iterator[str]:
    """Yield the lines of `slownet show` for a page: sentences folded, without paths and single outliers."""
    for line in joined(shown.splitlines()):
        if line.startswith(("records ", "page ")) or re.search(r": \d+ outliers? of .*, kept$", line):
            continue
        yield from [line.rstrip()] if is_row(line) or not line else textwrap.wrap(line, WIDTH, subsequent_indent="    ")


def joined(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines, with those put together again that were folded at the width of a pipe."""
    before, last = "", ""
    for line in map(str.rstrip, lines):
        if len(last) > FOLDED and not is_row(line) and not BEGINS.match(line):
            before += " " + line
        else:
            yield from [before] if before else []
            before = line
        last = line
    yield before


def is_row(line: str) -> bool:
    """Return whether a line is a row of a table."""
    return not BEGINS.match(line) and len(re.findall(r"\S {2,}\S", line)) > 1


def main() -> None:
    """Measure, then write everything that has a run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path)
    parser.add_argument("experiments", nargs="*", default=[*EXPERIMENTS, *OF_EXAMPLES])
    parser.add_argument("--draw", action="store_true")
    given = parser.parse_intermixed_args()
    for name in () if given.draw else given.experiments:
        measure(given.runs, name)
    path = HERE / "figures.json"
    found = json.loads(path.read_text())
    for name in given.experiments:
        if directory := newest(given.runs, name):
            found[short(name)] = write(directory, short(name))
    path.write_text(json.dumps(dict(sorted(found.items())), indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
