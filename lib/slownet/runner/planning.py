"""Plans runs: an experiment's cells with their run directory, new or resumed."""

from __future__ import annotations

import datetime
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from slownet.hypotheses.catalogue import FILES, RECORD, find
from slownet.hypotheses.experiment import Cell, Experiment, condition
from slownet.hypotheses.uses import is_project
from slownet.judge.claim import requirements
from slownet.judge.records import measured_folder, run_json, samples
from slownet.judge.records.charging import Charging, Terms
from slownet.judge.records.repeatability import chance, has_own_programs, repeats
from slownet.judge.records.run_json import MALFORMED, merge_facts
from slownet.judge.records.samples import cell_key
from slownet.lab.build.kernel import kind_of
from slownet.lab.run import caller
from slownet.lab.run.caller import Given, without_values
from slownet.lab.run.clock import EXACT, TIME, WORK, Clock, ClockRequest, in_words
from slownet.lab.run.place import Place
from slownet.model import userfile
from slownet.model.errors import ExperimentError, nearest
from slownet.model.facts import Facts, Measurer
from slownet.model.options import OUT, RESUME, Option
from slownet.model.version import __version__
from slownet.runner import clock_choice, compose_project, warming
from slownet.runner.folder_lock import alone
from slownet.runner.job import Boot, blocks_of, passes, read
from slownet.runner.lab_environment import ExperimentFolder
from slownet.runner.rule import Rule
from slownet.runner.sampling import first_boots

if TYPE_CHECKING:
    from slownet.hypotheses.recorded import Recorded

ONCE_DECIDED = Rule()
HOSTS = "hosts"
"""The value of ``--capture`` without an interface."""
NAMED_IN_A_TOPOLOGY = {"intfName1", "intfName2"}
"""Mininet's arguments of a link whose interfaces have names of their own."""
INTERRUPTED = "interrupted"


@dataclass
class Plan:
    """One experiment to be run or resumed, in its run directory."""

    experiment: Experiment
    directory: Path
    cells: list[Cell]
    """In measuring order; each boot appends its cells."""
    facts: Facts
    """The contents of run.json; changed by `state` and `note` alone."""
    rule: Rule = ONCE_DECIDED
    boots: list[Boot] = field(default_factory=list)
    """The cells of each boot."""
    first: int = 0
    """Index of the next cell to measure."""
    labs: int | None = None
    """The number of parallel labs that the caller wants; None lets `sharing` decide."""
    last_s: float = 0.0
    """Wall time of the last round of boots."""
    error: str = ""
    """Why the run failed; its samples until then are kept."""
    clock: Clock | None = None
    """The one that was chosen for it; None if that is the place's."""
    damage: Sequence[str] = ()
    """The damage in the samples of a resumed run, a line each; those are measured again."""

    @property
    def folder(self) -> ExperimentFolder:
        """The facts about it that its boots need."""
        return ExperimentFolder(self.experiment, self.directory, self.facts["source"], Given.from_json(self.facts.get("given")))

    @property
    def left(self) -> list[int]:
        """Indices of the cells, from ``first`` on, that have no good sample in the directory yet."""
        taken = samples.taken(self.directory)
        return [index for index, cell in enumerate(self.cells) if index >= self.first and (cell_key(cell), index) not in taken]

    @property
    def blocks(self) -> int:
        """Number of blocks of each cell in a boot."""
        return int(self.facts.get("blocks", 1))

    def add(self, cells: Sequence[Mapping[str, str]], boots: int) -> None:
        """Plan that many more boots of these cells, to be measured next."""
        asked = {cell_key(cell) for cell in cells}
        chosen = [cell for cell in _once(self.cells or [dict(cell) for cell in cells]) if cell_key(cell) in asked]
        self.first = len(self.cells)
        recorded = list(self.facts.get("boots") or [boot.to_json() for boot in self.boots])
        for _ in range(boots if chosen else 0):
            number = self.boots[-1].number + 1 if self.boots else 1
            boot = Boot(number, len(self.cells), len(chosen) * self.blocks, self.blocks)
            self.cells = [*self.cells, *passes(chosen, self.blocks, number)]
            self.boots = [*self.boots, boot]
            recorded.append(boot.to_json())
        self.state(boots=recorded, planned=self.cells)

    @property
    def boot_s(self) -> float:
        """Wall time of the last round divided by its number of boots, parallel or not."""
        return self.last_s / max(1, sum(boot.first >= self.first for boot in self.boots))

    def state(self, **facts: Unpack[Facts]) -> None:
        """Replace these facts by others; `write` puts them on the disk."""
        self.facts = {**self.facts, **facts}

    def merge(self, reported: Mapping[str, object]) -> None:
        """Add the facts that a boot reports, as `merge_facts` does, and write them."""
        self.facts = merge_facts(self.facts, reported)
        self.write()

    def note(self, boot: Boot, **where: Unpack[Measurer]) -> None:
        """Record where a boot is measured; for one that was killed and resumed, where it was resumed last."""
        recorded = self.facts.get("boots") or []
        self.state(boots=[{**each, **where} if each["boot"] == boot.number else each for each in recorded])

    def write(self) -> None:
        """Write run.json."""
        samples.write_run_json(self.directory, self.facts)

    def broke_off(self, error: BaseException) -> None:
        """Record why the run ended early."""
        self.error = str(error) or INTERRUPTED
        self.state(error=self.error)
        self.write()


def _once(cells: Sequence[Cell]) -> list[Cell]:
    """Return the cells without duplicates, in order of first appearance."""
    return list({cell_key(cell): cell for cell in reversed(cells)}.values())[::-1]


def check(names: Sequence[str | Recorded], chosen: Mapping[str, Sequence[str]]) -> None:
    """Raise SlownetError for wrong names, conditions or claims, before anything is created."""
    for name in names:
        found = find(name) if isinstance(name, str) else name
        compose_project.check(found.topology)
        if found.cells(chosen) == found.cells():  # with other cells a claim may find none to judge
            requirements.check(found.name, found.judged_by, [(cell, condition(cell)) for cell in found.cells()])


def check_capture(names: Sequence[str | Recorded], interfaces: Sequence[str]) -> None:
    """Raise ExperimentError for an interface that no network of these experiments has, before a lab is looked for.

    Not checked: a topology that names interfaces itself, and a compose project.
    """
    if not interfaces:
        return
    from mininet.topo import Topo

    for name in names:
        made: Any = (find(name) if isinstance(name, str) else name).topology
        network = made if isinstance(made, Topo) or is_project(made) else made()
        if not isinstance(network, Topo) or any(NAMED_IN_A_TOPOLOGY & set(each) for *_, each in network.links(withInfo=True)):
            continue
        ports = [each for one, other in network.links() for each in zip((one, other), network.port(one, other), strict=True)]
        known = [f"{node}-eth{port}" for node, port in ports]
        for each in interfaces:
            named = re.fullmatch(r"(.+)-eth\d+", each)
            if each != HOSTS and not (named and named[1] in network.nodes()):
                raise ExperimentError(f"no interface '{each}'", Option("capture"), nearest(each, [HOSTS, *known]))


def plan(
    name: str | Recorded,
    place: Place,
    root: Path,
    chosen: Mapping[str, Sequence[str]],
    rule: Rule = ONCE_DECIDED,
    capture: Sequence[str] = (),
    labs: int | None = None,
    experiment: Experiment | None = None,
) -> Plan:
    """Plan a new run and create its run directory. Raises SlownetError.

    name: of an experiment, or one that a command line describes, which is written into the run directory. labs: how many labs
    run in parallel; None lets `sharing` decide. experiment: that of this name, if its claims are others than the file's.
    """
    experiment = experiment or (find(name) if isinstance(name, str) else name)
    decided = clock_choice.choose(experiment, place, experiment.judged_by, _around(name))
    place = decided.place
    if place.clock.is_exact and is_project(experiment.topology):
        raise compose_project.not_on_the_exact_clock()
    cells = experiment.cells(chosen)
    directory = samples.new_run_directory(root, experiment.name).resolve()
    facts: Facts = {
        **described(experiment, place),
        "clock_because": decided.why,
        "source": source_of(name) if isinstance(name, str) else str(name.write(directory)),
        "capture": list(capture),
        "blocks": blocks_of(experiment, place.clock),
        "sampling": rule.to_json(),
    }
    own = experiment.cells()
    if all(cell in own for cell in cells):  # of others it was not measured
        facts["chance_spread"] = [each.to_json() for each in experiment.spreads]
    if given := compose_project.hand_over(experiment.topology, directory):
        facts["compose"] = given
    made = Plan(experiment, directory, [], facts, rule, labs=labs, clock=place.clock)
    made.add(cells, first_boots(rule, Terms.of(facts), bool(experiment.judged_by)))
    if place.given:
        made.state(given=place.given.to_json())
    made.write()
    return made


def _around(name: str | Recorded) -> list[Path]:
    """Return the folders that an experiment's file has around it in a lab; none for one of the project's."""
    return caller.code_folders(Path(name).resolve().parent) if isinstance(name, str) and name.endswith(FILES) else []


def described(experiment: Experiment, place: Place) -> Facts:
    """Return the facts of an experiment and of the place, on its final clock, that runs record."""
    facts: Facts = {
        "experiment": experiment.name,
        "question": experiment.question,
        "started": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        **place.clock.facts,
        **place.facts,
        "slownet": __version__,
        "git": _git(),
        "argv": without_values(sys.argv),
        "published": experiment.published,
        "operation": getattr(experiment.service, "operation", None),
    }
    own = has_own_programs(*experiment.parts)
    drawn = experiment.chance or chance(*experiment.parts)
    operations, limit_s = warming.length(experiment)
    return {
        **facts,
        "chance": drawn,
        "own_programs": own,
        "repeats": str(repeats(Charging.of(facts), drawn, own)),
        "warm_up": {"operations": operations, "limit_s": limit_s, "real_s": warming.LONGEST_REAL_S if limit_s else 0.0},
    }


def clock_of(plan: Plan) -> str:
    """Return which clock a plan has, and why: "virtual clock, TDF inf: all claims are about round trips..."."""
    clock = in_words(plan.facts["clock"], plan.facts["tdf"], plan.facts.get("cpu"))
    return f"{clock}: {plan.facts['clock_because']}"


def totals(plans: Sequence[Plan]) -> dict[str, int]:
    """Return the number of measurements that each experiment has planned."""
    return {each.experiment.name: len(each.cells) for each in plans}


def source_of(name: str) -> str:
    """Return an experiment's name, or the whole path of its file."""
    return str(Path(name).resolve()) if name.endswith((*FILES, RECORD)) else name


def resume(directory: Path, labs: int | None = None, rule: Rule | None = None) -> Plan:
    """Return the plan of an interrupted run, with any number of labs. Raises SlownetError.

    rule: how often to measure from now on, if that is not what the run was begun with: it may have ended and need more boots.
    """
    facts = _facts(directory)
    facts.pop("error", None)
    Given.from_json(facts.get("given"))  # raises LabError for a variable that has no value now
    with alone(directory):
        damage = samples.read_log(directory, facts).damage
        with samples.SampleLog(directory) as log:  # sets aside what is damaged
            facts["samples"] = log.seal
    compose_project.take(directory)
    rule = rule or Rule.from_json(facts.get("sampling") or {})
    boots = read(facts)
    experiment = find(facts["source"])
    compose_project.take_again(experiment.topology, directory, facts)
    return Plan(experiment, directory.resolve(), facts["planned"], facts, rule, boots, labs=labs, damage=damage)


def where_it_ran(directory: Path) -> tuple[str, ClockRequest, str | None]:
    """Return a run's place, clock and kind of kernel, as `choose` takes them. Raises SlownetError."""
    facts = _facts(directory)
    charged = facts["cpu"]
    tdf = str(facts["tdf"]) if facts["tdf"] else None
    speed = (facts.get("machine") or {}).get("instructions_per_ns")
    clock = f"{EXACT}:{speed}" if speed else facts["clock"]
    asked = ClockRequest(clock, tdf, charged if tdf and charged in (WORK, TIME) else None)
    has_kind = facts["place"] == "lab" and asked.kind != EXACT
    return facts["place"], asked, kind_of(str(facts.get("kernel", ""))) if has_kind else None


def experiment_of(directory: Path) -> str:
    """Return the name or the file of a run's experiment. Raises SlownetError."""
    return str(_facts(directory)["source"])


def _facts(directory: Path) -> Facts:
    try:
        facts = run_json.read(directory)
        _ = facts["source"], facts["planned"], facts["boots"], facts["place"], facts["clock"], facts["tdf"], facts["cpu"]
    except (OSError, *MALFORMED) as error:
        what = f"{directory} is not a run that can be resumed"
        fix = "name a directory with the run.json of a run"
        if measured_folder.is_of_a_sweep(directory):
            fix = f"write slownet sweep, or slownet hunt, {OUT.typed} {directory} {RESUME.typed}"
        raise ExperimentError(what, _why(error), fix) from error
    return facts


def _why(error: Exception) -> str:
    """Return what is wrong with run.json; empty if it is missing or of something else."""
    if isinstance(error, (FileNotFoundError, NotADirectoryError, KeyError)):
        return ""
    return userfile.reason(error) if isinstance(error, (OSError, ValueError)) else str(error)


def _git() -> dict[str, str | bool]:
    """Return the revision of the caller's checkout and whether it has changes; empty outside a checkout."""

    def ask(*words: str) -> str:
        done = subprocess.run(["git", *words], capture_output=True, text=True, check=False)
        return done.stdout.strip() if done.returncode == 0 else ""

    try:
        revision = ask("rev-parse", "HEAD")
        return {"revision": revision, "changed": bool(ask("status", "--porcelain"))} if revision else {}
    except OSError:
        return {}
