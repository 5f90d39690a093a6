"""Splits a command's text into words as compose does, which is not quite as a shell or `shlex` does.

Compose's library ends the command at an unquoted ``;``, ``&``, ``|``, ``<`` or ``>``, leaves what is between backquotes or
in ``$(...)`` as it is, and knows no comments.
"""

from __future__ import annotations

_SPACES = " \t\r\n"
_ENDS = ";&|<>"


def split(text: str) -> tuple[list[str], str]:
    """Return the words of a text, and what compose leaves out after them. Raises ValueError for an open quote."""
    return _Splitter(text).split()


class _Splitter:
    def __init__(self, text: str) -> None:
        self._text = text
        self._words: list[str] = []
        self._word: list[str] = []
        self._has_word = False
        self._quotes: dict[str, bool] = {"'": False, '"': False, "`": False, "$(": False}

    def split(self) -> tuple[list[str], str]:
        escaped, rest = False, ""
        for number, each in enumerate(self._text):
            if escaped or (each == "\\" and self._quotes["'"]):
                self._add(each)
                escaped = False
            elif each == "\\":
                escaped = True
            elif each in _ENDS and not any(self._quotes.values()):
                # a number before > is a file's, as in 2>/dev/null
                self._has_word = self._has_word and not (each == ">" and self._word and self._word[0].isdigit())
                rest = self._text[number:]
                break
            elif each in _SPACES and not any(self._quotes.values()):
                self._end()
            elif not self._quote(each):
                self._add(each)
        self._end()
        if escaped or any(self._quotes.values()):
            raise ValueError("a quote is not closed" if not escaped else "it ends with a backslash")
        return self._words, rest

    def _add(self, each: str) -> None:
        self._word.append(each)
        self._has_word = True

    def _end(self) -> None:
        if self._has_word:
            self._words.append("".join(self._word))
        self._word, self._has_word = [], False

    def _quote(self, each: str) -> bool:
        """Note what a character opens or closes; return True if it is not part of the word itself."""
        inside = self._quotes
        if each == "'" and not inside['"'] and not inside["$("]:
            inside["'"] = not inside["'"]
            self._has_word = True
            return True
        if each == '"' and not inside["'"] and not inside["$("]:
            inside['"'] = not inside['"']
            self._has_word = True
            return True
        if each == "`" and not inside["'"] and not inside['"'] and not inside["$("]:
            inside["`"] = not inside["`"]
        if each in "()" and not inside["'"] and not inside['"'] and not inside["`"]:
            if each == "(" and (inside["$("] or self._word[-1:] != ["$"]):
                raise ValueError("a parenthesis that is not quoted")
            inside["$("] = not inside["$("]
        return False
