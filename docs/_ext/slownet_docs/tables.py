"""Tables of the reference: what hypothesis files and compose files may say, fixtures, markers, options, topologies."""

from __future__ import annotations

import dataclasses
import inspect
import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from slownet import topologies
from slownet.cli import examples
from slownet.compose import fields as compose_fields
from slownet.hypotheses import file, predictions
from slownet.judge.records import samples
from slownet.judge.records.judgement import Reason
from slownet.lab.build import kernel, project
from slownet.lab.run import missing_features
from slownet.model.units import duration
from slownet.pytest_plugin import short_names, wishes
from slownet.services import in_files
from slownet.tools.register import TOOLS, card


def _table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    heads = list(heads)
    lines = [heads, ["---"] * len(heads), *rows]
    return (
        "\n".join("| " + " | ".join(" ".join(each.split()).replace("|", r"\|") for each in line) + " |" for line in lines)
        + "\n"
    )


def _first(text: str | None) -> str:
    """Return the first paragraph of a docstring, in one line."""
    return " ".join(inspect.cleandoc(text or "").split("\n\n")[0].split())


def compose() -> str:
    """Return what is done with each field of a compose file."""
    return compose_fields.markdown() + "\n"


def predicted() -> str:
    """Return the kinds of [[prediction]] with their fields."""
    rows = ([f"`{name}`", ", ".join(_fields(kind)), _first(kind.__doc__)] for name, kind in sorted(predictions.KINDS.items()))
    composed = (
        [f"`{name}`", "`claims`, a list of tables", _first(kind.__doc__)] for name, kind in predictions.COMPOSED.items()
    )
    return _table(["claim", "fields", "what it states"], [*rows, *composed])


def _fields(kind: type) -> Iterator[str]:
    for each in dataclasses.fields(kind):
        needed = each.default is dataclasses.MISSING and each.default_factory is dataclasses.MISSING
        yield f"`{each.name}`" if needed else f"`{each.name}` (optional)"


def tools() -> str:
    """Return the tools of hypothesis files with their options."""
    rows = (
        [f"`{name}`", ", ".join(f"`{each}`" for each in tool.names), ", ".join(f"`{each}`" for each in tool.services) or "none"]
        for name, tool in ((name, card(each)) for name, each in sorted(TOOLS.items()))
    )
    return _table(["tool", "options", "services that it measures"], rows)


def services() -> str:
    """Return the services of hypothesis files."""
    return ", ".join(f"`{name}`" for name in sorted(in_files.SERVICES)) + "\n"


def keys() -> str:
    """Return the top-level keys of hypothesis files."""
    return ", ".join(f"`{name}`" for name in file.TOP) + "\n"


def project_keys() -> str:
    """Return the keys of [tool.slownet]."""
    return ", ".join(f"`{name}`" for name in project.KEYS) + "\n"


def wide_modules() -> str:
    """Return the modules that only the wide kernel has, as Debian names them, without ciphers and what only modules use."""
    known = missing_features.wide_modules()
    ciphers = {module for alias, module in known.items() if alias.startswith("crypto")}
    shown = (name for name in sorted({*known.values()} - ciphers) if not name.startswith(("lib", "crc_")))
    return ", ".join(f"`{name}`" for name in shown) + "\n"


def base_configuration() -> str:
    """Return what the base kernel is configured to have for networks, group by group."""
    return _groups(kernel.FILES / "lab.config", {"links and switches", "queueing", "TCP, and looking at it", "packet filter"})


def _groups(path: Path, wanted: set[str]) -> str:
    rows: list[list[str]] = []
    for block in path.read_text(encoding="utf-8").split("\n\n"):
        first, *lines = block.strip().splitlines()
        if (head := first.removeprefix("# ")) in wanted:
            named = (line.removeprefix("CONFIG_").removesuffix("=y") for line in lines if line.endswith("=y"))
            rows.append([head, ", ".join(f"`{each}`" for each in named)])
    return _table(["for", "options of Linux's configuration"], rows)


def drawn() -> str:
    """Return each topology with its drawing, parameters and links."""
    return "\n".join(line for name, kind in sorted(topologies.known().items()) for line in _topology(name, kind))


def _topology(name: str, kind: type) -> Iterator[str]:
    module = inspect.getmodule(kind)
    lines = inspect.cleandoc(module.__doc__ or "").split("\n\n") if module else []
    drawing = next((each for each in lines if "─" in each or "│" in each), "")
    yield from (f"## {kind.__name__}", "", f"`{name}` on the command line. {_first(kind.__doc__)}", "")
    if drawing:
        yield from ("```text", inspect.cleandoc(drawing), "```", "")
    options = [str(each) for each in inspect.signature(kind.build).parameters.values() if each.name != "self"]  # type: ignore[attr-defined]
    if options:
        yield from (f"Parameters: {', '.join(f'`{each}`' for each in options)}.", "")


def fixtures() -> str:
    """Return the pytest fixtures."""
    every = sorted(short_names.FIXTURES.items())
    rows = ((f"`{name}`", f"`{short_names.PREFIX}{name}`", _fixture(each)) for name, each in every)
    return _table(["fixture", "full name", "what it is"], rows)


def _fixture(name: object) -> str:
    function = getattr(name, "_get_wrapped_function", lambda: name)()
    return _first(function.__doc__).replace("slownet_net", "net").replace("slownet_wordpress", "wordpress")


def markers() -> str:
    """Return the pytest markers."""
    rows = (
        [f"`@pytest.mark.{name}{text.partition(': ')[0]}`", text.partition(": ")[2]]
        for name, text in short_names.MARKERS.items()
    )
    return _table(["marker", "what it does"], rows)


def options() -> str:
    """Return the options of pytest."""
    rows = ([f"`{name}={form}`" if form else f"`{name}`", text] for name, form, text in wishes.OPTIONS)
    return _table(["option of pytest", "what it does"], rows)


# ---- run.json ----

RECORDS = Path(__file__).parents[2] / "reference/records.toml"
OPEN = (
    "tdf_probe",
    "compose",
    "predictions",
    "versions",
    "git",
    "given",
    "project",
    "published",
    "settings",
    "service",
    "topology",
    "boots",
    "planned",
)
"""Fields whose contents vary with the run, and are described as a whole."""


def run_fields() -> dict[str, str]:
    """Return the meaning of each field of run.json."""
    found: dict[str, str] = tomllib.loads(RECORDS.read_text())["run"]
    return found


def undescribed(facts: Mapping[str, Any]) -> list[str]:
    """Return the fields of a run.json that the page does not describe."""
    known = run_fields()
    found = [name for name in facts if name not in known]
    for name in (name for name in facts if name not in OPEN and any(each.startswith(f"{name}.") for each in known)):
        tables = facts[name] if isinstance(facts[name], list) else [facts[name]]
        found += [f"{name}.{key}" for table in tables for key in table if f"{name}.{key}" not in known]
    return sorted(set(found))


def records() -> str:
    """Return the fields of run.json."""
    return _table(["field", "meaning"], ([f"`{name}`", text] for name, text in run_fields().items()))


def reasons() -> str:
    """Return the reasons of verdicts."""
    return _table(["reason", "meaning"], ([f"`{each}`", each.meaning] for each in Reason))


def sample_fields() -> str:
    """Return the fields of a sample, as `slownet.judge.records.samples` documents them."""
    text = inspect.cleandoc(samples.__doc__ or "").partition("::\n\n")[2].partition("\n\nA boot that")[0]
    return f"```text\n{inspect.cleandoc(text)}\n```\n"


# ---- environment variables and exit statuses ----

VARIABLES: Mapping[str, str] = {
    "SLOWNET_WRK2": "The program wrk2 that labs use, if it is not on PATH.",
    "SLOWNET_OHA": "The program oha, likewise.",
    "SLOWNET_SAFE_FOLDERS": "Folders, separated by colons, whose project files are obeyed whoever owns them; `*` for all.",
    "SLOWNET_LAB_FROM": "A folder, a file or an address where `slownet lab build` finds a built lab, which it "
    "trusts by its SHA-256 alone; empty: it builds one.",
    "SLOWNET_SYSTEM_CACHE": "The cache that all accounts read: `/var/cache/slownet` unless set; empty for none.",
    "XDG_CACHE_HOME": "Where kernel, image and layers are kept, in a folder `slownet`: `~/.cache` unless set.",
    "XDG_STATE_HOME": "Where records of this machine are kept that a cleaned cache must not lose: `~/.local/state` unless set.",
    "SLOWNET_TRACEBACK": "Set to anything: a failure shows Python's traceback above its line.",
    "SLOWNET_SLEEPING_CALLS": "Set to 1: programs on hosts run under strace, so that accounts of their time name timers.",
    "SLOWNET_SETTINGS": "Settings of all hosts, `initcwnd=100;net.ipv4.tcp_rmem=4096 1048576 6291456`: options of routes "
    "(`initcwnd`, `initrwnd`, `quickack`, `rto_min`...), sysctls, and `keep-alive=1` for ab; the run's settings record it. "
    "`slownet why --cures` measures with it.",
    "TMPDIR": "One of the folders where a lab's memory file may be; it must have room for `--memory`.",
    "SLOWNET_LAB": "Set inside a lab: `real`, or the time dilation factor. Do not set it yourself.",
    "SLOWNET_CPU": "Set inside a lab: what the clock charges.",
    "SLOWNET_COMPOSE": "Set inside a lab: where the compose projects are.",
    "SLOWNET_SESSION": "Set inside a lab by pytest: facts of the session on the host.",
    "SLOWNET_OWNER": "Marks programs that slownet started, so that `slownet doctor clean` ends no other.",
}
NO_READER = (
    "SLOWNET_DB_HOST",
    "SLOWNET_EVENTS",
    "SLOWNET_LAUNCHER",
    "SLOWNET_LEFT_OUT",
    "SLOWNET_MEMCACHED",
    "SLOWNET_REQUIREMENTS",
    "SLOWNET_SITE",
    "SLOWNET_WHEELS",
    "SLOWNET_WORKER",
)
"""Variables between slownet's own programs, such as WordPress's configuration."""


def variables() -> str:
    """Return the environment variables."""
    return _table(["variable", "meaning"], ([f"`{name}`", text] for name, text in VARIABLES.items()))


def statuses() -> str:
    """Return the exit statuses of each command."""
    rows = ([f"`{name}`", _statuses(told.status)] for name, told in examples.COMMANDS.items())
    return _table(["command", "exit status"], rows)


def _statuses(status: Mapping[int, str] | str) -> str:
    return status if isinstance(status, str) else "; ".join(f"{number} {text}" for number, text in status.items())


# ---- what repeats ----

REPEATS = Path(__file__).parents[2] / "figures/repeats.json"


def repeats() -> str:
    """Return what docs/repeats.py measured."""
    found: Mapping[str, float | None] = json.loads(REPEATS.read_text())
    return _table(["program", "the second time"], ([name, _repeated(value)] for name, value in found.items()))


def _repeated(difference: float | None) -> str:
    if difference is None:
        return "the watchdog ended it: a program waits by computing"
    return f"other numbers, by at most {100 * difference:.2g} %" if difference else "the same numbers"


# ---- how cost grows ----

GROWTH = Path(__file__).parents[2] / "figures/growth.json"


def growth() -> str:
    """Return what docs/growth.py measured, with the exponent of each."""
    head = ["what grows", "sizes", "CPU s", "exponent", "each one more"]
    rows = []
    for what, found in json.loads(GROWTH.read_text()).items():
        sizes, seconds = zip(*((f"{int(size):,}", f"{used:.1f}") for size, used in found["cpu_s"].items()), strict=True)
        each = float(found["each_ms"])
        more = f"{1000 * each:.3g} µs" if each < 1 else f"{each:.3g} ms"
        rows.append([what, "; ".join(sizes), "; ".join(seconds), f"{found['exponent']:.1f}", more])
    return _table(head, rows)


# ---- what a lab's system calls cost ----

CALLS = Path(__file__).parents[2] / "figures/calls.json"


def calls() -> str:
    """Return what operations cost in a lab and natively, as docs/calls.py measured it."""
    found = json.loads(CALLS.read_text(encoding="utf-8"))
    rows = []
    for name, lab in found["lab"].items():
        native = found["native"][name]
        rows.append([name, _microseconds(lab), _microseconds(native), f"{lab['median_us'] / native['median_us']:.2g}"])
    return _table(["operation", "in a lab, µs", "natively, µs", "times"], rows)


def call_parts() -> str:
    """Return what the host's share of a lab's system calls and page faults costs."""
    parts = json.loads(CALLS.read_text(encoding="utf-8"))["parts"]
    return _table(["on the host", "µs"], [[name, _microseconds(cost)] for name, cost in parts.items()])


def _microseconds(cost: Mapping[str, float]) -> str:
    return f"{cost['median_us']:.3g} ({cost['least_us']:.3g} to {cost['most_us']:.3g})"


# ---- what a query costs ----

FIGURES = Path(__file__).parents[2] / "figures/figures.json"


def query_cost() -> str:
    """Return each way of asking with its round trips, by theory and as measured."""
    from slownet.experiments.query_cost import ASKED, CONNECT, RTT

    cells = json.loads(FIGURES.read_text())["query_cost"]["cells"]
    rows = []
    for system, ways in ASKED.items():
        near, far = (cells[f"system {system}, rtt {rtt}"] for rtt in ("0ms", RTT))
        for way, (trips, why) in {"connect": CONNECT[system], **ways}.items():
            measured = (float(far[f"{way}_ms"]) - float(near[f"{way}_ms"])) / (1000 * duration(RTT))
            rows.append([system, way.replace("_", " "), f"{trips}", f"{measured:.2f}", why])
    return _table(["asked", "way", "round trips", "measured", "why"], rows)
