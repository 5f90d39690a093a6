"""The beginning of a page: a topology, a compose project, an experiment, a file of MiniEdit, a shared link, or two hosts."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mininet.topo import Topo
from mininet.util import splitArgs

from slownet import topologies
from slownet.hypotheses import catalogue, specs
from slownet.lab.host import owner
from slownet.lab.run.folders import hides
from slownet.lab.run.lab import Share
from slownet.live import miniedit
from slownet.live import scene as scenes
from slownet.live.line import Start
from slownet.live.scene import Scene
from slownet.live.written import TOPOLOGIES, Source
from slownet.model import importing
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
        start = Start({**common, "experiment": str(path.resolve())}, _shares([path]))
        yield Beginning(start, found.name, source_of(found.topology))
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
        yield Beginning(Start(job, shares), project.name, Source(compose=path.name))


def _named(text: str, common: dict[str, Json], stp: bool) -> Beginning:
    """Return the start of a topology, or of an experiment if no topology has that name."""
    name, _, arguments = text.partition(",")
    file = Path(f"{text.partition('.py')[0]}.py") if ".py" in text else None
    if file and _has_experiment(file, text):
        found = catalogue.find(text)
        start = Start({**common, "experiment": str(file.resolve())}, _shares([file]))
        return Beginning(start, found.name, source_of(found.topology, file))
    if file is None and name not in topologies.known():
        try:
            found = catalogue.find(text)
        except SlownetError:
            names = [*topologies.known(), *catalogue.discover()]
            raise ExperimentError(f"no topology or experiment '{text}'", fix=nearest(text, names)) from None
        return Beginning(Start({**common, "experiment": text}), text, source_of(found.topology))
    planned = specs.topology(text)
    check_topology.check(planned, stp)
    whole = f"{file.resolve()}{text.partition('.py')[2]}" if file else text
    source = source_of(planned, file, arguments)
    return Beginning(Start({**common, "topology": whole}, _shares([file] if file else [])), text, source)


def source_of(topology: Any, file: Path | None = None, arguments: str = "") -> Source:
    """Return what a saved file can name of a network's origin.

    topology: a Mininet topology, its class, or a function that makes one. file: the Python file that it is of, if any.
    """
    if getattr(topology, "is_compose_project", False):
        return Source(compose=Path(topology.project.files[0]).name)
    cls = topology if isinstance(topology, type) else type(topology)
    if cls.__module__.startswith(f"{TOPOLOGIES}."):
        return Source(cls.__name__, python_words(arguments))
    if file and file.stem.isidentifier() and cls.__module__ == file.stem and _is_named(file, cls.__name__):
        return Source(cls.__name__, python_words(arguments), module=file.stem)
    return Source(special=_special(topology))


def python_words(arguments: str) -> str:
    """Return the arguments of a topology, such as 5 of star,5, as Python has them."""
    _, values, named = splitArgs(f"topology,{arguments}" if arguments else "topology")
    return ", ".join([*map(repr, values), *(f"{name}={value!r}" for name, value in named.items())])


def _is_named(file: Path, name: str) -> bool:
    """Return whether a class is in a file by its name, and is what its topos name, if it has some."""
    module = vars(importing.file(file, "name a Python file with a topology"))
    found = module.get(name)
    return isinstance(found, type) and found in module.get("topos", {"": found}).values()


def _special(topology: Any) -> str:
    """Return a node that has a class of its own, as text; empty if no node has one."""
    for name in topology.nodes() if isinstance(topology, Topo) else ():
        if cls := topology.nodeInfo(name).get("cls"):
            return f"{name} is a {getattr(cls, '__name__', 'special node')}, whose class the saved file would not have"
    return ""


def _has_experiment(file: Path, text: str) -> bool:
    """Return whether a Python file has an experiment, and no topology of it is named."""
    from slownet.hypotheses.experiment import Experiment

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
