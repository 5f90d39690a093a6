"""Asks an experiment for the answer to its question, as soon as its run is judged; a record keeps it."""

from __future__ import annotations

import sys
from dataclasses import replace

from slownet.hypotheses.experiment import Experiment
from slownet.judge.records.result import RunData
from slownet.model import importing
from slownet.model.errors import ExperimentError, SlownetError

LONGEST = 1000
"""Characters of an answer: two sentences have fewer."""


def answered(run: RunData, experiment: Experiment) -> RunData:
    """Return the run with the experiment's answer among its facts; without it if the experiment writes none.

    An answer about cells that were not measured is left out. A function that fails otherwise is said in a line: the run is
    measured and judged, and nothing of it depends on a sentence.
    """
    facts = run.facts.copy()
    facts.pop("answer", None)
    if experiment.answered_by is not None and (said := _said(run, experiment)):
        facts["answer"] = said
    return replace(run, facts=facts)


def _said(run: RunData, experiment: Experiment) -> str:
    assert experiment.answered_by is not None
    try:
        with importing.going_on(whoever=True):
            said = experiment.answered_by(run.shown)
        if not isinstance(said, str):
            what = f"the answer of {experiment.name} must be a str, got {type(said).__name__}"
            raise ExperimentError(what, fix="return a sentence")
    except SlownetError as error:
        if all(cell.metrics and not cell.error for cell in run.cells) and _is_whole(run, experiment):
            sys.stderr.write(f"slownet: {error}\n")
        return ""
    except Exception as error:  # whatever a user's function raises
        sys.stderr.write(f"slownet: {importing.failure(error)}\n")
        return ""
    return " ".join(said.split())[:LONGEST]


def _is_whole(run: RunData, experiment: Experiment) -> bool:
    """Return whether all cells of the experiment were measured."""
    measured = [dict(cell.label) for cell in run.cells]
    return all(cell in measured for cell in experiment.cells())
