"""Names of arguments in messages that name options of the command line: ``repeat=4`` for ``--repeat 4``."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import fields

from slownet.model.errors import SlownetError
from slownet.model.option_names import here, of_another_program
from slownet.model.options import CLOCK, CPU, PLACE, TDF
from slownet.runner.run_request import RunRequest

OF_COMPARE = ("within", "fail_if_slower", "metric", "at", "t0")
NAMES = {f"--{name.replace('_', '-')}": f"{name}=" for name in (*(each.name for each in fields(RunRequest)), *OF_COMPARE)}
PHRASES = {
    rf"{TDF.typed} inf\b": 'tdf="inf"',
    r"--(repeat|tdf|budget) (\d+)\b": r"\1=\2",
    rf"{CLOCK.typed} ((?:real|virtual|exact)(?::\w+)?)\b": r'clock="\1"',
    rf"{CPU.typed} (work|time)\b": r'cpu="\1"',
    rf"{PLACE.typed} (lab|native|confined)\b": r'place="\1"',
}


@contextlib.contextmanager
def naming_arguments() -> Iterator[None]:
    """Let messages of a ``with`` block name arguments, and the errors that leave it, whenever they are printed."""
    with of_another_program(NAMES, PHRASES):
        try:
            yield
        except SlownetError as error:
            error.what, error.where, error.fix = map(here, (error.what, error.where, error.fix))
            raise
