"""`slownet why --cures`: what each cure saves, promised by the account and measured, in at most 40 lines of 80 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from slownet.waits.account_text import LINES, PARTS, TAIL, WIDTH, answer, limited, milliseconds, nearer_links, wrapped

if TYPE_CHECKING:
    from slownet.api.measured_cures import Cured
    from slownet.waits.account import Account
    from slownet.waits.cures import Outcome

NAME = 44
HEAD = f"{'':{NAME}} {'promised':>10} {'measured':>10} {'remains':>10}"


def cures_text(account: Account, found: Cured, links: Mapping[tuple[str, str], Sequence[str]] | None = None) -> str:
    """Return an account's cures as text: the measured ones, then those that a program or the network has to switch on.

    links: the links between each two hosts, for what a nearer one saves.
    """
    measured = [each for each in found.outcomes if each.saved_ms is not None]
    promised = [each for each in found.outcomes if each.saved_ms is None]
    lines = limited(wrapped(answer(account)), PARTS)
    if nearer := nearer_links(account, links):
        lines += ["", *limited(wrapped(nearer), TAIL["slopes"])]
    if not found.outcomes:
        lines += ["", "no cure is known that saves 1 % of it"]
    if measured:
        lines += ["", HEAD, *map(_row, measured[:8]), *_origin(measured)]
    if promised:
        lines += ["", "promised by the account, and not measured:"]
        lines += [*_whole(promised[0]), *map(_promised, promised[1:9])]
        lines += [f"{len(promised) - 9} more; --json has all"] if len(promised) > 9 else []
    if found.others:
        lines += ["", f"other cells of the run, {found.others[0].metric} instead of {found.others[0].before:.3f}:"]
        lines += [_fitted(f"{each.after:10.3f}  {each.condition}") for each in found.others[:6]]
    return "\n".join(lines[:LINES])


def _row(each: Outcome) -> str:
    times = (each.cure.saves_ns / 1e6, each.saved_ms or 0.0, each.after_ms or 0.0)
    return f"{_fitted(each.cure.name, NAME):{NAME}} {' '.join(f'{ms:10.3f}' for ms in times)} ms"[:WIDTH]


def _origin(measured: list[Outcome]) -> list[str]:
    one = measured[0]
    return [
        "",
        *wrapped(
            f"Promised: the time of the steps that it saves. Measured: {one.metric}, {one.before_ms or 0.0:.3f} ms "
            "without a cure, in a run of its own with each."
        ),
    ]


def _whole(each: Outcome) -> list[str]:
    """Return the largest promise without leaving anything out."""
    line = f"{each.cure.name} ({each.error or each.cure.not_switched})"
    head = f"{milliseconds(each.cure.saves_ns):>10}  "
    return textwrap.wrap(line, WIDTH, initial_indent=head, subsequent_indent=" " * (len(head) + 2))


def _promised(each: Outcome) -> str:
    why = f" ({each.error or each.cure.not_switched})"
    name = _fitted(each.cure.name, max(NAME, WIDTH - len(why) - 12))
    return _fitted(f"{milliseconds(each.cure.saves_ns):>10}  {name}{why}")


def _fitted(line: str, most: int = WIDTH) -> str:
    return line if len(line) <= most else f"{line[: most - 3]}..."
