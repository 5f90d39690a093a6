"""`slownet costs`: what operations of real programs cost in round trips, as it was measured, or measured now."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from slownet.cli.options import JsonOption
from slownet.model.errors import ExperimentError

if TYPE_CHECKING:
    from slownet.costs.entry import Entry
    from slownet.costs.measuring import Measured


def costs(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="Parts of names: of entries, programs, ecosystems, servers; own files."),
    ] = None,
    measure: Annotated[bool, typer.Option("--measure", help="Measure them now, in labs.")] = False,
    version: Annotated[
        str | None, typer.Option("--version", metavar="VERSION", help="Measure this version of the package instead.")
    ] = None,
    expect: Annotated[
        list[str] | None,
        typer.Option(
            "--expect",
            metavar="ENTRY/OPERATION=N",
            help="Measure the operation, and fail if it costs more than N round trips. Repeatable.",
        ),
    ] = None,
    as_json: JsonOption = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print a table of comma-separated values instead of text.")] = False,
) -> None:
    """List what operations of programs cost in round trips."""
    from slownet.costs import catalogue, judging, record

    if as_json and as_csv:
        raise ExperimentError("--json and --csv exclude each other", fix="choose one of them")
    written = record.as_json if as_json else record.as_csv if as_csv else record.as_text
    expected = [judging.read(each) for each in expect or ()]
    for each in expected:
        catalogue.exactly(each.entry)
    chosen = catalogue.choose([*(names or ()), *(each.entry for each in expected)])
    for each in expected:
        each.require(chosen)  # before minutes are spent on measuring
    own = {each.name for each in chosen if catalogue.is_own(each)}
    found, status = {name: one for name, one in record.kept().items() if name in own}, 0
    if measure or expected or version is not None:
        done: list[Measured] = []
        try:
            results = _measured(chosen, version, others=measure, done=done)
        except KeyboardInterrupt:
            measured = {id(each.item.entry) for each in done if not each.failure}
            rows = record.rows([each for each in chosen if id(each) in measured], record.of(done), version)
            if rows:
                print(written(rows).rstrip("\n"))
            raise
        found, status = record.of(results), _status(results)
    rows = record.rows(chosen, found, version)
    print(written(rows).rstrip("\n"))
    judged = [each.judge(rows) for each in expected]
    for _, line in judged:
        sys.stderr.write(f"slownet: {line}\n")
    grown = any(not good for good, _ in judged)
    raise typer.Exit(max(status, int(grown)) if not expected or status == 2 else int(grown))


def _measured(
    chosen: Sequence[Entry], version: str | None, others: bool, done: list[Measured] | None = None
) -> list[Measured]:  # fmt: skip
    """Measure entries and print how that goes. others: the entries' other versions, too, if no version is chosen.

    done: gets each as soon as it is measured.
    """
    from slownet.costs import measuring
    from slownet.costs.entry import VERSION

    if version is not None and not VERSION.fullmatch(version):
        raise ExperimentError(f"'{version}' is not a version", "--version", "write one version, for example 7.4.0")
    if version is not None and (
        fixed := [each.name for each in chosen if not any("{version}" in one for one in each.packages)]
    ):
        what = f"{fixed[0]} has no version to choose"
        raise ExperimentError(
            what, "--version", "its packages are the lab's own, or given without a version, so --version does not apply"
        )
    items = [
        measuring.Item(each, one)
        for each in chosen
        for one in ((each.version, *(each.versions if others else ())) if version is None else (version,))
    ]  # fmt: skip
    follow = _follow if sys.stderr.isatty() else lambda line: None
    return measuring.measure(items, follow=follow, accounts=True, done=done)


def _follow(line: str) -> None:
    sys.stderr.write(f"\r\x1b[Kcosts: {line[:100]}")
    sys.stderr.flush()


def _status(results: Sequence[Measured]) -> int:
    """Print a line for each that failed or is not as expected; return 2 if one failed, 1 if one differs, else 0."""
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K")
    for line in (line for each in results for line in each.complaints):
        sys.stderr.write(f"slownet: {line}\n")
    return 2 if any(each.failure for each in results) else int(any(each.complaints for each in results))
