"""The files of `slownet why`: `--out KIND=FILE`, the page, the picture, and formats of other viewers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from slownet.cli.outputs import JSON, OUT, OWN, PICTURES, Outputs
from slownet.cli.why_options import CHROME, FLAME, FOLDED, PAGE, SPEEDSCOPE
from slownet.model import whole_file

if TYPE_CHECKING:
    from slownet.report.account_section import Links
    from slownet.waits.account import Account
    from slownet.waits.cures import Outcome


def write(wanted: Outputs, account: Account, links: Links, title: str, outcomes: Sequence[Outcome] = ()) -> None:
    """Write the files of an account. title: such as a run's name; outcomes: of its cures. Raises SlownetError."""
    from slownet.report.account_figure import account_figure
    from slownet.report.account_section import write_why
    from slownet.report.flame import flame_figure
    from slownet.waits import viewers
    from slownet.waits.account_text import folded

    for kind, path in wanted.files.items():
        where = f"{OUT} {kind}"
        if kind == PAGE:
            write_why(path, title, account, links, outcomes)
        elif kind in PICTURES:
            whole_file.write(path, account_figure(account, title, "why").drawn(kind), where)
        elif kind != JSON:
            text = {
                FLAME: lambda: flame_figure(account, title, "flame").alone,
                FOLDED: lambda: "".join(f"{line}\n" for line in folded(account.steps)),
                SPEEDSCOPE: lambda: json.dumps(viewers.speedscope(account, title)),
                CHROME: lambda: json.dumps(viewers.chrome_trace(account, title)),
            }[kind]()
            whole_file.write(path, text, where, OWN.get(kind, whole_file.NONE))
