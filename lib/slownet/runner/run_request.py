"""The request for a run: the options of `slownet run` as they were typed, or as `slownet.run` was called with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slownet.hypotheses import value_texts
from slownet.hypotheses.catalogue import discover, layered
from slownet.hypotheses.experiment import FAULTS, VARY
from slownet.lab.build.layer import NotBuiltError
from slownet.lab.run import caller
from slownet.lab.run.clock import EXACT, ClockRequest
from slownet.lab.run.place import Place, choose, with_given
from slownet.links import fault_file
from slownet.model import userfile, whole_file
from slownet.model.errors import ExperimentError, LabError, SlownetError, nearest
from slownet.model.options import CLOCK, CPU, KERNEL, RESUME, TDF, Option
from slownet.runner import compose_project, planning
from slownet.runner.planning import Plan
from slownet.runner.rule import BUDGET, Rule, read_rule
from slownet.runner.run_options import RunOptions
from slownet.runner.sharing import AUTO, check_labs, read_labs

if TYPE_CHECKING:
    from slownet.hypotheses.composed import Composed

EXAMPLE = "rtt=0ms,25ms"
TOOL, OPTION, VALUE = map(Option, ("tool", "option", "value"))
POSITIONAL = ("experiments", "compose")
"""Fields that are arguments of the command, not options."""


@dataclass(frozen=True, kw_only=True)
class RunRequest(RunOptions):
    """The options with what is measured: experiments, or a compose project."""

    experiments: Sequence[str] = ()
    compose: Sequence[Path] = ()

    def check(self) -> tuple[Rule, int | None]:
        """Return how often to measure and in how many labs. Raises SlownetError for what contradicts itself."""
        if self.resume:
            if self.clock or self.tdf or self.cpu:
                fix = f"leave out {CLOCK}, {TDF} and {CPU}"
                raise ExperimentError("a resumed run keeps its clock", where=RESUME, fix=fix)
            if self.kernel:
                raise ExperimentError("a resumed run keeps its kernel", where=RESUME, fix=f"leave out {KERNEL}")
            if self.experiments or self.vary or self.compose:
                fix = f"leave out the experiments and {VARY}"
                raise ExperimentError("a resumed run keeps its plan", where=RESUME, fix=fix)
        return read_rule(self.repeat or AUTO, self.budget or BUDGET), read_labs(self.labs)

    def plans(self) -> tuple[list[Plan], Place]:
        """Plan the runs and create their directories; return the plans and where they run.

        The variables of ``env`` are set here too, where claims are made. Raises SlownetError, before anything is created.
        """
        rule, labs = self.check()
        caller.set_variables(self.env, self.share)
        named = names(self)
        chosen = {} if self.compose or self.resume else conditions(self.vary)
        if not (named or self.resume):
            raise ExperimentError("no experiment is named", fix=nearest("", discover()))
        planning.check(named, chosen)  # a mistake is reported before a lab is looked for
        capture = self.capture.split(",") if self.capture else []
        planning.check_capture(named, capture)
        if not self.resume:
            whole_file.need_folder(self.runs, Option("runs"))
        where, asked, kernel = self.place, ClockRequest(self.clock, self.tdf, self.cpu), self.kernel
        if self.resume:
            where, asked, kernel = planning.where_it_ran(self.resume)
        if asked.kind == EXACT and self.compose:
            raise compose_project.not_on_the_exact_clock()
        asked_for = [planning.experiment_of(self.resume)] if self.resume else self.experiments
        chosen_place = place_of(asked_for, where, asked, self.memory, kernel)
        place = with_given(chosen_place, self.env, self.share)
        check_labs(labs, place)
        if self.resume:
            asked_again = rule if self.repeat or self.budget else None
            return [planning.resume(self.resume, labs, asked_again)], place
        once = [each for number, each in enumerate(named) if each not in named[:number]]
        return [planning.plan(name, place, self.runs, chosen, rule, capture, labs) for name in once], place

    def words(self) -> list[str]:
        """Return the command line that asks for the same."""
        found = ["slownet", "run", *self.experiments, *map(str, self.compose)]
        for each in fields(self):
            value = getattr(self, each.name)
            if each.name in POSITIONAL or value in (each.default, None) or value == []:
                continue
            option = f"--{each.name.replace('_', '-')}"
            listed = [value] if isinstance(value, str | int | Path) else value
            found += [word for one in listed for word in (option, str(one))]
        return found

    def notices(self, plans: Sequence[Plan]) -> list[str]:
        """Return what a user should know about the plans: what a lab leaves out of a compose project."""
        if not self.compose:
            return []
        from slownet.hypotheses.composed import Composed

        return [line for each in plans if isinstance(each.experiment, Composed) for line in each.experiment.project.warnings]


def place_of(
    experiments: Sequence[str], where: str, asked: ClockRequest, memory: int, kernel: str | None, exact: bool = True
) -> Place:
    """Return the place, with the layer of the experiments that need one. exact: see `choose`. Raises LabError."""
    folders = {path.parent for name, path in layered().items() if name in experiments}
    folder = folders.pop() if folders else None
    try:
        return choose(where, asked, memory, folder=folder, exact=exact, kernel=kernel)
    except NotBuiltError as error:
        if folder is None:
            raise
        what = f"{', '.join(experiments)}: programs that it needs are not in the lab"
        raise LabError(what, fix=f"build their layer, once: (cd {folder} && slownet lab build)") from error


def conditions(vary: Sequence[str]) -> dict[str, list[str]]:
    """Return the values of each condition that ``--vary`` names. Raises ExperimentError."""
    chosen: dict[str, list[str]] = {}
    for text in vary:
        name, equals, values = (each.strip() for each in text.partition("="))
        if not name or not equals or not values:
            raise ExperimentError(f"invalid condition '{text}'", where=VARY, fix=f"write NAME=VALUE,VALUE such as {EXAMPLE}")
        if name in chosen:
            raise ExperimentError(f"the condition '{name}' is given twice", VARY, "give all its values at once")
        where = f"{VARY} {name}"
        chosen[name] = _schedules(values) if name == FAULTS else value_texts.expanded(name, value_texts.split(values), where)
        if "" in chosen[name]:
            raise ExperimentError(f"an empty value in '{values}'", where, f"write values such as {EXAMPLE}")
    return chosen


def _schedules(values: str) -> list[str]:
    """Return the schedules of faults that are named, by words or by file: one, which may have commas itself, or several."""
    try:
        return [str(fault_file.of_argument(values))]
    except SlownetError:
        if len(several := value_texts.split(values)) == 1:
            raise
        return [str(fault_file.of_argument(each)) for each in several]


def names(asked: RunRequest) -> Sequence[str | Composed]:
    """Return the experiments, or the one on a compose project. Raises SlownetError."""
    if not asked.compose:
        given = {TOOL: asked.tool, OPTION: asked.option, VALUE: asked.value}
        for name in (each for each, value in given.items() if value):
            raise ExperimentError(f"{name} is for compose projects", name, "name a compose.yaml, too, or leave it out")
        return [str(layered().get(each, each)) for each in asked.experiments]
    if asked.experiments:
        raise ExperimentError("either experiments or a compose project", fix="leave one of them out")
    if not asked.tool:
        raise ExperimentError(
            "nothing measures the project", TOOL, f"add {TOOL.set('ab')} {OPTION.set('url=http://SERVICE:PORT/')}"
        )
    from slownet.compose import project_files
    from slownet.hypotheses import composed

    paths = project_files.named(asked.compose)
    chosen: dict[str, list[Any]] = {**conditions(asked.vary)}
    options = _options(asked.option)
    broken, *more = chosen.pop(FAULTS, [None])
    if more:
        raise ExperimentError("a compose project is measured under one schedule of faults", VARY, "name one")
    url = options.pop("url", None)
    if not asked.value:  # a number of a command's output has no other name, so a tool is one without
        return [composed.make(paths, chosen, asked.tool, url, options, faults=broken)]
    if url:
        raise ExperimentError("a command has its address itself", f"{OPTION} url", f"write it in {TOOL}")
    return [composed.make(paths, chosen, None, None, options, asked.tool, asked.value, faults=broken)]


def what_is_left(plan: Plan) -> str:
    """Return how much is saved of a run that ended early; empty if there is nothing, or nothing left to do."""
    samples = plan.directory / "samples.jsonl"
    count = len(userfile.read_record(samples).splitlines()) if samples.is_file() else 0
    if not 0 < count < len(plan.cells):
        return ""
    return f"{count} of {len(plan.cells)} measurements of {plan.experiment.name} are saved"


def _options(texts: Sequence[str]) -> dict[str, str]:
    found = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise ExperimentError(f"unclear option '{text}'", OPTION, "write NAME=VALUE such as requests=50")
        found[name] = value
    return found
