"""The experiments that reproduce each article, and the order to run them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from slownet.model.errors import ExperimentError, nearest
from slownet.model.options import Option

ARTICLES: Mapping[str, Sequence[str]] = {
    "wordpress-latency": ("client_delay", "database_delay"),
    "tc-download": ("download", "congestion_control", "packet_loss", "replication"),
    "coordinated-omission": ("coordinated_omission", "overload"),
    "oltp-latency": ("oltp", "sync_pipeline"),
    "nagle-delayed-ack": ("nagle_patterns", "nagle_proxy", "crafted_segments"),
}
"""Experiments by the article's id in published.toml."""
PROTOCOLS = "protocols"
"""The group of the experiments on today's protocols, which are run only if asked for."""
OF_PROTOCOLS = (
    "handshakes", "page_of_objects", "page_under_loss", "one_lost_packet", "query_cost", "name_lookup", "dead_ipv6",
    "initial_window", "http2_window", "grpc_unary", "file_copy", "package_mirror",
    "mtu_black_hole", "one_path_cut", "bufferbloat", "fairness", "queue_sizing", "loss_tolerance", "satellite_link",
    "redis_pipelining", "many_queries", "connection_pool", "synchronous_commit", "row_on_two_sites",
)  # fmt: skip
BEYOND = "beyond"
"""The group of the other experiments, which reproduce no article."""
LONGEST = (
    "overload", "loss_tolerance", "satellite_link", "page_under_loss", "oltp", "database_delay", "congestion_control",
    "replication", "download", "file_copy", "cures", "page_of_objects", "client_delay", "fairness", "packet_loss",
    "coordinated_omission", "sync_pipeline", "bufferbloat", "cures_in_programs", "package_mirror", "queue_sizing",
)  # fmt: skip
"""The experiments that take longest, the longest first (`slownet reproduce --all`)."""


def grouped(names: Iterable[str]) -> dict[str, list[str]]:
    """Group experiments by article, in the articles' order, then those of ``PROTOCOLS``; all others are ``BEYOND``."""
    left = set(names)
    groups = {**ARTICLES, PROTOCOLS: OF_PROTOCOLS}
    found = {group: [name for name in experiments if name in left] for group, experiments in groups.items()}
    found[BEYOND] = sorted(left - {name for experiments in found.values() for name in experiments})
    return {article: experiments for article, experiments in found.items() if experiments}


def select(names: Iterable[str], only: Sequence[str], every: bool = False) -> list[str]:
    """Select experiments by the names of articles and experiments, in the articles' order.

    If ``only`` is empty, all but those of ``PROTOCOLS``; with ``every`` these too. Raises ExperimentError.
    """
    groups = grouped(names)
    known = {each: [each] for experiments in groups.values() for each in experiments} | groups
    for each in only:
        if each not in known:
            raise ExperimentError(f"no article '{each}'", where=Option("only"), fix=_suggested(each, groups, known))
    wanted = {name for each in only for name in known[each]}
    wanted |= {name for group in groups if every or (not only and group != PROTOCOLS) for name in groups[group]}
    return [name for experiments in groups.values() for name in experiments if name in wanted]


def longest_first(names: Iterable[str]) -> list[str]:
    """Sort experiments by duration, longest first, to keep two processors busy; unknown ones count as long."""
    short = [name for group in (*ARTICLES.values(), OF_PROTOCOLS) for name in group if name not in LONGEST]
    known = [*LONGEST, *short]
    return sorted(names, key=lambda name: known.index(name) if name in known else -1)


def _suggested(name: str, groups: Mapping[str, Sequence[str]], known: Iterable[str]) -> str:
    fix = nearest(name, known)
    return fix if fix.startswith("did you mean") else nearest(name, groups)
