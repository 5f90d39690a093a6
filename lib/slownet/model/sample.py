"""A sample: what one measurement gave, as it is sent by a lab and stands in samples.jsonl.

The shapes that samples are checked against are those of the types below; a new field is added here, and nowhere else. A sample
of an older version has fewer fields. Imported inside the lab, so standard library only, and without postponed annotations,
which hide `Required` from Python.
"""

from collections.abc import Mapping
from typing import Annotated, Literal, Required, TypedDict

from slownet.model import shapes
from slownet.model.shapes import Json, anything, flag, mapping, number, optional, record, text, whole

Positive = Annotated[float, number(0)]
"""A number from 0 on."""
Ordinal = Annotated[int, whole(1)]
"""A number that counts from 1."""
Seed = Annotated[int, whole(-(2**64), 2**64)]
Label = Mapping[str, str]
"""A cell's conditions as its experiment writes them: ``{"rtt": "10ms"}``."""


def cell_in_words(label: Mapping[str, object]) -> str:
    """Return a cell's conditions as text: ``rtt 10ms, loss 1%``; empty without any."""
    return ", ".join(f"{name} {value}" for name, value in label.items())


class Metric(TypedDict, total=False):
    """One quantity from one measurement: the mean of ``n`` values, and how they spread.

    ``sd`` is the sample standard deviation, None if one measurement does not show how much the quantity varies.
    """

    mean: Required[float]
    n: Required[int]
    sd: Positive | None
    values: list[float]
    """The values themselves, if they were kept."""
    ordered: bool | None
    """True if the values are in time order."""
    groups: Annotated[list[int] | None, optional(shapes.numbers)]
    """Sizes of consecutive groups of values, whose order is unknown within each."""
    steps: list[list[float]] | None
    """A cumulative histogram: value, and number of values up to it."""
    step: float | None
    """The mean was rounded to multiples of it."""
    waits: float | None
    """At most how much later a value is than what it shows, in its unit: a paint waits for the next frame."""
    count: Annotated[bool, anything]
    """True if the mean is a number of events among ``n``."""
    percent: Annotated[float, anything]
    """The percentile, if a tool printed one."""
    of: Annotated[str, anything]
    """The metric that has the values of that percentile."""


class Limited(TypedDict, total=False):
    """The limits of the sender, with their shares of the time."""

    by: Annotated[str, anything]
    share: Required[Positive]
    host: Annotated[str, anything]


class Capture(TypedDict, total=False):
    """A file of packets in the run directory."""

    file: Annotated[str, anything]
    interface: Annotated[str, anything]
    packets: Annotated[int, anything]
    dropped: Annotated[int, anything]
    before: Annotated[str, anything]
    """A host's: the file of what it sends, as it enters the interface's queue."""
    obstacle: Annotated[str, anything]
    """Why a host's interface has no such file."""
    host: Annotated[str, anything]
    addresses: Annotated[list[str], anything]
    """All addresses of that host."""
    kernel: Annotated[str, anything]
    """The file of what that host's kernel counted meanwhile."""


class Sample(TypedDict, total=False):
    """One measurement: what was asked, under which conditions it was taken, and what it gave."""

    cell: Required[Label]
    index: Required[int]
    """The place in the plan."""
    status: Required[Literal["ok", "failed"]]
    experiment: str
    condition: Mapping[str, Json]
    """The cell in numbers, with units in the names: ``{"rtt_ms": 10.0}``."""
    tool: str | None
    error: str | None
    """One line."""
    metrics: Annotated[dict[str, Metric], optional(shapes.of(dict[str, Metric], anything))]
    verified_rtt_ms: float | None
    """The result of a ping beforehand."""
    unverified: list[str]
    """Configured links that no ping could verify, each with the reason."""
    raw: list[str]
    """Paths of the tools' output in the run directory."""
    virtual_s: Positive | None
    wall_s: Positive | None
    facts: dict[str, Json]
    links: dict[str, str]
    """The conditions of each link as text, without links that have none."""
    counters: Annotated[dict[str, dict[str, dict[str, int]]], mapping(mapping(mapping(number())))]
    """``{link: {"up" or "down": {counter: number}}}``."""
    captures: Annotated[list[Capture], shapes.each(mapping(anything))]
    programs: Annotated[list[list[int]], shapes.each(shapes.numbers)]
    """With captures: when each program of a tool began and ended, in ns since 1970 on the clock of the captures."""
    rate_bit_s: Positive | None
    """The highest rate configured on a link."""
    lab: Ordinal
    """The number of the parallel lab that measured it."""
    boot: Ordinal
    """The repetition: a fresh lab or network."""
    block: Ordinal
    """The number of the call of the measuring function in this cell and boot."""
    random: Annotated[bool | None, flag]
    """True if a link's condition is random."""
    played: Annotated[bool | None, flag]
    """True if a link played a schedule meanwhile, or faults happened: its first values are a part of that, and no warm-up."""
    seeds: list[Seed]
    """Seeds of the random links, one per condition: the second direction has 1 more; empty if the kernel chose them."""
    charged_s: Positive | None
    """Seconds of CPU that the lab's clock charged meanwhile."""
    late: Positive | None
    """The share of the verifying ping by which a link was later than configured."""
    limited: Limited
    """Only if receive windows limited what was sent."""


SENT = shapes.of(Sample, others=anything)
"""A sample that a lab sends."""


def _kept() -> shapes.Shape:
    fields = {name: optional(shape) for name, shape in shapes.fields(Sample, others=anything)[1].items()}
    return record({"cell": mapping(anything), "index": whole()}, {"status": text(), **fields}, others=anything)


KEPT = shapes.late(_kept)
"""A sample in a file, which another version may have written, with fewer fields."""
