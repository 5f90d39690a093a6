"""Compose files as people publish them, of our own making: each has what some of those have."""

from pathlib import Path

FILES = Path(__file__).with_name("data") / "public"
NAMES = sorted(path.stem for path in FILES.glob("*.yaml"))
FOLDERS = ("api", "back", "grafana", "media", "prometheus", "static", "web")
TEXTS = {"password.txt": "word", "variables.env": "FROM_FILE=1\nOVER=file\n", "nginx.conf": "", "logs.conf": ""}


def lay_out(name, parent):
    """Put one of them and what it names into a folder of its own; return that."""
    folder = parent / name
    folder.mkdir()
    (folder / "compose.yaml").write_text((FILES / f"{name}.yaml").read_text())
    for each in FOLDERS:
        (folder / each).mkdir()
    for each, text in TEXTS.items():
        (folder / each).write_text(text)
    return folder


def machine(folder):
    """Return the environment in which they are read."""
    return {"OUTER": "outer", "HOME": "/root", "PWD": str(folder)}
