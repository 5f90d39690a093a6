"""What claims, cells and metrics are called in a report: the words that a person would say."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping
from typing import Any

from slownet.judge.records.condition_columns import NONE
from slownet.judge.records.judgement import SUPPORTED, WORST_FIRST, Judgement
from slownet.judge.records.result import RunData
from slownet.judge.records.samples import RUN, SWEEP
from slownet.model.errors import UnitError
from slownet.model.units import rate, rounded, show_rate, spoken, stated, unit_of
from slownet.report.text import near, trimmed

OPERATION = "request"
"""What is timed, unless a run says what its service answers with."""
NOUNS = {
    "mib_per_s": "the throughput", "mbit_per_s": "the throughput", "time_per_request_ms": "the time per {operation}",
    "answered_per_s": "the rate of answers", "round_trips": "the number of round trips",
    "round_trips_to_end": "the number of round trips to the last byte", "rtt_ms": "the round-trip time",
    "lookup_round_trips": "the number of round trips of the lookup", "first_byte_ms": "the time to the first byte",
    "received_bytes": "the number of bytes received", "bytes_after_stall": "the number of bytes after the stall",
    "stalls": "the number of stalls", "delayed": "the number of delayed ACKs", "quick_acks": "the number of quick ACKs",
    "quick_exchanges": "the number of quick exchanges", "delayed_ack_ms": "the delay of the ACK",
    "jain_index": "Jain's index of fairness", "first_share": "the first connection's share",
    "latency_min_ms": "the shortest time of a {operation}",
    "uncorrected_p99_s": "the 99th percentile from when requests were sent",
    "corrected_p99_s": "the 99th percentile from when requests were due",
    "load_ms": "the time until the page is loaded", "first_paint_ms": "the time to the first paint",
    "largest_paint_ms": "the time to the largest paint", "dom_ready_ms": "the time until the document is read",
    "speed_index_ms": "the speed index", "layout_shift": "the layout shift", "blocked_ms": "the blocking time",
    "connections": "the number of connections", "requests": "the number of requests",
    "held_back_objects": "the number of objects held back", "held_back_ms": "the time that objects are held back",
}  # fmt: skip
TIMES = re.compile(r"(^|_)(mean|p[\d_]+|max|min|avg|last|latency|lag|stall|delay|time|ack|seconds)(_|$)")
"""Metrics whose names say that they are times."""
PLACES = {
    "rtt": "{} of round trip", "delay": "{} of delay", "delay_up": "{} of delay", "delay_down": "{} of delay on the way back",
    "loss": "{} loss", "loss_up": "{} loss", "loss_down": "{} loss on the way back", "rate": "{}", "rate_up": "{}",
    "rate_down": "{} on the way back", "jitter": "{} of jitter", "queue": "a queue of {}",
}  # fmt: skip
"""How the conditions of links are said; other conditions are said by their names."""
RATES = ("rate", "rate_up", "rate_down")
ITSELF = (
    "congestion", "pattern", "cure", "harm", "tool", "way", "mode", "operation", "client", "transport", "stack", "more",
    "protocol", "page", "aqm", "system",
)  # fmt: skip
"""Conditions whose value needs no name beside it."""
SILENT = ("seed",)
"""Conditions that are no cause of anything."""
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def operation(run: RunData) -> str:
    """Return what a run timed, as a noun: a page, a request."""
    return str(run.facts.get("operation") or OPERATION)


def metric_name(metric: str, run: RunData) -> str:
    """Return what a metric measures, without its unit: "the throughput", "the corrected p99"."""
    if metric in NOUNS:
        return NOUNS[metric].format(operation=operation(run))
    stem = spoken(re.sub(r"_p(\d+)_(\d+)_", r"_p\1.\2_", metric)).partition(",")[0]
    return f"the {stem} time" if unit_of(metric) in ("ms", "s") and not TIMES.search(metric) else f"the {stem}"


def metric_title(metric: str, run: RunData) -> str:
    """Return what a metric measures, for the start of a title: "Throughput"."""
    return capital(metric_name(metric, run).removeprefix("the "))


def counted(number: float, one: str) -> str:
    """Write a number of things: "four round trips", "21.05 round trips"."""
    whole = number == round(number) and 0 <= number < len(NUMBERS)
    text = NUMBERS[round(number)] if whole else stated(number)
    return f"{text} {one}{'s' * (text not in ('one', '1'))}"


def instructions_counted(count: float) -> str:
    """Write a number of instructions: "45.13 million instructions"."""
    for name, size in (("billion ", 1e9), ("million ", 1e6), ("thousand ", 1e3)):
        if abs(count) >= size:
            return f"{count / size:.4g} {name}instructions"
    return f"{count:.0f} instructions"


def instructions_compared(one: float, other: float) -> str:
    """Say how two numbers of instructions differ: "equal", "differs by 2.3 million instructions (+5.1 %)"."""
    if one == other:
        return f"equal, {instructions_counted(one)}"
    return f"differs by {instructions_counted(abs(other - one))} ({100 * (other - one) / one:+.2g} %)"


def verdicts_counted(claims: Iterable[Judgement]) -> str:
    """Count the verdicts: ``3 of 5 claims supported, 1 inconclusive, 1 not judged``."""
    found = [claim.verdict for claim in claims]
    others = [f"{found.count(each)} {each}" for each in WORST_FIRST if each != SUPPORTED and each in found]
    return ", ".join([f"{found.count(SUPPORTED)} of {len(found)} claims supported", *others])


def with_article(name: str) -> str:
    """Put the indefinite article before a noun, and a capital letter at the start."""
    return f"{'An' if name[:1] in 'aeiou' else 'A'} {name}"


def few_boots(run: RunData) -> str:
    """Say that unknown programs were measured too seldom to know how boots differ, and what measures more; empty if not."""
    few = [cell for cell in run.cells if run.terms.own_programs and cell.lacks_boots]
    if not few:
        return ""
    boots, least = min(cell.repetitions for cell in few), max(cell.verdict_from for cell in few)
    said = f"{counted(boots, 'boot')}: how much boots differ is not known: that takes {least} repetitions or more"
    return f"{said}: {measuring_more(run, least)}"


def measuring_more(run: RunData, repetitions: int) -> str:
    """Return the command that measures a run in that many boots in all: this run if it is one, or another one like it."""
    folder = shlex.quote(near(run.directory))
    if (run.directory / RUN).is_file():
        return f"slownet run --resume {folder} --repeat {repetitions}"
    if (run.directory / SWEEP).is_file():
        return f"its own command with --out {folder} --resume --repeat {repetitions}"
    return f"slownet run --repeat {repetitions}"


def capital(sentence: str) -> str:
    """Write the first letter as a capital."""
    return sentence[:1].upper() + sentence[1:]


def listed(names: list[str]) -> str:
    """Join names: "a, b and c"."""
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1]))) if names else ""


def condition_phrase(name: str, value: Any) -> str:
    """Say one condition: "100 ms of delay", "congestion bbr"."""
    text = re.sub(r"^([\d.]+)([A-Za-z]+)$", r"\1 \2", str(value))
    text = re.sub(r"^([\d.]+)%", r"\1 %", text)
    if name in RATES and (said := _rate(str(value))):
        text = said
    if name in ITSELF:
        return f"no {name}" if text == NONE else text
    return PLACES[name].format(text) if name in PLACES else f"{name.replace('_', ' ')} {text}"


def conditions_phrase(label: Mapping[str, str], names: Iterable[str]) -> str:
    """Say those of some conditions that a cell has: "100 ms of delay and 10 % loss"; empty without any."""
    return listed([condition_phrase(name, label[name]) for name in names if name in label])


def _rate(text: str) -> str:
    """Say a rate as people do, "2 Mbit/s" for 2000kbit; nothing if it is none."""
    try:
        return f"{show_rate(rate(text))}/s"
    except UnitError:
        return ""


def varied(run: RunData) -> list[str]:
    """Return the names of the conditions that are not the same in all cells, without those that cause nothing."""
    names = dict.fromkeys(name for cell in run.cells for name in cell.label if name not in SILENT)
    return [name for name in names if len({str(cell.label.get(name)) for cell in run.cells}) > 1]


def where(label: Mapping[str, str], run: RunData) -> str:
    """Say what sets a cell apart from the other cells of a run: "100 ms of delay and 10 % loss"."""
    names = varied(run) or [name for name in label if name not in SILENT] or list(label)  # cells may differ by their seed alone
    return conditions_phrase(label, names) or "no condition"


def contrast(cell: Mapping[str, str], base: Mapping[str, str], run: RunData) -> tuple[str, str, str]:
    """Describe how two cells differ, and the shared conditions worth mentioning.

    Returns
    -------
    tuple of str
        Such as ("with congestion bbr", "with congestion cubic", "100 ms of delay"), or ("without a queue of 1000 packets",
        "with it", "").
    """
    names = [name for name in dict.fromkeys((*cell, *base)) if name not in SILENT]
    differing = [name for name in names if str(cell.get(name)) != str(base.get(name))]
    both = conditions_phrase(cell, [name for name in names if name not in differing and name in varied(run)])
    mine, other = (conditions_phrase(label, differing) for label in (cell, base))
    if not mine or not other:
        return (f"with {mine}", "without it", both) if mine else (f"without {other}", "with it", both)
    return f"with {mine}", f"with {other}", both


def claim_sentence(claim: Judgement, run: RunData) -> str:
    """Say a claim as a person would; a claim that has a name of its author's keeps it."""
    how = {
        "law": _law, "published_times": _published, "constant_round_trips": _constant, "more_round_trips": _more,
        "ratio": _ratio, "equal": _equal, "no_worse_than": _no_worse, "bound": _bound, "predicted": _predicted,
        "grows": _trend, "monotone": _trend, "round_trips_between": _between,
    }.get(claim.kind)  # fmt: skip
    is_named = claim.kind in OF_CELLS and not _is_made(claim) if claim.named is None else claim.named
    if how is None or is_named:
        return claim.name
    try:
        return capital(how(claim, run)) or claim.name
    except (KeyError, TypeError, ValueError):  # a claim of another version, or one about cells that were not measured
        return claim.name


OF_CELLS = ("ratio", "bound", "equal", "no_worse_than", "predicted", "grows", "monotone", "round_trips_between")
"""Kinds of claims whose authors may give them names, in records that do not say whether they did."""


def _is_made(claim: Judgement) -> bool:
    """Return whether the name was made from the claim's fields, which its author may have replaced."""
    starts = (claim.metric, f"{spoken(claim.metric)} from ")
    return bool(claim.metric) and (claim.name.startswith(starts) or re.match(r"p[\d.]+ of ", claim.name) is not None)


def _within(claim: Judgement) -> str:
    return f" (within {100 * float(claim.parameters['within']):g} %)" if claim.parameters.get("within") else ""


def _law(claim: Judgement, run: RunData) -> str:
    label = claim.parameters.get("at") or {}
    at = f" with {conditions_phrase(label, label)}" if label else ""
    if claim.expected is None:
        return f"{_timed(claim, run)} as many round trips as theory predicts{at}{_within(claim)}"
    return f"{_timed(claim, run)} {counted(claim.expected, 'round trip')}{at}{_within(claim)}"


def _timed(claim: Judgement, run: RunData) -> str:
    """Return what costs round trips: the operation, or, of another time than that of the run, what that measures."""
    if claim.metric == run.main_metric:
        return f"{with_article(operation(run))} costs"
    return f"{metric_name(claim.metric, run)} is"


def _published(claim: Judgement, run: RunData) -> str:
    start = trimmed(float(claim.parameters["t0_ms"]))
    return f"the article's times follow from its own {start} ms without delay and the round trips measured here{_within(claim)}"


def _constant(claim: Judgement, run: RunData) -> str:
    near, far = claim.parameters["at"]
    return f"{_timed(claim, run)} as many round trips at {near} as at {far}{_within(claim)}"


def _more(claim: Judgement, run: RunData) -> str:
    times, of = claim.parameters["at_least"], claim.parameters["of"]
    return f"{_timed(claim, run)} at least {stated(times)} times as many round trips as in {of}"


def _two(claim: Judgement, run: RunData) -> tuple[str, str, str]:
    base, cell = claim.cells
    mine, other, both = contrast(cell, base, run)
    return mine, other, f", at {both}" if both else ""


def _ratio(claim: Judgement, run: RunData) -> str:
    mine, other, both = _two(claim, run)
    fields, number = claim.parameters, claim.parameters.get("published", claim.parameters.get("expected"))
    start = f"{metric_name(claim.metric, run)} {mine} is"
    if number is not None:
        source = "as published" if "published" in fields else "as expected"
        return f"{start} {rounded(number, 3)} times that {other}, {source}{both}{_within(claim)}"
    least, most = fields.get("at_least"), fields.get("at_most")
    if {least, most} == {1.0, None}:
        return f"{start} at {'least' if least else 'most'} that {other}{both}"
    return f"{start} {_range(least, most)} times that {other}{both}"


def _equal(claim: Judgement, run: RunData) -> str:
    mine, other, both = _two(claim, run)
    return f"{metric_name(claim.metric, run)} is the same {mine} as {other}{both}{_within(claim)}"


def _no_worse(claim: Judgement, run: RunData) -> str:
    mine, other, both = _two(claim, run)
    return f"{metric_name(claim.metric, run)} is no worse {mine} than {other}{both}{_within(claim)}"


def _bound(claim: Judgement, run: RunData) -> str:
    what, fields = metric_name(claim.metric, run), claim.parameters
    if "percentile" in fields:
        share = trimmed(fields["percentile"])
        what = f"for {share} % of the values, {what}"
    at = fields.get("at")
    place_ = f" {_with(at, run)}" if at else " in every cell"
    plural = re.match(r"the (?!number of).*[^s]s$", what) and unit_of(claim.metric) in ("", "per second")
    verb = "are" if plural else "is"
    found = _range(fields.get("at_least"), fields.get("at_most"), unit_of(claim.metric))
    return f"{what} {verb} {found}{place_}"


def _predicted(claim: Judgement, run: RunData) -> str:
    return f"{metric_name(claim.metric, run)} {_with(claim.parameters['at'], run)} is as predicted{_within(claim)}"


def _between(claim: Judgement, run: RunData) -> str:
    far, near, fields = claim.cells[0], claim.cells[1], claim.parameters
    mine, other, both = contrast(far, near, run)
    end = f" {mine} than {other}" + (f", at {both}" if both else "")
    if fields.get("at_most") is not None:
        most = float(fields["at_most"])
        limit = f"{stated(most)} of a round trip" if abs(most) < 1 else counted(most, "round trip")
        return f"{_timed(claim, run)} at most {limit} more{end}"
    return f"{_timed(claim, run)} {counted(fields['expected'], 'round trip')} more{end}{_within(claim)}"


def _trend(claim: Judgement, run: RunData) -> str:
    falls, along = claim.parameters.get("falling"), spoken(str(claim.parameters.get("along", "rtt_ms"))).partition(",")[0]
    if claim.kind == "grows":
        return f"{metric_name(claim.metric, run)} {'falls' if falls else 'grows'} with the {along}"
    return f"{metric_name(claim.metric, run)} never {'rises' if falls else 'falls'} as the {along} grows{_within(claim)}"


def _with(label: Mapping[str, str], run: RunData) -> str:
    """Say a cell by what sets it apart among the cells of the run."""
    exact = run.exactly(label)
    return f"with {where(label if exact is None else exact.label, run)}"


def _range(least: Any, most: Any, of: str = "") -> str:
    tail = f" {of}" if of else ""
    mixed = least is not None and most is not None and isinstance(least, str) != isinstance(most, str)
    unit, tail = (tail, "") if mixed or isinstance(least, str) or isinstance(most, str) else ("", tail)
    low, high = (each if each is None or isinstance(each, str) else f"{stated(float(each))}{unit}" for each in (least, most))
    if low is None:  # a count or a time is not less than nothing
        return f"at most {high}{tail}" if high != "0" else f"0{tail}"
    if high is None:
        return f"at least {low}{tail}"
    return f"{low}{tail}" if low == high else f"{low} to {high}{tail}"
