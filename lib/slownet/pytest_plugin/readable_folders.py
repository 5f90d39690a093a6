"""Folders of this machine that a session's lab can see, read-only; see `exports` for what it can write."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from slownet.lab.run.caller import import_path, outermost, within
from slownet.lab.run.lab import Share
from slownet.pytest_plugin import projects
from slownet.pytest_plugin.exports import Plan


class Shares:
    """The folders of a session."""

    def __init__(self, config: pytest.Config, plan: Plan) -> None:
        self._config = config
        whole = [keep.base for keep in plan.keep if not keep.pattern]
        written = [*(keep.base for keep in plan.keep), *(path.parent for path in plan.logs)]
        read = list(outermost(_read(config)))
        about = [each for each in read if any(path.is_relative_to(each) for path in written)]
        self.trees: Sequence[Path] = outermost([config.rootpath, config.invocation_params.dir, *whole, *about])
        """Those whose files tests may change, in the lab alone."""
        self._others = [each for each in read if not within(each, self.trees)]

    def all(self) -> list[Share]:
        """Return the shares of the lab."""
        return [*map(Share, self._others), *map(Share, self.trees), *projects.shares(self._config)]


def _read(config: pytest.Config) -> Iterator[Path]:
    yield from import_path(config.invocation_params.dir)
    for text in config.args:
        path = (config.invocation_params.dir / text.partition("::")[0]).absolute()
        yield path if path.is_dir() else path.parent
    if config.inipath:
        yield config.inipath.parent
