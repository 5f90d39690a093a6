"""The facts of a run: what run.json holds.

The shape that a file is checked against is that of the type below: what every reader may rely on. Older versions wrote less,
and whatever another version wrote besides is kept. Imported inside the lab, so standard library only, and without postponed
annotations, which hide `Required` from Python.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Required, TypedDict

from slownet.model import shapes
from slownet.model.sample import Ordinal, Positive
from slownet.model.shapes import Json, ShapeError, anything, mapping, optional, text


def _plain(value: Any, where: str) -> None:
    """A text, a number or nothing."""
    if isinstance(value, (dict, list)):
        raise ShapeError(f"{where} is {'an object' if isinstance(value, dict) else 'a list'}, not a text or a number")


_TABLE = optional(mapping(anything))
Text = Annotated[str, optional(text())]
"""A text; null at most in records of other versions."""


class Topology(TypedDict):
    """A network as it is drawn: its nodes, and the two ends of each link."""

    hosts: list[str]
    switches: list[str]
    links: dict[str, Annotated[list[str], shapes.each(text(), most=2)]]


class Reported(TypedDict, total=False):
    """The facts that a boot reports of its network."""

    settings: dict[str, str]
    """The kernel's TCP settings, and whether offloads are on."""
    openvswitch: str
    service: dict[str, Json]
    topology: Topology


class SpreadFacts(TypedDict, total=False):
    """The variation of a metric between boots with free CPU, measured in a cell."""

    metric: Required[str]
    relative: Required[Positive]
    at: dict[str, str]


class MachineFacts(TypedDict, total=False):
    """The emulated machine of the exact clock."""

    emulator: Annotated[str, anything]
    machine: Annotated[str, anything]
    processor: Annotated[str, anything]
    instructions_per_ns: Ordinal


class Sampling(TypedDict, total=False):
    """The rule of repetition, and the reason why the run ended."""

    repeat: str | int
    budget_s: float | None
    most: int
    confidence: float
    why: str
    last_line: str
    finds: float


class Measurer(TypedDict, total=False):
    """The program that measured a boot."""

    lab: int
    processor: int | None


class BootFacts(Measurer):
    """A repetition: its places in the plan, and what measured it."""

    boot: int
    first: int
    places: int
    blocks: int


class Published(TypedDict, total=False):
    """An article's numbers, a row for each cell, which it names by ``rtt_ms`` or as ``cell``."""

    metric: str
    title: str
    rows: Sequence[Mapping[str, Json]]
    differs: str
    """Why the article's numbers are not those of a run, as text."""
    factor: float


class Seal(TypedDict):
    """The number of lines of samples.jsonl, and the sum of the last one, so that lines missing at its end are noticed."""

    lines: int
    sum: str


class ClockFacts(TypedDict, total=False):
    """A clock."""

    clock: Text
    tdf: Annotated[str | int | None, _plain]
    cpu: Annotated[str | None, _plain]


class Facts(ClockFacts, total=False):
    """The content of run.json; `docs/reference/records.toml` describes what each field means."""

    experiment: Text
    question: Text
    source: Text
    started: Text
    place: Text
    clock_because: str | None
    error: str | None
    operation: str | None
    kernel: Annotated[str, _plain]
    seed: Annotated[int, anything]
    image: Annotated[str, _plain]
    slownet: Annotated[str, _plain]
    confined: Annotated[str, _plain]
    chance: Annotated[str, _plain]
    repeats: Annotated[str, _plain]
    own_programs: Annotated[bool, anything]
    sampling: Annotated[Sampling, _TABLE]
    given: Annotated[dict[str, object], _TABLE]
    topology: Annotated[Topology, _TABLE]
    published: Annotated[Published | None, _TABLE]
    git: Annotated[dict[str, str | bool], anything]
    contradicted: Annotated[dict[str, list[Json]], _TABLE]
    versions: Annotated[dict[str, str], _TABLE]
    settings: Annotated[dict[str, str], _TABLE]
    samples: Annotated[Seal, _TABLE]
    project: Annotated[dict[str, object], _TABLE]
    tdf_probe: Annotated[dict[str, object] | None, anything]
    compose: Annotated[dict[str, object], _TABLE]
    machine: MachineFacts | None
    planned: list[dict[str, str]]
    cells: list[dict[str, Json]]
    boots: Annotated[list[BootFacts], optional(shapes.each(mapping(anything)))]
    claims: Annotated[list[dict[str, Json]], optional(shapes.each(mapping(anything)))]
    argv: list[str] | None
    labs: Ordinal
    blocks: Annotated[int, anything]
    capture: Annotated[list[str], anything]
    warm_up: Annotated[dict[str, float], anything]
    wall_s: float | None
    virtual_s: Annotated[float | None, anything]
    ceiling_bit_s: Positive | None
    chance_spread: list[SpreadFacts] | None
    predictions: Annotated[list[dict[str, Json]], anything]
    answer: Annotated[str, anything]
    service: Annotated[dict[str, Json], anything]


SHAPE = shapes.of(Facts, others=anything)
"""The keys that every reader may rely on; older versions wrote fewer."""
