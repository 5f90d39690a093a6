"""The beginning of a page: a topology, a compose project, an experiment, a file of MiniEdit, a shared link, or two hosts."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from slownet import topologies
from slownet.hypotheses import catalogue, specs
from slownet.lab.host import owner
from slownet.lab.run.boot import Share
from slownet.lab.run.folders import hides
from slownet.live import miniedit
from slownet.live import scene as scenes
from slownet.live.line import Start
from slownet.live.scene import Scene
from slownet.live.written import Source
from slownet.model.errors import ExperimentError, SlownetError, nearest
from slownet.model.shapes import Json
from slownet.net import check_topology

FIRST = "two_hosts"
COMPOSE = (".yaml", ".yml")


@dataclass(frozen=True)
class Beginning:
    """A start with its title. source: for saved files. drawn: where nodes are on the page, and how links begin."""

    start: Start
    title: str
    source: Source = field(default_factory=Source)
    drawn: Scene | None = None


@contextlib.contextmanager
def beginning(text: str, stp: bool, virtual: bool) -> Iterator[Beginning]:
    """Read what a page is to begin with, before a lab is needed; what is handed over lasts for the block.

    Raises SlownetError.
    """
    common: dict[str, Json] = {"stp": stp, "virtual": virtual}
    path = Path(text)
    if scenes.SHARED in text:
        yield _drawn(scenes.unpacked(text), "shared network", common, stp)
    elif text.endswith(miniedit.ENDING):
        scene, notes = miniedit.read(_text(path))
        for note in notes:
            print(f"slownet: {note}", flush=True)
        yield _drawn(scene, path.name, common, stp)
    elif text.endswith(COMPOSE):
        with _compose(path, common) as project:
            yield project
    elif text.endswith(".toml"):
        found = catalogue.find(text)
        yield Beginning(Start({**common, "experiment": str(path.resolve())}, _shares([path])), found.name)
    else:
        yield _named(text, common, stp)


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise ExperimentError(f"cannot read {path} ({reason})", fix="name a file of MiniEdit") from error


def _drawn(scene: Scene, title: str, common: dict[str, Json], stp: bool) -> Beginning:
    scene.need_no_loop(stp)
    job: dict[str, Json] = {**common, "scene": scenes.buildable(scene).to_json(), "then": scene.to_json()}
    return Beginning(Start(job), title, drawn=scene)


@contextlib.contextmanager
def _compose(path: Path, common: dict[str, Json]) -> Iterator[Beginning]:
    from slownet.compose import handover, project_files, project_images, reader

    named = project_files.named([path])
    project = reader.read(named, [])
    project_images.need(project)
    with owner.temporary("live-compose") as parent:
        folder = Path(parent, "project")
        handover.write(folder, {handover.key(named, []): project})
        shares = [Share(folder, at=f"{handover.AT}/project"), *handover.shares([project])]
        files: list[Json] = [str(each) for each in named]
        job: dict[str, Json] = {**common, "compose": [files, []], "handed": f"{handover.AT}/project"}
        yield Beginning(Start(job, shares), project.name)


def _named(text: str, common: dict[str, Json], stp: bool) -> Beginning:
    """Return the start of a topology, or of an experiment if no topology has that name."""
    name, _, arguments = text.partition(",")
    file = Path(f"{text.partition('.py')[0]}.py") if ".py" in text else None
    if file and _has_experiment(file, text):
        found = catalogue.find(text)
        return Beginning(Start({**common, "experiment": str(file.resolve())}, _shares([file])), found.name)
    if file is None and name not in topologies.known():
        try:
            found = catalogue.find(text)
        except SlownetError:
            names = [*topologies.known(), *catalogue.discover()]
            raise ExperimentError(f"no topology or experiment '{text}'", fix=nearest(text, names)) from None
        return Beginning(Start({**common, "experiment": text}), text)
    planned = specs.topology(text)
    check_topology.check(planned, stp)
    whole = f"{file.resolve()}{text.partition('.py')[2]}" if file else text
    source = Source() if file else Source(type(planned).__name__, arguments)
    return Beginning(Start({**common, "topology": whole}, _shares([file] if file else [])), text, source)


def _has_experiment(file: Path, text: str) -> bool:
    """Return whether a Python file has an experiment, and no topology of it is named."""
    from slownet.hypotheses.experiment import Experiment
    from slownet.model import importing

    if ".py:" in text or ".py," in text:
        return False
    module = importing.file(file, "name a topology, an experiment, or a Python file with one")
    return any(isinstance(each, Experiment) for each in vars(module).values())


def _shares(files: Sequence[Path]) -> list[Share]:
    """Return the folders of files, for a lab. Raises ExperimentError for one that would hide the lab's own."""
    found = []
    for file in files:
        folder = file.resolve().parent
        if hides(folder):
            raise ExperimentError(f"{folder} would hide the lab's own folder", str(file), "move the file to another folder")
        found.append(Share(folder))
    return found
