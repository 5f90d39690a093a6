"""Merges the JUnit XML files of a session that used several labs."""

from __future__ import annotations

import os
import xml.etree.ElementTree as ET
from pathlib import Path


class Reports:
    """Collects the suites that each lab's pytest wrote, and writes them to one file."""

    def __init__(self, path: str | None) -> None:
        self._path = Path(os.path.abspath(os.path.expanduser(os.path.expandvars(path)))) if path else None
        self._suites: list[ET.Element] = []

    def take(self) -> None:
        """Read and remove the current file; a pytest that was killed leaves none."""
        if self._path and self._path.is_file():
            self._suites.extend(ET.parse(self._path).getroot().iter("testsuite"))
            self._path.unlink()

    def merge(self) -> None:
        """Write all collected suites."""
        if self._path and self._suites:
            root = ET.Element("testsuites", {"name": "pytest tests"})
            root.extend(self._suites)
            ET.ElementTree(root).write(self._path, encoding="utf-8", xml_declaration=True)
