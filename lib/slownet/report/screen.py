"""Rich's console for what may quote a lab or a foreign run: control characters are shown, square brackets are text.

Styles come from this program alone, so they are given as `Text`, not as markup, which a quoted name could hold.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import IO, Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import Progress
from rich.segment import Segment

from slownet.model.control_characters import guard, unguarded, visible


class Screen(Console):
    """A console whose texts cannot send control characters; those of its own styles and of progress pass."""

    def __init__(self, **options: Any) -> None:
        super().__init__(markup=False, emoji=False, **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Render as Rich does, with every text made visible."""
        return shown(super().render(renderable, options))

    @property
    def file(self) -> IO[str]:
        """The stream that is written to, below those that show control characters."""
        return unguarded(super().file)  # type: ignore[no-any-return]

    @file.setter
    def file(self, file: IO[str]) -> None:
        Console.file.fset(self, file)  # type: ignore[attr-defined]


class Visible:
    """Anything that Rich can render, for a console of another user, without control characters."""

    def __init__(self, inner: RenderableType) -> None:
        self._inner = inner

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterable[Segment]:
        return shown(console.render(self._inner, options.update(markup=False)))


class Bars(Progress):
    """Rich's progress bars. What is printed meanwhile, which Rich reads the styles of, is made visible before."""

    def start(self) -> None:
        """Start to show the bars."""
        super().start()
        if not self.disable:
            guard()


def shown(segments: Iterable[Segment]) -> Iterable[Segment]:
    """Yield the segments with their texts made visible."""
    for each in segments:
        text = each.text if each.control else visible(each.text)
        yield each if text == each.text else Segment(text, each.style)
