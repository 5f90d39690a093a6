"""`slownet check variants`, `grade` and `bundle`: exercises for a class, and what programs for classes run to grade them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, NoReturn

import typer

from slownet.cli.completing import one_of
from slownet.cli.options import KeyOption
from slownet.lab.run.lab import MEGABYTES
from slownet.model import whole_file
from slownet.model.errors import ExperimentError, nearest
from slownet.model.units import duration

KINDS = ("gradescope", "submitty", "github")
FORMS = ("gradescope", "submitty", "text")
LIMIT = "120s"
TestOption = Annotated[
    list[Path] | None,
    typer.Option("--test", metavar="FILE", help="A file of pytest's that judges the code handed in, in a lab. Repeatable."),
]
LimitOption = Annotated[str, typer.Option("--limit", metavar="TIME", help="Time limit of the tests of code.")]
MemoryOption = Annotated[int, typer.Option("--memory", metavar="MB", help="Memory of the lab that tests the code.")]
LateOption = Annotated[str, typer.Option("--late", metavar="PART", help="Fraction of the points that late work keeps.")]
VisibilityOption = Annotated[
    str,
    typer.Option(
        "--visibility",
        metavar="WHEN",
        help="When students see their points: visible, after_due_date, after_published or hidden.",
        autocompletion=one_of("visible", "after_due_date", "after_published", "hidden"),
    ),
]


def variants(
    exercises: Annotated[list[Path], typer.Argument(metavar="EXERCISE", help="Exercises with names such as ${far} in them.")],
    table: Annotated[Path, typer.Option("--variants", metavar="FILE", help="The values of the names in each one (TOML).")],
    student: Annotated[
        str | None,
        typer.Option("--student", metavar="ID", help="Write only this student's, under the exercise's name."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FOLDER", help="The folder to write to; by default the exercise's own.")
    ] = None,
) -> None:
    """Write the variants of exercises: all, for the teacher to measure a key of them, or a student's."""
    from slownet.classroom import variants as made

    if student is not None and not student.strip():
        raise ExperimentError("the student's id is empty", "--student", "write an address, a login or a number")
    for path in exercises:
        for written in made.write(path, made.read(table, path.stem), out or path.parent, student):
            print(written)


def grade(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder handed in, with an answers.toml.")],
    key: Annotated[
        Path | None, typer.Option("--key", metavar="FILE", help="For answers: what `slownet check --key KEY.toml` wrote.")
    ] = None,
    form: Annotated[
        str, typer.Option("--for", metavar="FORM", help="gradescope, submitty or text.", autocompletion=one_of(*FORMS))
    ] = "text",
    results: Annotated[
        Path | None, typer.Option("--results", metavar="FILE", help="The file to write; by default standard output.")
    ] = None,
    student: Annotated[str, typer.Option("--student", metavar="ID", help="Whose it is, for exercises with variants.")] = "",
    metadata: Annotated[
        Path | None, typer.Option("--metadata", metavar="FILE", help="Gradescope's file of who handed in, and when.")
    ] = None,
    only: Annotated[
        str | None, typer.Option("--only", metavar="NAME", help="Only this question or test, e.g. there_and_back.round_trips.")
    ] = None,
    test: TestOption = None,
    limit: LimitOption = LIMIT,
    memory: MemoryOption = MEGABYTES,
    late: LateOption = "100%",
    visibility: VisibilityOption = "visible",
) -> None:
    """Grade one submission. A mistake in it costs its points and is reported; it never stops the grading."""
    from slownet.classroom import attempts, autograders, grading
    from slownet.classroom import key as keys

    if form not in FORMS:
        raise ExperimentError(f"unknown form '{form}'", "--for", nearest(form, FORMS))
    _check_visibility(visibility)
    if not folder.is_dir():
        raise ExperimentError(f"{folder} is not a directory", fix="pass the directory of submissions")
    share = attempts.share(late)
    who = grading.metadata(metadata) if metadata else grading.Submitted(student)
    if key is None and not test:
        raise ExperimentError("nothing to grade by", "--key", "name a key, with --test a file for code, or both")
    found = grading.answers(folder, keys.read(key), student or who.student) if key else []
    if test and not (only and any(each.name == only for each in found)):
        from slownet.classroom import student_code

        found += student_code.grade(folder, test, duration(limit, "--limit"), memory)
    if only is not None:
        found = [each for each in found if each.name == only] or _unknown(only, [each.name for each in found])
    forms = {
        "gradescope": lambda: autograders.gradescope(found, share if who.is_late else 1.0, visibility),
        "submitty": lambda: autograders.submitty(found),
        "text": lambda: autograders.text(found),
    }
    text = forms[form]()
    if results:
        whole_file.write(results, text, "--results", {".json": "{"})
    else:
        print(text, end="")
    if form == "text" and not all(each.passed for each in found):
        raise typer.Exit(1)


def bundle(
    exercises: Annotated[
        list[Path],
        typer.Argument(metavar="EXERCISE", help="Hypothesis files whose answers are handed in; all variants."),
    ],
    key: KeyOption,
    kind: Annotated[
        str, typer.Option("--for", metavar="KIND", help="gradescope, submitty or github.", autocompletion=one_of(*KINDS))
    ] = "gradescope",
    slownet: Annotated[
        str | None,
        typer.Option(
            "--slownet",
            envvar="SLOWNET",
            metavar="WHAT",
            help="The package that pip installs as slownet there: a wheel, which goes along.",
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="The bundle. Default: KIND.zip.")] = None,
    test: TestOption = None,
    lab: Annotated[
        Path | None, typer.Option("--lab", metavar="FILE", help="With --test: what `slownet lab export` wrote.")
    ] = None,
    limit: LimitOption = LIMIT,
    memory: MemoryOption = MEGABYTES,
    late: LateOption = "100%",
    visibility: VisibilityOption = "visible",
) -> None:
    """Write what a class's program runs: an autograder of Gradescope, a configuration of Submitty, a workflow of GitHub's."""
    from slownet.classroom import attempts, autograders
    from slownet.classroom.autograders import Wanted

    if kind not in KINDS:
        raise ExperimentError(f"unknown kind '{kind}'", "--for", nearest(kind, KINDS))
    _check_visibility(visibility)
    attempts.share(late), duration(limit, "--limit")
    wanted = Wanted(tuple(exercises), key, slownet or "", tuple(test or ()), lab, limit, memory, late, visibility)
    path = out or Path(f"{kind}.zip")
    for name in autograders.write(path, kind, wanted):
        print(name)
    print(f"written  {path}")


def _unknown(only: str, known: list[str]) -> NoReturn:
    raise ExperimentError(f"no question or test '{only}'", "--only", nearest(only, known))


def _check_visibility(word: str) -> None:
    from slownet.classroom.autograders import VISIBLE

    if word not in VISIBLE:
        raise ExperimentError(f"unknown visibility '{word}'", "--visibility", nearest(word, VISIBLE))
