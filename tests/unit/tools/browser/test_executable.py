"""The program that starts Chromium on a host, for Playwright's own launch; tests/chromium runs it."""

import os
import shlex
from pathlib import Path
from types import SimpleNamespace

import pytest

from slownet.model.errors import ToolError
from slownet.tools.browser import chromium

HOST = SimpleNamespace(name="client", pid=4711)


def test_it_enters_the_host_and_passes_on_what_playwright_asks_for(monkeypatch, tmp_path):
    program = tmp_path / "a folder" / "chromium"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent))
    monkeypatch.setattr(chromium, "_check_memory", lambda host: None)
    path = chromium.executable(HOST)
    assert os.access(path, os.X_OK)
    shebang, line = Path(path).read_text(encoding="utf-8").splitlines()
    assert shebang == "#!/bin/sh"
    words = shlex.split(line)
    assert words[:2] == ["exec", "nsenter"]
    assert {"--net", "--mount", "--target=4711"} <= set(words[: words.index("--")])
    assert words[words.index("--") + 1] == str(program)
    assert words[-1] == "$@"
    assert chromium.executable(HOST) != path, "each browser has its own"


def test_without_chromium_one_line_says_what_to_write(monkeypatch, tmp_path):
    monkeypatch.setattr(chromium.shutil, "which", lambda name, path: None)
    with pytest.raises(ToolError, match=r"Chromium is not installed, host 'client': write packages = \[\"chromium\"\]"):
        chromium.executable(HOST)
