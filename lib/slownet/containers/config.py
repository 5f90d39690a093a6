"""The configuration of an image, as OCI's and Docker's: what a container runs, as whom, where, and how it stops.

Sources: the OCI Image Format Specification, config.md; for the health check, which OCI lacks, Docker's image specification.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from slownet.model import userfile
from slownet.model.errors import ImageError

ARCHITECTURE, OS = "amd64", "linux"
"""The platform of a lab, in OCI's terms (Go's GOARCH and GOOS)."""
ALIASES = {"x86_64": "amd64", "x86-64": "amd64"}
NANOSECOND = 1e-9


@dataclass(frozen=True)
class Healthcheck:
    """A health check as an image states it, with Docker's defaults filled in."""

    test: Sequence[str]
    """``("CMD", program, argument...)`` or ``("CMD-SHELL", command)``."""
    interval_s: float = 30.0
    timeout_s: float = 30.0
    start_period_s: float = 0.0
    start_interval_s: float = 5.0
    retries: int = 3


@dataclass(frozen=True)
class Config:
    """A parsed image configuration; what it does not state has the default of the specification."""

    architecture: str
    os: str
    entrypoint: Sequence[str] = ()
    cmd: Sequence[str] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    user: str = ""
    """``user``, ``uid``, ``user:group`` or ``uid:gid``; empty: root."""
    working_dir: str = "/"
    stop_signal: str = "SIGTERM"
    volumes: Sequence[str] = ()
    """Paths in the container, sorted."""
    exposed_ports: Sequence[str] = ()
    """``"5432/tcp"`` and so on, sorted; a port without a protocol is TCP's."""
    healthcheck: Healthcheck | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    diff_ids: Sequence[str] = ()
    """Digests of the uncompressed layers, lowest first."""


def parse(text: bytes | str, where: str = "") -> Config:
    """Return a configuration from its JSON. Raises ImageError; where: what the line of the error names."""
    try:
        whole = userfile.json(text)
        inner = _table(whole, "config")
        return Config(
            ALIASES.get(_text(whole, "architecture"), _text(whole, "architecture")),
            _text(whole, "os"),
            _texts(inner, "Entrypoint"),
            _texts(inner, "Cmd"),
            dict(_variable(each) for each in _texts(inner, "Env")),
            _text(inner, "User"),
            _text(inner, "WorkingDir") or "/",
            _text(inner, "StopSignal") or "SIGTERM",
            tuple(sorted(_table(inner, "Volumes"))),
            tuple(sorted(each if "/" in each else f"{each}/tcp" for each in _table(inner, "ExposedPorts"))),
            _healthcheck(_table(inner, "Healthcheck")),
            {str(name): str(value) for name, value in _table(inner, "Labels").items()},
            _texts(_table(whole, "rootfs"), "diff_ids"),
        )
    except (ValueError, TypeError, OverflowError) as error:  # JSONDecodeError and UnicodeDecodeError are ValueErrors
        raise ImageError(f"the image's configuration cannot be read: {error}", where=where) from error


def check_platform(config: Config, where: str) -> None:
    """Raise ImageError if a lab cannot run programs of that image. where: what the line of the error names."""
    if (config.os, config.architecture) == (OS, ARCHITECTURE):
        return
    found = f"{config.os or 'an unknown system'}/{config.architecture or 'unknown'}"
    raise ImageError(
        f"the image is for {found}, and a lab runs programs for {OS}/{ARCHITECTURE} (x86-64)",
        where=where, fix=f"build or fetch it for --platform {OS}/{ARCHITECTURE}",
    )  # fmt: skip


def _table(parent: Mapping[str, object], key: str) -> dict[str, object]:
    value = _get(parent, key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise TypeError(f"{key} is not an object")
    return value


def _text(parent: Mapping[str, object], key: str) -> str:
    value = _get(parent, key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise TypeError(f"{key} is not a text")
    return value


def _texts(parent: Mapping[str, object], key: str) -> tuple[str, ...]:
    value = _get(parent, key)
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise TypeError(f"{key} is not a list of texts")
    return tuple(value)


def _get(parent: Any, key: str) -> Any:
    if not isinstance(parent, dict):
        raise TypeError("it is not an object")
    return parent.get(key)


def _variable(text: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    return name, value


def _healthcheck(table: Mapping[str, object]) -> Healthcheck | None:
    test = _texts(table, "Test")
    if not test or test[0] == "NONE":
        return None
    usual = Healthcheck(test)
    return Healthcheck(
        test,
        _seconds(table, "Interval") or usual.interval_s,  # 0: inherited, as the specification says
        _seconds(table, "Timeout") or usual.timeout_s,
        _seconds(table, "StartPeriod"),
        _seconds(table, "StartInterval") or usual.start_interval_s,
        int(_number(table, "Retries")) or usual.retries,
    )


def _seconds(table: Mapping[str, object], key: str) -> float:
    return _number(table, key) * NANOSECOND


def _number(table: Mapping[str, object], key: str) -> float:
    value = table.get(key) or 0
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{key} is not a number")
    return value
