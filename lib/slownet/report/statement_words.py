"""The words for what judging states: a claim's name, and what was found, by their codes (`slownet.judge.records.statement`).

Records and other runs know a claim by its name, so a name depends on the claim's fields alone. What a person would say of the
same claim in a report is in `slownet.report.words`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from slownet.judge.records.cell import by_error, listed
from slownet.judge.records.quantity import interval, quantity
from slownet.model.sample import cell_in_words
from slownet.model.shapes import Json
from slownet.model.units import rounded, spoken, stated, unit_of
from slownet.theory.stats import Summary

LISTED = 3
"""Lost writes that are named."""
Limit = float | str | None


def say(code: str, values: Mapping[str, Json]) -> str:
    """Put a statement into words."""
    return WORDS[code](**values)


def _within(part: float) -> str:
    return f"within {100 * part:g} %"


def _range(at_least: Limit, at_most: Limit) -> str:
    """Say limits: "at least 40ms", "39 to 48"."""
    least, most = (each if isinstance(each, str) or each is None else stated(each) for each in (at_least, at_most))
    if least is None:
        return f"at most {most}"
    if most is None or least == most:
        return f"at least {least}" if most is None else least
    return f"{least} to {most}"


def _round_trips(number: float) -> str:
    """Say a number of round trips: "1 round trip", "0.5 round trips"."""
    text = stated(number)
    return f"{text} round trip{'s' * (text != '1')}"


def _bound(metric: str, percentile: float | None, at_least: Limit, at_most: Limit, at: str | Mapping[str, str]) -> str:
    what = metric if percentile is None else f"p{percentile:g} of {metric}"
    where = at if isinstance(at, str) else cell_in_words(at)
    return f"{what} {_range(at_least, at_most)}" + (f" at {where}" if where else "")


def _ratio(metric: str, number: float, at: Mapping[str, str], of: str, within: float) -> str:
    return f"{metric} at {cell_in_words(at)} is {rounded(number, 3)} times the one at {of}, {_within(within)}"


def _predicted(name: str, metric: str, at: str, within: float) -> str:
    what = name or f"{metric} as predicted at {at}"
    return f"{what}, {_within(within)}" if within else what


def _round_trips_between(
    name: str,
    metric: str,
    at: Mapping[str, str],
    of: Mapping[str, str],
    expected: float | None,
    at_most: float | None,
    within: float,
) -> str:
    what = name or f"{spoken(metric)} from {cell_in_words(of)} to {cell_in_words(at)}"
    if expected is not None:
        return f"{what}: {_round_trips(expected)}, {_within(within)}"
    return f"{what}: at most {_round_trips(at_most or 0.0)}"


def _metric_measured(metric: str, number: Summary, at: str | None) -> str:
    return f"{quantity(number, metric)} measured" if at is None else f"{quantity(number, metric)} at {at}"


def _ratio_measured(times: Summary, number: float | None, source: str) -> str:
    return f"{interval(times, 3)} " + ("measured" if number is None else f"times measured, {rounded(number, 4)} {source}")


def _law_measured(round_trips: Summary, expected: Summary) -> str:
    number = stated(expected.mean) if expected.low == expected.high else interval(expected)
    return f"{interval(round_trips)} round trips per operation measured, {number} expected"


def _constant_measured(at: Sequence[str], round_trips: Sequence[float], times: Summary) -> str:
    (near, far), (less, more) = at, round_trips
    return f"{less:.2f} round trips per operation at {near}, {more:.2f} at {far}: ratio {interval(times, 3)}"


def _more_measured(round_trips: float, other: float, of: str, is_theory: bool, times: Summary) -> str:
    source = f"theory ({of} did not run)" if is_theory else f"{of} of the same invocation"
    return f"{round_trips:.2f} round trips against {other:.2f} of {source}: {interval(times)} times"


def _other_did_not_run(of: str, near: str) -> str:
    hint = f" ({near})" if near.startswith("did you mean") else ""
    return f"{of} did not run in the same invocation{hint}, and otherwise= is not given"


def _published_times_predicted(times: Sequence[Mapping[str, Json]]) -> str:
    pairs = (f"{each['predicted_ms']:.1f} ms ({each['published_ms']:.1f}) at {each['at']}" for each in times)
    return f"predicted (published): {', '.join(pairs)}"


def _round_trips_gained(metric: str, start: float, end: float, round_trips: Summary, because: str) -> str:
    unit = unit_of(metric) or "ms"
    return f"from {start:.4g} {unit} to {end:.4g} {unit}, {interval(round_trips)} round trips: {because}"


def _follows_measured(numbers: Sequence[Mapping[str, Json]], because: str) -> str:
    words = "; ".join(f"{each['measured']:.4g} ({each['theory']:.4g}) at {each['at']}" for each in numbers)
    return f"measured (theory): {words}: {because}"


def _slowed(round_trips: float, rtt: str, start: float, is_ms: bool) -> str:
    return f"{round_trips:g} round trip{'s' * (round_trips != 1)} of {rtt} on {start:.2f}{' ms' * is_ms}"


def _round_trips_found(round_trips: Summary, expected: float, margin: Sequence[float]) -> str:
    return f"found {interval(round_trips)} round trips, expected {expected:g} ({margin[0]:.2f} to {margin[1]:.2f})"


def _ratio_found(times: Summary, expected: float, margin: Sequence[float]) -> str:
    return f"ratio {interval(times, 3)}, expected {expected:.3f} ({margin[0]:.3f} to {margin[1]:.3f})"


def _compared(confidence: float, boots: int, number: float, expected: float) -> str:
    several = f" of {boots} boots; the last one" if boots > 1 else ";"
    return f"; {100 * confidence:.4g} % interval{several} {number:.2f} against {expected:.2f} expected"


def _no_interval(repetitions: int) -> str:
    return f" (its interval is not known: that takes {repetitions} repetitions or more)"


def _few_boots(repetitions: int) -> str:
    return f" (too few boots to know how they differ: that takes {repetitions} repetitions or more)"


def _cells_failed(errors: Sequence[Sequence[str]]) -> str:
    said = "; ".join(by_error((title, error) for title, error in errors))
    return f"not decided, because {len(errors)} cell{'s' * (len(errors) > 1)} failed ({said})"


def _not_measured(cells: Sequence[str], error: str) -> str:
    verb = "was" if len(cells) == 1 else "were"
    return f"{listed(cells)} {verb} not measured" + (f"; {error}" if error else "")


def _means_nothing(metric: str, number: float, at: str) -> str:
    what = f"{metric} is {number:.2g} at {at}, where the CPU is free and nothing else takes time"
    return f"{what}: no ratio to it means anything; claim round trips (law), or measure again with the CPU charged"


def _zero(metric: str, at: str) -> str:
    return f"{metric} is 0 at {at}: there is no ratio to it; claim limits of the number itself (bound)"


def _bends(bends: Sequence[Mapping[str, float]]) -> str:
    return "; ".join(f"the law is bent by {each['off_ms']:.2g} ms at {each['at_ms']:g} ms" for each in bends)


def _bent(why: object, noise: Summary) -> str:
    return f"; {why}, and more repetitions do not help: with noise alone it would be {interval(noise)}"


def _seconds(nanoseconds: int) -> str:
    return f"{nanoseconds / 1e9:.3f} s"


def _writes_lost(write: str, of: int, lost: Sequence[Mapping[str, Json]]) -> str:
    named = ", ".join(f"{each['value']} (acknowledged at {_seconds(each['acknowledged_ns'])})" for each in lost[:LISTED])
    more = f" and {len(lost) - LISTED} more" if len(lost) > LISTED else ""
    return f"{len(lost)} of {of} acknowledged {write}s lost: {named}{more}"


NAMES: dict[str, Callable[..., str]] = {
    "law": lambda round_trips, within: (
        f"{'the predicted round trips' if round_trips is None else _round_trips(round_trips)} per operation, {_within(within)}"
    ),
    "constant": lambda at, within: f"the same round trips at {at[0]} and {at[1]}, {_within(within)}",
    "more": lambda at_least, of: f"at least {stated(at_least)} times the round trips of {of}",
    "published times": lambda t0_ms, within: f"the published times follow from the published {t0_ms:g} ms, {_within(within)}",
    "predicted": _predicted,
    "round trips between": _round_trips_between,
    "follows": lambda name, at_least, at_most: f"{name}: {_range(at_least, at_most)} times the theory",
    "ratio": _ratio,
    "ratio in limits": lambda metric, at_least, at_most, at, of: (
        f"{metric} {_range(at_least, at_most)} times as much at {at} as at {of}"
    ),
    "equal": lambda metric, at, of, within: f"{metric} at {cell_in_words(at)} equals the one at {of}, {_within(within)}",
    "no worse": lambda metric, at, of, within: (
        f"{metric} at {cell_in_words(at)} is no worse than the one at {of}, {_within(within)}"
    ),
    "bound": _bound,
    "grows": lambda metric, along, falling: f"{metric} {'falls' if falling else 'grows'} along {along}",
    "monotone": lambda metric, along, falling, within: (
        f"{metric} never {'rises' if falling else 'falls'} along {along} by more than {100 * within:g} %"
    ),
    "all of": lambda names: " and ".join(names),
    "any of": lambda names: " or ".join(names),
    "not": lambda name: f"not: {name}",
    "expectation": lambda name, within: f"{name}, {_within(within)}",
    "slowed": _slowed,
    "about": lambda number: f"about {number}",
}
"""What is claimed."""

FINDINGS: dict[str, Callable[..., str]] = {
    "measured": lambda number, expected: (
        f"{interval(number)} measured" + ("" if expected is None else f", {stated(expected)} expected")
    ),
    "metric measured": _metric_measured,
    "law measured": _law_measured,
    "constant measured": _constant_measured,
    "more measured": _more_measured,
    "published times predicted": _published_times_predicted,
    "predicted measured": lambda metric, number, predicted: (
        f"{quantity(number, metric)} measured, {quantity(predicted, metric)} predicted"
    ),
    "round trips gained": _round_trips_gained,
    "follows measured": _follows_measured,
    "ratio measured": _ratio_measured,
    "against": lambda number, other, times: f"{number:.4g} against {other:.4g}: {interval(times, 3)} times",
    "gap": lambda metric, number, of, at: f"{quantity(number, metric)} from {of} to {at}",
    "step": lambda times, of, at: f"{interval(times, 3)} times from {of} to {at}",
    "in turn": lambda parts: "; ".join("".join(map(str, each)) for each in parts),
    "parts": lambda parts: "; ".join(f"{each['name']}: {each['verdict']} ({each['text']})" for each in parts),
    "round trips found": _round_trips_found,
    "ratio found": _ratio_found,
    "cells failed": _cells_failed,
    "not measured": _not_measured,
    "other did not run": _other_did_not_run,
    "means nothing": _means_nothing,
    "zero": _zero,
    "error": lambda error: str(error),
}
"""What was found: the first statement about a number."""

ADDED: dict[str, Callable[..., str]] = {
    "because": lambda because: f"; {because}",
    "times expected": lambda times: f", {interval(times, 3)} times",
    "few values": lambda what, fix: f", {what}: {fix}",
    "no interval": _no_interval,
    "few boots": _few_boots,
    "among others": lambda claims: f" (not yet refuted at the confidence that {claims} claims together require)",
    "vary": lambda why, number: f" ({why}, {interval(number, 4)}: widen it, such as within=0.05)",
    "cpu varies too much": lambda why: f" ({why}, and more repetitions do not help)",
    "bent": _bent,
    "late": lambda why: f"; {why}",
    "error lost": lambda why: f'; {why}: return a Summary, such as run.at(...).summary("row_ms") + 20 (without .mean)',
    "compared": _compared,
    "round trips instead": lambda round_trips, expected: f"; {round_trips:.2f} round trips instead of {expected:g}",
    "interval unknown": lambda: "; its interval is not known: measure more",
    "margin of nothing": lambda: "; only numbers that do not vary can meet a margin of 0: widen it, such as within=0.05",
    "advice": lambda advice: f"; {advice}",
}
"""What else is said of it; each begins with the punctuation that parts it from what comes before."""

REASONS: dict[str, Callable[..., str]] = {
    "no width": lambda: "only numbers that do not vary can meet a margin of 0, and these vary",
    "cpu varies": lambda part: f"CPU time differs by about {100 * part:g} % between runs",
    "bends": _bends,
    "bare": lambda: "the expectation is a plain number computed from measured ones, so their error is lost",
    "woke late": lambda part: (
        f"for up to {100 * part:.2g} % of it processors woke late, which is a smaller part of a longer delay"
    ),
    "waits for a frame": lambda waits, unit: (
        f"it waits for the next frame, for up to {waits:.2g} {unit}, which is a smaller part of a longer delay"
    ),
}
"""Why more repetitions do not help."""

CHECKS: dict[str, Callable[..., str]] = {
    "no lost writes": lambda write: f"no acknowledged {write} is lost",
    "nothing invented": lambda read: f"no {read} has what was never written",
    "reads never go back": lambda read: f"{read}s never go back",
    "recovers": lambda within: f"clients are served within {within} after the faults",
    "linearizable": lambda model: f"a linearizable {model}",
}
"""What must hold of a history."""

VIOLATIONS: dict[str, Callable[..., str]] = {
    "no read acknowledged": lambda read: f"no {read} was acknowledged, so nobody knows what is there",
    "writes lost": _writes_lost,
    "invented": lambda read, value: f"{read} has {value}",
    "gone back": lambda read, older, newer, begin_ns: f"{read} has {older} after {newer} at {_seconds(begin_ns)}",
    "not served again": lambda since_ns: f"a client was not served again after {_seconds(since_ns)}",
    "served late": lambda took_ns: f"a client was served only {_seconds(took_ns)} after the end of the faults",
    "fits into no order": lambda operation, result, key: (
        f"{operation}{f', which gave {result},' if result else ''} fits into no order{f' of {key}' if key else ''}"
    ),
}
"""What was seen instead."""

HISTORIES: dict[str, Callable[..., str]] = {
    "other times": lambda most: f"the same operations, but times differ by up to {most}",
    "other line": lambda line, one, other: f"line {line}: {one}, not {other}",
    "other length": lambda one, other: f"it has {other} lines, not {one}",
}
"""How a history differs from another one."""

RUNS: dict[str, Callable[..., str]] = {
    "unfinished": lambda measured, planned: f"{measured} of {planned} planned measurements, and nothing is judged",
}
"""What a run lacks."""

SAME = "the same numbers, bit for bit"
REPEATS: dict[str, Callable[..., str]] = {
    "same": lambda: SAME,
    "same if nothing is random": lambda: (
        f"{SAME}, if its programs draw no random numbers: a hash, an address or a file's place can be one"
    ),
    "same on the exact clock": lambda: f"{SAME}, from the same versions of slownet, its image and QEMU, and the same files",
    "similar by chance": lambda chance: f"similar numbers: {chance}",
    "similar with CPU work": lambda part: (
        f"similar numbers: the CPU's work is charged, and it differs by about {100 * part:g} % from boot to boot"
    ),
    "similar with CPU time": lambda: "similar numbers: CPU time is charged, and it always varies",
    "similar on the real clock": lambda: "similar numbers: on the real clock all activity of this machine counts",
}
"""What another run would give."""

WORDS = {**NAMES, **FINDINGS, **ADDED, **REASONS, **CHECKS, **VIOLATIONS, **HISTORIES, **REPEATS, **RUNS}
