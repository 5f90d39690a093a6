"""Compose projects of tests: which one a test names, and how those of a session get into its lab."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from slownet.lab.run.lab import Share
from slownet.model.errors import ComposeError
from slownet.pytest_plugin import short_names
from slownet.pytest_plugin.messages import say
from slownet.pytest_plugin.wishes import needs_network

if TYPE_CHECKING:
    from slownet.compose.model import Project

MARKER, FIXTURE = "compose", "slownet_compose"
SESSION = "session"
"""The folder of a session's projects in a lab, below the one for projects."""
_SHARES = pytest.StashKey[list[Share]]()

Named = tuple[tuple[str, ...], tuple[str, ...]]
"""The files of a project as whole paths, and its active profiles."""


def named(node: Any) -> Named | None:
    """Return the project that a test names by its marker, or by the fixture alone; None if it has none.

    Files are relative to the test's folder, or else to the session's rootdir. Raises ComposeError.
    """
    marker = short_names.marker(node, MARKER)
    if marker is None and FIXTURE not in getattr(node, "fixturenames", ()):
        return None
    folder = node.path.parent
    stated = marker.args if marker else ()
    profiles = tuple(marker.kwargs.get("profiles", ())) if marker else ()
    if not stated:
        from slownet.compose import project_files  # needs PyYAML, which labs lack

        return tuple(map(str, project_files.usual(folder))), profiles
    return tuple(_whole(str(each), folder, node.config.rootpath) for each in stated), profiles


def _whole(text: str, *folders: Path) -> str:
    found = [path for each in folders if (path := each / text).is_file()]
    return str(found[0] if found else folders[0] / text)


def of(items: Iterable[pytest.Item]) -> list[Named]:
    """Return the projects that tests name, each once; what is wrong with a name fails its test."""
    asked: dict[Named, None] = {}
    for item in filter(needs_network, items):
        try:
            found = named(item)
        except ComposeError:  # the fixture says it
            continue
        if found:
            asked[found] = None
    return list(asked)


def hand_over(config: pytest.Config, asked: Sequence[Named]) -> None:
    """Read the projects of a session, for its labs. What is wrong with one fails the tests that name it."""
    if not asked:
        return
    from slownet.compose import handover

    read = {handover.key(*each): _read(*each) for each in asked}
    found = [each for each in read.values() if not isinstance(each, ComposeError)]
    say(config, dict.fromkeys(line for each in found for line in each.warnings))  # such as limits that nothing keeps
    parent = tempfile.TemporaryDirectory(prefix="slownet-compose-")
    config.add_cleanup(parent.cleanup)
    folder = Path(parent.name, "projects")
    handover.write(folder, read)
    config.stash[_SHARES] = [
        Share(folder, at=f"{handover.AT}/{SESSION}"),
        *handover.shares(found),
    ]


def _read(paths: tuple[str, ...], profiles: tuple[str, ...]) -> Project | ComposeError:
    from slownet.compose import reader

    try:
        return reader.read([Path(each) for each in paths], profiles)
    except ComposeError as error:
        return error


def shares(config: pytest.Config) -> list[Share]:
    """Return the shares that the labs of a session need for its projects."""
    return config.stash.get(_SHARES, [])


def variables(config: pytest.Config) -> dict[str, str]:
    """Return the environment variables that lead a lab to the projects."""
    if not shares(config):
        return {}
    from slownet.compose import handover

    return {handover.VARIABLE: f"{handover.AT}/{SESSION}"}
