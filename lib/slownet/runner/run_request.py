"""What is to be run: the options of `slownet run` as they were typed, or as `slownet.run` was called with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

from slownet.hypotheses import value_lists
from slownet.hypotheses.catalogue import discover
from slownet.hypotheses.experiment import FAULTS, VARY
from slownet.lab.boot import MEGABYTES
from slownet.lab.clock import EXACT, ClockRequest
from slownet.lab.place import Place, choose, with_given
from slownet.links import fault_file
from slownet.model import userfile
from slownet.model.errors import ExperimentError, nearest
from slownet.runner import RUNS, compose_project, planning
from slownet.runner.planning import Plan
from slownet.runner.rule import BUDGET, Rule, read_rule
from slownet.runner.sharing import AUTO, check_labs, read_labs

if TYPE_CHECKING:
    from slownet.hypotheses.composed import Composed

EXAMPLE = "rtt=0ms,25ms"
HOSTS = "hosts"
"""What ``--capture`` means if it names no interface."""


@dataclass(frozen=True, kw_only=True)
class RunRequest:
    """The options, each with its name on the command line; a text or a list of texts where that takes one."""

    experiments: Sequence[str] = ()
    clock: str | None = None
    tdf: str | None = None
    cpu: str | None = None
    memory: int = MEGABYTES
    place: str = "auto"
    vary: Sequence[str] = ()
    compose: Sequence[Path] = ()
    profile: Sequence[str] = ()
    tool: str | None = None
    url: str | None = None
    option: Sequence[str] = ()
    capture: str | None = None
    repeat: str | None = None
    budget: str | None = None
    labs: str = AUTO
    resume: Path | None = None
    runs: Path = RUNS
    env: Sequence[str] = ()
    share: Sequence[str] = ()
    keep: bool = False
    require_confinement: bool = False
    speed: int | None = None
    tool_command: str | None = None
    value: Sequence[str] = ()
    unit: Sequence[str] = ()
    faults: str | None = None

    def check(self) -> tuple[Rule, int | None]:
        """Return how often to measure and in how many labs. Raises SlownetError for what contradicts itself."""
        if self.resume:
            if self.clock or self.tdf or self.cpu or self.speed:
                fix = "leave out --clock, --tdf, --cpu and --speed"
                raise ExperimentError("a resumed run keeps its clock", where="--resume", fix=fix)
            if self.experiments or self.vary or self.compose or self.faults:
                fix = "leave out the experiments and --vary"
                raise ExperimentError("a resumed run keeps its plan", where="--resume", fix=fix)
        return read_rule(self.repeat or AUTO, self.budget or BUDGET), read_labs(self.labs)

    def plans(self) -> tuple[list[Plan], Place]:
        """Plan the runs and create their directories; return the plans and where they run.

        The variables of ``env`` are set here too, where claims are made. Raises SlownetError, before anything is created.
        """
        rule, labs = self.check()
        where, asked = self.place, ClockRequest(self.clock, self.tdf, self.cpu, self.speed)
        if self.resume:
            where, asked = planning.where_it_ran(self.resume)
        if asked.clock == EXACT and self.compose:
            raise compose_project.not_on_the_exact_clock()
        chosen_place = choose(where, asked, self.memory, confined=self.require_confinement, exact=True)
        place = with_given(chosen_place, self.env, self.share)
        named = names(self)
        check_labs(labs, place)
        if self.resume:
            asked_again = rule if self.repeat or self.budget else None
            return [replace(planning.resume(self.resume, labs, asked_again), keep=self.keep)], place
        if not named:
            raise ExperimentError("no experiment is named", fix=nearest("", discover()))
        chosen = {} if self.compose else conditions(self.vary)
        if self.faults and not self.compose:
            chosen[FAULTS] = [str(fault_file.of_argument(self.faults))]
        planning.check(named, chosen)
        capture = self.capture.split(",") if self.capture else []
        once = [each for number, each in enumerate(named) if each not in named[:number]]
        made = [planning.plan(name, place, self.runs, chosen, rule, capture, labs) for name in once]
        return [replace(each, keep=self.keep) for each in made], place

    def words(self) -> list[str]:
        """Return the command line that asks for the same."""
        found = ["slownet", "run", *self.experiments]
        for each in fields(self):
            value = getattr(self, each.name)
            if each.name == "experiments" or value in (each.default, None) or value == []:
                continue
            option = f"--{each.name.replace('_', '-')}"
            if value is True:
                found.append(option)
                continue
            listed = [value] if isinstance(value, str | int | Path) else value
            found += [word for one in listed for word in (option, str(one))]
        return found

    def notices(self, plans: Sequence[Plan]) -> list[str]:
        """Return what a user should know about the plans: what a lab leaves out of a compose project."""
        if not self.compose:
            return []
        from slownet.hypotheses.composed import Composed

        return [line for each in plans if isinstance(each.experiment, Composed) for line in each.experiment.project.warnings]


def conditions(vary: Sequence[str]) -> dict[str, list[str]]:
    """Return the values of each condition that ``--vary`` names. Raises ExperimentError."""
    chosen: dict[str, list[str]] = {}
    for text in vary:
        name, equals, values = (each.strip() for each in text.partition("="))
        if not name or not equals or not values:
            raise ExperimentError(f"invalid condition '{text}'", where=VARY, fix=f"write NAME=VALUE,VALUE such as {EXAMPLE}")
        if name in chosen:
            raise ExperimentError(f"the condition '{name}' is given twice", VARY, "give all its values at once")
        chosen[name] = value_lists.split(values)
        if "" in chosen[name]:
            raise ExperimentError(f"an empty value in '{values}'", f"{VARY} {name}", f"write values such as {EXAMPLE}")
    return chosen


def names(asked: RunRequest) -> Sequence[str | Composed]:
    """Return the experiments, or the one on a compose project. Raises SlownetError."""
    if not asked.compose:
        given = {
            "--tool": asked.tool, "--url": asked.url, "--option": asked.option, "--profile": asked.profile,
            "--tool-command": asked.tool_command, "--value": asked.value, "--unit": asked.unit,
        }  # fmt: skip
        for name in (each for each, value in given.items() if value):
            raise ExperimentError(f"{name} is for compose projects", name, "add --compose compose.yaml, or leave it out")
        return asked.experiments
    if asked.experiments:
        raise ExperimentError("either experiments or a compose project", "--compose", "leave one of them out")
    _check_tool(asked)
    from slownet.containers.compose import project_files
    from slownet.hypotheses import composed

    paths = project_files.named(asked.compose)
    chosen, options = conditions(asked.vary), _options(asked.option)
    return [
        composed.make(
            paths, asked.profile, chosen, asked.tool, asked.url, options, asked.tool_command, asked.value, asked.unit,
            str(fault_file.of_argument(asked.faults)) if asked.faults else None,
        )
    ]  # fmt: skip


def _check_tool(asked: RunRequest) -> None:
    """Raise ExperimentError unless one tool or one command measures the project."""
    own = asked.tool_command is not None
    if not asked.tool and not own:
        raise ExperimentError("nothing measures the project", "--compose", "add --tool ab --url http://SERVICE:PORT/")
    if asked.tool and own:
        raise ExperimentError("either a tool or a command of your own", "--tool-command", "leave out --tool")
    if own and asked.url:
        raise ExperimentError("a command has its address itself", "--url", "write it in --tool-command")
    if own and not asked.value:
        fix = "add a regular expression for one, such as --value 'tps = ([0-9.]+)'"
        raise ExperimentError("no number of the command's output is named", "--tool-command", fix)
    for name, given in (("--value", asked.value), ("--unit", asked.unit)):
        if given and not own:
            raise ExperimentError(f"{name} is for a command of your own", name, "add --tool-command, or leave it out")


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
            raise ExperimentError(f"unclear option '{text}'", "--option", "write NAME=VALUE such as requests=50")
        found[name] = value
    return found
