r"""Control characters of a text, shown instead of sent to a terminal.

A terminal obeys control characters: they move the cursor over what stands there, retitle the window, set the clipboard. Text
of a lab, a file or a foreign run is shown with ``\x1b`` in their place, and with ``\u202e`` for characters that change the
direction of text, which make a line read as another one.

The command line shows all that it prints so: `guard` wraps standard output and standard error, and `slownet.report.screen` does
it in tables. Only the output of a user's own command in a lab passes unchanged, which is written to the descriptor.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from typing import Any, TextIO, cast

# C0 but tab and line feed, DEL, C1; marks, overrides and isolates of direction; line and paragraph separators; surrogates.
_CONTROLS = re.compile("(?!\r\n)[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")

_NO_CHARACTERS = re.compile("[\ufffe\uffff]")


def visible(text: str) -> str:
    r"""Return a text with escapes such as ``\x1b`` or ``\u202e`` for its control characters, but tab and the ends of lines."""
    return _CONTROLS.sub(_escape, text)


def in_xml(text: str) -> str:
    r"""Return a text for an XML document, with escapes for what `visible` shows and for U+FFFE and U+FFFF.

    XML 1.0 has no way to write most control characters, not even as ``&#27;``: readers refuse the whole document (section 2.2).
    """
    return _NO_CHARACTERS.sub(_escape, visible(text))


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


class VisibleStream:
    """A text stream that shows control characters. Its ``buffer`` and its descriptor are those of the stream itself."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.rich_proxied_file = unguarded(stream)

    def write(self, text: str) -> int:
        """Write a text. Returns its length."""
        self._stream.write(visible(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write texts one after another."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def unguarded(stream: Any) -> Any:
    """Return the stream below any that show control characters: where Rich writes, whose own control sequences pass."""
    while (below := getattr(stream, "rich_proxied_file", stream)) is not stream:
        stream = below
    return stream


def guard() -> None:
    """Show the control characters of everything that is printed from here on."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is not None and not isinstance(stream, VisibleStream):
            setattr(sys, name, cast(TextIO, VisibleStream(stream)))
