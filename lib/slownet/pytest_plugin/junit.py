"""One JUnit XML file of a session that took several labs."""

from __future__ import annotations

import os
import xml.etree.ElementTree as ET
from pathlib import Path


class Reports:
    """Takes the file that each lab's pytest wrote, and puts their suites into one."""

    def __init__(self, path: str | None) -> None:
        self._path = Path(os.path.abspath(os.path.expanduser(os.path.expandvars(path)))) if path else None
        self._suites: list[ET.Element] = []

    def take(self) -> None:
        """Reads what is there now; a pytest that broke off left nothing."""
        if self._path and self._path.is_file():
            self._suites.extend(ET.parse(self._path).getroot().iter("testsuite"))
            self._path.unlink()

    def merge(self) -> None:
        """Writes all suites that were taken."""
        if self._path and self._suites:
            root = ET.Element("testsuites", {"name": "pytest tests"})
            root.extend(self._suites)
            ET.ElementTree(root).write(self._path, encoding="utf-8", xml_declaration=True)
