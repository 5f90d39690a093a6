"""Which experiments ask which article's questions again, and which of them take long."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from slownet.errors import ExperimentError, nearest

ARTICLES: Mapping[str, Sequence[str]] = {
    "wordpress-latency": ("client_delay", "database_delay"),
    "tc-download": ("download", "congestion_control", "packet_loss", "replication"),
    "coordinated-omission": ("coordinated_omission", "overload"),
    "oltp-latency": ("oltp", "sync_pipeline"),
    "nagle-delayed-ack": ("nagle_patterns", "nagle_proxy", "crafted_segments"),
}
"""By the article's id in published.toml."""
BEYOND = "beyond"
"""What engineers would add: the experiments of no article."""
LONGEST = ("oltp", "download", "replication", "overload", "sync_pipeline", "client_delay", "coordinated_omission")
"""The experiments that take most of the CPU, the longest first (`slownet reproduce --json`: cpu_s, wall_s)."""


def grouped(names: Iterable[str]) -> dict[str, list[str]]:
    """``{article: its experiments}`` of those names, in the articles' order; those of none are ``BEYOND`` them."""
    left = set(names)
    found = {article: [name for name in experiments if name in left] for article, experiments in ARTICLES.items()}
    found[BEYOND] = sorted(left - {name for experiments in found.values() for name in experiments})
    return {article: experiments for article, experiments in found.items() if experiments}


def article_of(name: str) -> str:
    """The article whose question an experiment asks, or ``BEYOND``."""
    return next((article for article, experiments in ARTICLES.items() if name in experiments), BEYOND)


def select(names: Iterable[str], only: Sequence[str]) -> list[str]:
    """The experiments of the articles named (of all, if none is), in the articles' order; an experiment names itself.

    Raises ExperimentError with the nearest name.
    """
    groups = grouped(names)
    known = {each: [each] for experiments in groups.values() for each in experiments} | groups
    for each in only:
        if each not in known:
            raise ExperimentError(f"no article '{each}'", where="--only", fix=_suggested(each, groups, known))
    wanted = {name for each in only or groups for name in known[each]}
    return [name for experiments in groups.values() for name in experiments if name in wanted]


def longest_first(names: Iterable[str]) -> list[str]:
    """The order in which two processors stay busy; what is not known to be short may be long."""
    known = [*LONGEST, *(name for experiments in ARTICLES.values() for name in experiments if name not in LONGEST)]
    return sorted(names, key=lambda name: known.index(name) if name in known else -1)


def _suggested(name: str, groups: Mapping[str, Sequence[str]], known: Iterable[str]) -> str:
    fix = nearest(name, known)
    return fix if fix.startswith("did you mean") else nearest(name, groups)
