"""Asks for predictions that a hypothesis file leaves open, or takes them from a student's file of answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from slownet.hypotheses import answers as files
from slownet.hypotheses.answers import Answers, Question, questions
from slownet.hypotheses.file import Hypothesis
from slownet.hypotheses.predictions import Prediction
from slownet.model.errors import ExperimentError

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
