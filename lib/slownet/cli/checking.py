"""`slownet check`: runs hypothesis files and marks their predictions, or writes a teacher's key for them."""

from __future__ import annotations

import datetime
import hashlib
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from slownet.cli.outputs import Outputs
from slownet.cli.running import say_clocks, say_how_to_judge, say_last
from slownet.cli.terminal import console, say_records
from slownet.hypotheses import file as hypothesis
from slownet.hypotheses.answers import questions
from slownet.hypotheses.file import Hypothesis
from slownet.hypotheses.predictions import Prediction
from slownet.judge.claim import Judgement, interval
from slownet.judge.records.result import RunData
from slownet.lab.run.place import Interrupts, Place
from slownet.model import whole_file
from slownet.model.errors import ExperimentError, SlownetError
from slownet.report import table
from slownet.report.progress import Follower
from slownet.report.view import clock_line
from slownet.runner import planning
from slownet.runner import run as runs
from slownet.theory.stats import Summary

if TYPE_CHECKING:
    from slownet.classroom.key import Exercise
from collections.abc import Callable

from slownet.hypotheses import answers as files
from slownet.hypotheses.answers import Answers, Question

# Asks for predictions that a hypothesis file leaves open, or takes them from a student's file of answers.

Ask = Callable[[str], str]


def answered(read: Sequence[Hypothesis], ask: Ask | None, path: Path | None) -> tuple[list[tuple[Prediction, ...]], str]:
    """Return the predictions of each file without open fields, and the student's name.

    ask: prints a text and returns a line of input; None: an open field is an error. path: the student's
    file; what it lacks is asked for and added to it. Raises ExperimentError.
    """
    found = _answers(path, ask) if path else None
    before = repr(found)
    filled = [_filled(one, ask, found) for one in read]
    if found and repr(found) != before:
        found.write()
    return filled, found.student if found else ""


def _answers(path: Path, ask: Ask | None) -> Answers:
    if ask and not path.exists():
        try:
            return Answers(path, ask("Your name: ").strip() or path.stem)
        except EOFError as error:
            raise ExperimentError("no answer", where=files.STUDENT, fix="enter your name") from error
    return files.read(path)


def _filled(one: Hypothesis, ask: Ask | None, given: Answers | None) -> tuple[Prediction, ...]:
    """Return a file's predictions with numbers in their open fields."""
    filled = list(one.predictions)
    is_said = False
    for question in questions(one.predictions):
        written = given.find(one.name, question.name) if given else None
        if written is not None and given:
            number = _of_file(question, written, given.path)
        elif ask:
            if not is_said:
                print(f"\n{one.name}: {one.question}")
            is_said = True
            number = _asked(question, ask)
            if given:
                given.given.setdefault(one.name, {})[question.name] = number
        else:
            raise ExperimentError(
                f"{question.name} is left to be predicted", question.prediction.text.removesuffix(":"),
                f"write a number into {given.path} under [{files.quoted(one.name)}]" if given
                else "write a number, or run it with --blind or --answers FILE",
            )  # fmt: skip
        filled[question.position] = filled[question.position].filled({question.field: number})
    for each in filled:
        each.claim()
    return tuple(filled)


def _of_file(question: Question, written: str | float, path: Path) -> float:
    try:
        return question.number(written)
    except ExperimentError as error:
        raise ExperimentError(error.what, f"{path}, {error.where}", error.fix) from error


def _asked(question: Question, ask: Ask) -> float:
    """Ask until the answer is a number."""
    prompt = f"{question.prediction.text}\n  {question.asks} "
    while True:
        try:
            return question.number(ask(prompt))
        except EOFError as error:
            raise ExperimentError("no answer", where=question.name, fix="enter a number such as 2.5") from error
        except ExperimentError as error:
            print(f"  {error.what}: {error.fix}")
            prompt = f"  {question.asks} "


RECORD = "prediction.json"


@dataclass(frozen=True)
class Checked:
    """A hypothesis, its predictions with all numbers filled in, and the run that they were compared with."""

    hypothesis: Hypothesis
    predictions: tuple[Prediction, ...]
    run: RunData

    @property
    def marks(self) -> list[str]:
        """ "right", "wrong" or "undecided" for each prediction."""
        return [each.verdict.mark for each in self.run.claims]

    @property
    def judged(self) -> Iterable[tuple[Prediction, Prediction, Judgement]]:
        """Each prediction as written in the file, with all numbers filled in, and its judgement."""
        return zip(self.hypothesis.predictions, self.predictions, self.run.claims, strict=True)


def read(files: Sequence[Path]) -> list[Hypothesis]:
    """Return the hypotheses of files. Raises SlownetError."""
    found = [hypothesis.read(each) for each in files]
    names = [one.name for one in found]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ExperimentError(f"two of the files are named {twice}", fix="give them different names")
    return found


def check(
    read: Sequence[Hypothesis],
    place: Place,
    root: Path,
    ask: Ask | None,
    outputs: Outputs,
    answers: Path | None,
    explain_clock: bool,
) -> int:
    """Run what files state, mark each prediction and print the marks; return the exit status, 0 if all are right.

    ask, answers: see `answered`. Raises SlownetError.
    """
    predictions, student = answered(read, ask, answers)
    done = _run(read, predictions, place, root, student, explain_clock)
    if not outputs.write_json(lambda: {"runs": [{**each.run.to_json(), "marks": each.marks} for each in done]}):
        for each in done:
            _show(each)
    say_last([each.run for each in done])
    outputs.write([each.run for each in done])
    return runs.status([each.run for each in done])


def key(read: Sequence[Hypothesis], place: Place, root: Path, path: Path) -> int:
    """Run what files state and write the measured value of each open prediction; return the exit status.

    It is Markdown for people, or for `slownet check mark` TOML, with the range of right answers, if the file's name ends so.
    """
    from slownet.classroom import key as keys

    done = _run(read, [tuple(each.blank for each in one.predictions) for one in read], place, root)
    failed = [each.run for each in done if each.run.failed]
    for run in failed:
        print(f"slownet: {run.experiment}: {run.failed[0].error}", file=sys.stderr)
    if failed:
        return 1
    text = (
        keys.as_toml([each for each in map(_exercise, done) if each.solutions]) if path.suffix == ".toml" else as_markdown(done)
    )
    whole_file.write(path, text, "--key", keys.OWN)
    if path.is_file():  # not a pipe, which may be what this is printed to
        print(f"written  {path}")
    return 0


def _exercise(done: Checked) -> Exercise:
    from slownet.classroom.key import Exercise, solve

    judged = [judgement for _, _, judgement in done.judged]
    asked = questions(done.hypothesis.predictions)
    solutions = [solve(each, done.run, judged[each.position]) for each in asked]
    return Exercise(done.hypothesis.name, done.hypothesis.question, clock_line(done.run), solutions)


def as_markdown(done: Sequence[Checked]) -> str:
    """Return the teacher's key: each exercise with its measured values."""
    lines = ["# Answers", "", "Measured by `slownet check --key`; do not edit.", ""]
    for each in done:
        lines += [f"## {each.hypothesis.path.name}", "", each.hypothesis.question, ""]
        for asked, _, judgement in each.judged:
            said = asked.text.rstrip(".:")
            if asked.open:
                lines.append(f"- {said}: **{', '.join(asked.open)} = {_measured(judgement)}**")
            else:
                lines.append(f"- {said}: {judgement.verdict} ({judgement.text})")
        lines += ["", *(f"    {line}" for line in _cells(each.run)), "", f"On the {clock_line(each.run)}.", ""]
    return "\n".join(lines)


def _run(
    read: Sequence[Hypothesis],
    predictions: Sequence[tuple[Prediction, ...]],
    place: Place,
    root: Path,
    student: str = "",
    explain_clock: bool = False,
) -> list[Checked]:
    made = [replace(one, predictions=each) for one, each in zip(read, predictions, strict=True)]
    experiments = [one.experiment() for one in made]
    plans = []
    for one, experiment in zip(made, experiments, strict=True):
        plan = planning.plan(str(one.path), place, root, {}, experiment=experiment)
        plan.state(predictions=_record(one, plan.directory, student))
        plans.append(plan)
    if explain_clock:
        say_clocks(plans)
    with Interrupts(place) as interrupts, Follower(planning.totals(plans)) as follower:
        try:
            done = runs.execute(plans, place, follower)
        except runs.ClaimsError as error:
            say_how_to_judge(error)
            raise
        except SlownetError:
            if interrupts.received:
                raise KeyboardInterrupt from None
            raise
    return [Checked(*each) for each in zip(read, predictions, done, strict=True)]


def _record(one: Hypothesis, directory: Path, student: str) -> list[dict[str, object]]:
    """Record what was predicted, and when, before anything is measured."""
    shown = [{"claim": each.kind, **each.fields, "says": each.says} for each in one.predictions]
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    digest = hashlib.sha256(one.path.read_bytes()).hexdigest()
    whole = {
        "predicted": now,
        **({"student": student} if student else {}),
        "file": str(one.path),
        "sha256": digest,
        "predictions": shown,
    }
    whole_file.new(directory / RECORD, json.dumps(whole, indent=1).encode())
    return shown


def _show(done: Checked) -> None:
    from slownet.report.html_page import REPORT  # which was imported while the lab ran

    screen = console()
    screen.print(table.show(done.run, claims=False))
    for number, ((_, made, judgement), mark) in enumerate(zip(done.judged, done.marks, strict=True), 1):
        screen.print(f"prediction {number} is {mark}: {made.text.removesuffix(':')}", highlight=False, soft_wrap=True)
        screen.print(f"  {judgement.text}", highlight=False, soft_wrap=True)
    say_records(screen, done.run.directory, end="\n\n", page=REPORT)


def _measured(judgement: Judgement) -> str:
    if judgement.measured is None:
        return judgement.text
    low, high = (judgement.measured if each is None else each for each in (judgement.low, judgement.high))
    return interval(Summary(judgement.measured, low, high, 1))


def _cells(run: RunData) -> Iterable[str]:
    for cell in run.cells:
        found: Mapping[str, Summary] = cell.metrics
        yield f"{cell.title}: " + ", ".join(f"{name} {interval(each, 3)}" for name, each in found.items())
