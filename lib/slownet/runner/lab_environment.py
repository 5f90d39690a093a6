"""The environment of an experiment in its place: folders, environment variables, a working directory, an import path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from slownet.hypotheses.catalogue import FILES
from slownet.hypotheses.experiment import Experiment
from slownet.hypotheses.recorded import Recorded
from slownet.lab.run import caller
from slownet.lab.run.caller import Given
from slownet.lab.run.lab import NOTHING, Share
from slownet.model.errors import SlownetError
from slownet.model.importing import PACKAGE_FOLDERS
from slownet.runner import compose_project
from slownet.runner.job import Job

RUN = "/opt/slownet/run"
"""The run directory in a lab on the exact clock."""
NOTHING_MORE = Given()


@dataclass(frozen=True)
class ExperimentFolder:
    """An experiment with the folder that its boots write to: all that a boot needs to know of a run or a sweep.

    source: its name or file, as `slownet.hypotheses.catalogue.find` takes it; given: what its caller gives labs in addition.
    """

    experiment: Experiment
    directory: Path
    source: str
    given: Given = NOTHING_MORE


@dataclass(frozen=True)
class LabEnvironment:
    """The shares, the environment, the working directory (None for the place's own), and folders for sys.path.

    ``directory``: the run directory's path in the place.
    """

    shares: Sequence[Share]
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: Path | None = None
    path: Sequence[str] = ()
    directory: str = ""


def of(own: ExperimentFolder, job: Job, is_exact: bool = False) -> LabEnvironment:
    """Return those of a boot. Raises SlownetError.

    is_exact: whether it is on the exact clock, where they may depend on nothing but what is asked: the run directory, whose
    name has the date, is at `RUN`, with nothing of other boots in it.

    A file of the caller's own has what pytest's tests have: the caller's environment, import path and working directory, the
    folders read-only. On the exact clock it has of the environment what its code names: each variable lies in the memory of
    every program, and moves its digits. The project's experiments have none of this, so that they measure the same everywhere.
    Both have what the caller adds (``--env``, ``--share``). The run directory can be read; only the job's own folders in it
    can be written, because the host acts on the others.
    """
    made = _made(own.directory, job)
    run = [Share(own.directory), *(Share(each, writable=True) for each in made)]
    directory = str(own.directory)
    if is_exact:
        names = inside(job, is_exact).folders()
        run = [Share(own.directory, at=RUN, only=NOTHING)]
        run += [Share(each, True, f"{RUN}/{name}", NOTHING) for each, name in zip(made, names, strict=True)]
        directory = RUN
    folders = [*own.given.shares, *compose_project.shares(own.directory)]
    more = compose_project.variables(own.directory)
    source = _file(own)
    if source is None:
        return LabEnvironment([*folders, *run], {**more, **own.given.env}, directory=directory)
    taken = [each.path for each in own.given.shares]
    its, *others = caller.code_folders(source.parent)
    code = [Share(its), *(Share(each) for each in others if each not in taken)]
    here, path = caller.working_directory(), caller.imported_from(source.parent)
    its_code = [each for each in (its, *others) if each.name not in PACKAGE_FOLDERS]
    env = caller.variables_named_in(its_code) if is_exact else caller.variables()
    return LabEnvironment(
        [*code, *folders, *run], {**env, **more, **own.given.env}, here, [str(each) for each in path], directory
    )


def _file(own: ExperimentFolder) -> Path | None:
    """Return the caller's file that an experiment is in, or is made of; None for one without."""
    if isinstance(own.experiment, Recorded):
        return own.experiment.around
    return Path(own.source) if own.source.endswith(FILES) else None


def inside(job: Job, is_exact: bool) -> Job:
    """Return the job as the lab sees it: on the exact clock without the lab's number, which depends on the other labs."""
    return replace(job, lab=1) if is_exact else job


def _made(directory: Path, job: Job) -> list[Path]:
    """Make the folders that a boot writes to, and return them. Raises SlownetError."""
    folders = [directory / name for name in job.folders()]
    for each in folders:
        try:
            each.mkdir(exist_ok=True)
        except OSError as error:
            raise SlownetError(
                f"cannot make {each.name}, {error.strerror}", f"in {directory}", "remove what is there"
            ) from error
    return folders
