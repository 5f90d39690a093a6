"""Counts phrases that no English-speaking engineer writes; the counts only go down: `python tests/english.py [--write]`.

Counted are docstrings and other texts of lib/slownet, and the pages of docs. `--write` records smaller counts in english.json;
`--list PATTERN` prints where a pattern stands.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
BASELINE = Path(__file__).with_name("english.json")
PATTERNS = {
    "is no": (r"\b(?:is|are|was|were) no (?!longer|more\b)[a-z]", "is not a"),
    "is none": (r"\b(?:is|are|may be) none\b", "does not exist, may be empty"),
    "is there": (r"(?<!what )\b(?:is|are) there\b", "exists"),
    "headless": (r"\A(?:What|Whether|Who|Where|Which|How)\b", "name it: The names of ..., True if ..."),
    "of which": (r"\b(?:of|by|in|from|with|at|on|for|to) which\b", "two sentences"),
    "say": (r"\b(?:says?|said|saying|tells?|told)\b", "print, report, give"),
    "stated": (r"\bstated\b", "given, configured, written"),
    "nobody": (r"\b(?:nobody|somebody|whoever|everybody|anybody)\b", "name the process, or: another user"),
    "mend": (r"\bmend(?:s|ed|ing)?\b", "fix, repair, undo"),
    "in words": (r"\bin words\b", "as text"),
    "takes N": (r"\btakes? (?:\w+ )?(?:boots|repetitions)\b", "requires N boots"),
}
"""By name: a regular expression, and what to write instead."""


def texts() -> Iterator[tuple[str, str]]:
    """Yield each text with its place: docstrings and string constants of the package, paragraphs of the documentation."""
    for path in sorted((ROOT / "lib/slownet").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
                yield f"{path.relative_to(ROOT)}:{node.lineno}", node.value.strip()
    for path in sorted((ROOT / "docs").rglob("*.md")):
        if "_build" not in path.parts and "_generated" not in path.parts:
            for number, line in enumerate(path.read_text().split("\n"), 1):
                yield f"{path.relative_to(ROOT)}:{number}", line


def counted() -> Counter[str]:
    """Return how often each pattern occurs."""
    found = Counter(dict.fromkeys(PATTERNS, 0))
    for _, text in texts():
        for name, (pattern, _) in PATTERNS.items():
            found[name] += len(re.findall(pattern, text))
    return found


def complaints(found: Counter[str], allowed: dict[str, int]) -> list[str]:
    """Return a line for each pattern that occurs more often than before."""
    return [
        f"english: '{name}' {count} times, at most {allowed[name]}: write \"{PATTERNS[name][1]}\" (--list '{name}' says where)"
        for name, count in found.items()
        if count > allowed[name]
    ]


def main(words: list[str] | None = None) -> int:
    """Compare the counts with those recorded; return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--write", action="store_true", help="record the counts, if none is larger")
    parser.add_argument("--list", choices=PATTERNS, metavar="PATTERN", help="print where it stands")
    asked = parser.parse_args(words)
    if asked.list:
        for place, text in texts():
            if match := re.search(PATTERNS[asked.list][0], text):
                print(f"{place}: {' '.join(text[max(0, match.start() - 50) : match.end() + 50].split())}")
        return 0
    found, allowed = counted(), json.loads(BASELINE.read_text())
    if wrong := complaints(found, allowed):
        print("\n".join(wrong), file=sys.stderr)
        return 1
    if asked.write:
        BASELINE.write_text(json.dumps(found, indent=1) + "\n")
    elif found.total() < sum(allowed.values()):
        print(f"english: {found.total()} oddities, {sum(allowed.values())} recorded: record it with tests/english.py --write")
    return 0


if __name__ == "__main__":
    sys.exit(main())
