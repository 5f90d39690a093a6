"""Summarises a recording of a network in a few numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from slownet.links.conditions.link import MTU
from slownet.links.traces import cellreplay, leo_tables, load_logs, mahimahi, path_reports, pinglog, stepped, traffic
from slownet.links.traces.load_logs import Latencies
from slownet.links.traces.mahimahi import Opportunities
from slownet.links.traces.path_reports import PathReport
from slownet.links.traces.pinglog import PingLog
from slownet.links.traces.recording_file import bounded, decoded, opened
from slownet.links.traces.stepped import CAVEAT, BothWays, Steps
from slownet.links.traces.traffic import Traffic
from slownet.model.errors import TraceError

PERCENTILES = (5, 25, 50, 75, 95, 99)
BIN_S = 1.0
HEAD_BYTES = 64
DELAYS = re.compile(r"\d+( \d+){2,} ?", re.ASCII)
"""A line of CellReplay's delays."""
SEVERAL = re.compile(r"[\d.eE+-]+([ \t,]+[\d.eE+-]+)+", re.ASCII)
"""A line of several numbers."""


@dataclass(frozen=True)
class LoneDelays:
    """The one-way delays of CellReplay's file, in seconds, every 100 ms."""

    delays: tuple[float, ...]


@dataclass(frozen=True)
class Load:
    """Latencies that a load tool wrote; of a log of histograms, for each tag."""

    parts: tuple[Latencies, ...]


Trace = Opportunities | PingLog | Steps | BothWays | LoneDelays | Traffic | PathReport | Load


def load(path: Path) -> Trace:
    """Read a capture, a Mahimahi trace if the first line is a number, rates over time if it is several, else a log of pings.

    CellReplay's delays have several whole numbers with spaces, tables of LENS and WetLinks the names of their columns. Raises
    TraceError.
    """
    with opened(path) as file:  # once: it may be a pipe
        first_bytes = file.peek(HEAD_BYTES)[:HEAD_BYTES]  # type: ignore[attr-defined]
        if traffic.is_capture(first_bytes[:4]):
            return traffic.parse(file, str(path))
        if first_bytes.startswith(load_logs.SQLITE):
            return Load((load_logs.oha_database(bounded(file, path), str(path)),))
        load_logs.check_no_gob(first_bytes, str(path))
        text = decoded(bounded(file, path), path)
    first = text.lstrip().partition("\n")[0].strip()
    if (of_a_program := _of_program(text, first, str(path))) is not None:
        return of_a_program
    if leo_tables.is_lens(first):
        return leo_tables.lens(text, str(path))
    if leo_tables.is_wetlinks(first):
        return leo_tables.wetlinks(text, str(path))
    if DELAYS.fullmatch(first):
        return LoneDelays(tuple(cellreplay.lone(cellreplay.delays(text, str(path)))))
    if SEVERAL.fullmatch(first) or first.startswith(("#", "KEEP")):
        return stepped.parse(text, str(path))
    return mahimahi.parse(text, str(path)) if not first or first.isdigit() else pinglog.parse(text, str(path))


def _of_program(text: str, first: str, where: str) -> PingLog | PathReport | Load | None:
    """Return what a text has of a program that measures paths or makes load; None if it is none of these."""
    if first.startswith("{"):
        found = path_reports.objects(text, where)
        measured = path_reports.read(found, where) or load_logs.of_json(found, where)
        if measured is None:
            raise TraceError("its JSON is of no program that is known here", where, "see docs/howto/traces.md")
        return Load((measured,)) if isinstance(measured, Latencies) else measured
    if load_logs.is_wrk(first):
        return Load((load_logs.wrk(text, where),))
    if load_logs.is_vegeta_csv(first):
        return Load((load_logs.vegeta_csv(text, where),))
    if load_logs.is_k6_csv(first):
        return Load((load_logs.k6_csv(text, where),))
    if load_logs.is_oha_csv(first):
        return Load((load_logs.oha_csv(text, where),))
    return Load(tuple(load_logs.histogram_log(text, where))) if load_logs.is_histogram_log(text) else None


def facts(trace: Trace) -> dict[str, object]:
    """Return numbers about a trace; their names end with `_` and the unit."""
    if isinstance(trace, Opportunities):
        counts = trace.packets(BIN_S)
        rates = [8 * count * MTU * len(counts) / trace.seconds for count in counts]
        return {
            "kind": "Mahimahi packet-delivery trace", "duration_s": trace.seconds, "packets": len(trace.ms),
            "mean_rate_bit_s": trace.rate, "longest_pause_s": trace.longest_pause, "bin_s": trace.seconds / len(rates),
            **{f"rate_p{each}_bit_s": quantile(rates, each / 100) for each in PERCENTILES}, "caveat": CAVEAT,
        }  # fmt: skip
    if isinstance(trace, Steps):
        return _of_steps(trace)
    if isinstance(trace, BothWays):
        return _of_both(trace)
    if isinstance(trace, LoneDelays):
        return {
            "kind": "CellReplay's delays",
            "duration_s": len(trace.delays) * cellreplay.BIN_MS / 1000,
            **_of_delays(trace.delays),
        }
    if isinstance(trace, Traffic):
        return _of_traffic(trace)
    if isinstance(trace, PathReport):
        return {
            "kind": f"report of {trace.program}", "host": trace.host, **({"hops": trace.hops} if trace.hops else {}),
            "pings": trace.sent, "loss_share": trace.loss, "min_rtt_s": trace.best, "mean_rtt_s": trace.mean,
            "max_rtt_s": trace.worst, "condition": str(trace.condition()),
        }  # fmt: skip
    if isinstance(trace, Load):
        return _of_load(trace)
    found: dict[str, object] = {
        "kind": "log of pings", "duration_s": trace.seconds, "interval_s": trace.interval, "pings": len(trace.pings),
        "lost": sum(trace.lost), "loss_share": trace.loss, "min_rtt_s": min(trace.rtts),
        "mean_rtt_s": math.fsum(trace.rtts) / len(trace.rtts), "max_rtt_s": max(trace.rtts),
        **{f"rtt_p{each}_s": quantile(trace.rtts, each / 100) for each in PERCENTILES},
    }  # fmt: skip
    if trace.bursts:
        model = trace.bursts
        found["bursts"] = f"gemodel {100 * model.p:.4g}% {100 * model.r:.4g}% ({model} pings)"
    return found


def _of_load(trace: Load) -> dict[str, object]:
    found: dict[str, object] = {"kind": f"latencies of {trace.parts[0].tool}"}
    for part in trace.parts:
        tag = f"{part.tag}_" if part.tag else ""
        stated = {
            "requests": part.count, "failed": part.failed, "duration_s": part.seconds, "requests_per_second": part.rate,
            "min_latency_s": part.least, "mean_latency_s": part.mean, "max_latency_s": part.most,
            **{f"latency_p{each:g}_s": value for each, value in part.percentiles.items()},
        }  # fmt: skip
        found |= {tag + name: value for name, value in stated.items() if value is not None}
    return found


def _of_steps(trace: Steps) -> dict[str, object]:
    rates, delays = [each.rate for each in trace.pieces], [each.delay for each in trace.pieces if each.delay is not None]
    found: dict[str, object] = {
        "kind": "rates over time", "duration_s": trace.seconds, "steps": len(trace.pieces), "mean_rate_bit_s": trace.rate,
        "min_rate_bit_s": min(rates), "max_rate_bit_s": max(rates),
    }  # fmt: skip
    return found | (_of_delays(delays) if delays else {"caveat": CAVEAT})


def _of_both(trace: BothWays) -> dict[str, object]:
    rates_up = {name.replace("rate", "rate_up"): each for name, each in _of_steps(trace.up).items() if "rate_" in name}
    return _of_steps(trace.down) | {"kind": "rates over time, both directions"} | rates_up


def _of_delays(delays: Sequence[float]) -> dict[str, object]:
    return {"min_delay_s": min(delays), "delay_p50_s": quantile(delays, 0.5), "max_delay_s": max(delays)}


def _of_traffic(trace: Traffic) -> dict[str, object]:
    found: dict[str, object] = {"kind": "capture of TCP", "duration_s": trace.seconds, "connections": trace.connections}
    for name, way in (("up", trace.up), ("down", trace.down)):
        found |= {
            f"segments_{name}": way.sent,
            f"lost_{name}_share": way.loss,
            f"busiest_second_{name}_bit_s": way.busiest_bit_s,
        }
    if trace.rtts:
        found |= {"min_rtt_s": min(trace.rtts), "max_rtt_s": max(trace.rtts)}
        found |= {f"rtt_p{each}_s": quantile(trace.rtts, each / 100) for each in PERCENTILES}
        found["condition"] = str(trace.condition())
    else:
        found["condition"] = f"none: {trace.unmeasured}"
    if trace.copies:
        found["copies"] = f"{trace.copies} frames that the capture has twice count once"
    for number, each in enumerate(trace.notes, 1):
        found[f"note_{number}"] = each
    return found


def quantile(values: Sequence[float], part: float) -> float:
    """Return the smallest value that at least this share of the values does not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(part * len(ordered)) - 1)]
