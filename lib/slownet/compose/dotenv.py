"""Files of variables: ``.env`` beside a compose file, and a service's ``env_file``."""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

from slownet.compose.variables import Budget, Variables
from slownet.model import userfile
from slownet.model.errors import ComposeError

_KEY = re.compile(r"(?:export[ \t]+)?(?P<name>[\w.\[\]-]+)[ \t]*(?P<sign>[=:]|(?=\n|\Z))[ \t]*")
_BLANK = re.compile(r"(?:\s+|#[^\n]*)*")
_ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", '"': '"', "\\": "\\", "$": "$$"}
RAW = "raw"
FORMATS = (None, "", ".env", RAW)
"""The formats of a service's file of variables."""
_ESCAPE = re.compile(r"\\(0[0-7]{0,3}|[abfnrtv\"\\$])")


def read(
    path: Path,
    outer: Mapping[str, str],
    before: Mapping[str, str] | None = None,
    raw: bool = False,
    budget: Budget | None = None,
) -> dict[str, str]:
    """Return the variables of a file.

    outer: those that its values may name, and from which a name without a value is taken. before: those of earlier files, which
    count after the file's own. raw: its lines are taken as they are, without quotes and variables. budget: of its values'
    length. Raises ComposeError with the line.
    """
    try:
        text = userfile.read_text(path)
    except (OSError, UnicodeDecodeError) as error:
        raise ComposeError(f"cannot read {path}: {userfile.reason(error)}") from error
    others = ChainMap(*(dict(each) for each in (outer, before or {})))
    return _raw(text, str(path), others) if raw else _File(text, str(path), others, budget).read()


def _raw(text: str, shown: str, outer: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of lines without quotes, as ``docker run --env-file`` reads them; a bare name's is the outer one."""
    found = {}
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), start=1):
        stated = line.removesuffix("\r").lstrip()
        name, equals, value = stated.partition("=")
        if not stated or stated.startswith("#"):
            continue
        if not name or " " in name or "\t" in name:
            what = "a line without a name" if not name else f"the name '{name[:40]}' has a space"
            raise ComposeError(what, where=f"{shown}:{number}", fix="write NAME=VALUE")
        if equals or name in outer:
            found[name] = value if equals else outer[name]
    return found


class _File:
    def __init__(self, text: str, shown: str, others: ChainMap[str, str], budget: Budget | None) -> None:
        self._text, self._shown, self._outer = text.removeprefix("\ufeff").replace("\r\n", "\n"), shown, others
        self._at, self._line, self._counted = 0, 1, 0
        self._found: dict[str, str] = {}
        before, earlier = others.maps
        self._variables = Variables(ChainMap(before, self._found, earlier), budget=budget)

    def read(self) -> dict[str, str]:
        while self._skip() < len(self._text):
            key = _KEY.match(self._text, self._at)
            if not key:
                self._fail("a line without a name", "write NAME=VALUE")
            self._at = key.end()
            if not key["sign"]:
                if key["name"] in self._outer:
                    self._found[key["name"]] = self._outer[key["name"]]
            else:
                self._found[key["name"]] = self._value()
        return self._found

    def _skip(self) -> int:
        blank = _BLANK.match(self._text, self._at)
        assert blank
        self._at = blank.end()
        return self._at

    def _value(self) -> str:
        quote = self._text[self._at : self._at + 1]
        if quote in ("'", '"'):
            return self._quoted(quote)
        end = self._text.find("\n", self._at)
        end = len(self._text) if end < 0 else end
        value = re.split(r" #", self._text[self._at : end], maxsplit=1)[0].rstrip()
        self._at = end
        return self._filled(value)

    def _quoted(self, quote: str) -> str:
        pattern = re.compile(rf"{quote}((?:\\.|[^\\{quote}])*){quote}", re.DOTALL)
        found = pattern.match(self._text, self._at)
        if not found:
            self._fail("a quoted value does not end", f"close it with {quote}")
        self._at = found.end()
        if quote == "'":
            return found[1].replace("\\'", "'")
        return self._filled(_ESCAPE.sub(_unescaped, found[1]))

    def _filled(self, value: str) -> str:
        """Replace variables; those of the machine come before the file's own, as in compose."""
        self._line += self._text.count("\n", self._counted, self._at)
        self._counted = self._at
        return self._variables.substitute(value, f"{self._shown}:{self._line}") if "$" in value else value

    def _fail(self, what: str, fix: str) -> NoReturn:
        raise ComposeError(what, where=f"{self._shown}:{self._text.count(chr(10), 0, self._at) + 1}", fix=fix)


def _unescaped(found: re.Match[str]) -> str:
    code = found[1]
    return chr(int(code, 8)) if code[0] == "0" else _ESCAPES[code]
