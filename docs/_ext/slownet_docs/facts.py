"""Numbers that pages quote from the code, as texts: {{ facts.name }}. Those of runs are in docs/figures/figures.json."""

from __future__ import annotations

from slownet.containers import blob_source, headers, image_source, streams
from slownet.costs import catalogue, record
from slownet.experiments import query_cost
from slownet.hypotheses.experiment import MOST_CELLS
from slownet.judge.records.charging import COUNTED_MARGIN, CPU_VARIATION, LEAST_BOOTS, USUAL_MARGIN, Charging
from slownet.judge.records.comparisons import MOST, looks
from slownet.judge.records.exactness import AGREEING
from slownet.lab.host import counter
from slownet.lab.run import clock, lab
from slownet.links.conditions.netem import TRAVELLING
from slownet.links.ip import IPV4, IPV6
from slownet.links.packets import capture_file
from slownet.links.traces import recording_file as traces
from slownet.links.traces import traffic
from slownet.model import userfile
from slownet.model.units import duration, show_duration
from slownet.net import verify
from slownet.reproductions import exchange
from slownet.runner import finding, rule, warming
from slownet.theory import fallback, handshakes, path_mtu, published, slow_start, throughput
from slownet.theory.stats import DECIDING


def of_costs() -> dict[str, str]:
    """Return versions and round trips of new connections, from the catalogue of what a delay costs."""
    rows = {each["id"]: each for each in record.rows(catalogue.entries().values(), record.kept())}
    entries = {"redis_py": "redis-py", "pymysql": "pymysql-tls", "psycopg": "psycopg-tls"}
    named = {name: rows[f"{entry}/connect"] for name, entry in entries.items()}
    versions = {name: row["version"] for name, row in named.items()}
    return versions | {f"{name}_connect": f"{row['round_trips']:g}" for name, row in named.items()}


def facts() -> dict[str, str]:
    """Return all of them."""
    http, spdy = published.spdy_slopes()
    return {
        **of_costs(),
        "agreeing": f"{AGREEING}",
        "amplification": f"{handshakes.AMPLIFICATION}",
        "asyncio_delay": f"{fallback.CLIENTS['asyncio']:g} ms",
        "base_mss": f"{path_mtu.BASE_MSS}",
        "boots": f"{LEAST_BOOTS}",
        "budget": rule.BUDGET,
        "cheap": f"{finding.CHEAP}",
        "coarse": f"{100 * finding.COARSE:g}",
        "confidence": f"{100 * DECIDING:g}",
        "counted_margin": f"{100 * COUNTED_MARGIN:g}",
        "curl_delay": f"{fallback.CLIENTS['curl']:g} ms",
        "datagram": f"{handshakes.DATAGRAM}",
        "deepest": f"{userfile.DEEPEST}",
        "error": f"{100 * (1 - DECIDING):.2g}",
        "fine": f"{100 * finding.FINE:g}",
        "first_window": f"{slow_start.INITIAL_WINDOW * slow_start.MSS:,}",
        "header_ipv4": f"{IPV4.header}",
        "header_ipv6": f"{IPV6.header}",
        "image_entries": f"{headers.MOST_ENTRIES:,}",
        "image_header_mib": f"{headers.MOST_HEADER >> 20}",
        "image_json_mib": f"{blob_source.MOST_JSON >> 20}",
        "image_layers": f"{image_source.MOST_LAYERS}",
        "image_memory_mib": f"{streams.MOST_MEMORY >> 20}",
        "image_unpacked_gib": f"{streams.MOST_UNPACKED >> 30}",
        "least_variance_ms": f"{1000 * throughput.LEAST_VARIANCE_S:g}",
        "least_mtu_ipv4": f"{IPV4.least_mtu}",
        "least_mtu_ipv6": f"{IPV6.least_mtu}",
        "limit_days": f"{clock.LIMIT_S // 86_400}",
        "margin": f"{100 * USUAL_MARGIN:g}",
        "memory_mb": f"{lab.MEGABYTES}",
        "most": f"{rule.MOST}",
        "most_cells": f"{MOST_CELLS:,}",
        "most_mib": f"{userfile.MOST // userfile.MEBIBYTE}",
        "looks": ", ".join(f"{look}th" for look in looks(MOST)[1:-1]) + f" and {MOST}th",
        "warm_up": f"{warming.OPERATIONS}",
        "most_record_mib": f"{userfile.MOST_RECORD // userfile.MEBIBYTE}",
        "most_trace_mib": f"{traces.MOST // userfile.MEBIBYTE}",
        "most_capture_gib": f"{capture_file.MOST_BYTES >> 30}",
        "most_capture_records": f"{capture_file.MOST_RECORDS:,}",
        "most_capture_connections": f"{traffic.MOST_CONNECTIONS:,}",
        "nginx_quic_window": f"{handshakes.NGINX_QUIC_WINDOW:,}",
        "own_share_free_ms": f"{1000 * verify.OWN_SHARE_FREE_CPU_S:g}",
        "own_share_ms": f"{1000 * verify.OWN_SHARE_S:g}",
        "paranoid": f"{counter.OF_OWN_PROCESSES}",
        "pings": f"{verify.PINGS}",
        "pings_lossy": f"{verify.PINGS_LOSSY}",
        "poll_us": f"{clock.IDLE_POLL_US}",
        "query_cost_rtt": show_duration(duration(query_cost.RTT)),
        "quic_window": f"{handshakes.QUIC_WINDOW:,}",
        "spdy_http_slope": f"{http:.1f}",
        "spdy_slope": f"{spdy:.1f}",
        "spdy_slopes": f"{http / spdy:.2f}",
        "stall_least_ms": f"{exchange.DELAYED_ACK_LEAST_MS:g}",
        "stall_most_ms": f"{exchange.DELAYED_ACK_MOST_MS:g}",
        "syn_timeout": f"{fallback.SYN_TIMEOUT_MS / 1000:.0f} s",
        "syn_timeout_late": f"{fallback.SYN_TIMEOUT_LATE_MS / 1000:.1f} s",
        "travelling": f"{TRAVELLING:,}",
        "waver_time": f"{100 * CPU_VARIATION[Charging.TIME]:g}",
        "waver_work": f"{100 * CPU_VARIATION[Charging.WORK]:g}",
        "writer_s": f"{userfile.WRITER_S:g}",
    }
