"""Runs a command of a lab so that it can write to its folders: `python -m slownet.cli.in_folder JOB COMMAND...`.

The job (JSON) has the folders, which the lab has to be read alone. Each is the lower layer of an overlay, see
`slownet.lab.run.pytest_inside`: programs write where they always do, and the host's files stay as they are. When the
command has ended, however that was, this process copies the regular files that were written to a folder that the host reads,
and notes what stays.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from slownet.lab.run import absent
from slownet.lab.run.pytest_inside import GONE, KEPT, LEFT, NAMES, OUT, Walls, mounts_below, write_whole

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
TEMPORARY = ("/tmp", "/root")
"""Folders of the lab's own where people look for what a program left; they are gone with the lab."""
_OF_MININET = re.compile(r"c\d+\.log|.*-ofp\.log|\..*")
"""Files that Mininet's controllers and shells leave there."""


def main(argv: Sequence[str]) -> int:
    """Run the command and return its exit status, 128 + N after signal N."""
    job = json.loads(argv[0])
    walls = Walls(job["trees"], elsewhere=job["elsewhere"])
    walls.build()
    if job["here"]:
        os.chdir(job["here"])
    absent.watch(Path(job["absent"]))
    before, around = set(_own_files(job["trees"])), set(os.listdir())
    for number in SIGNALS:  # the command gets them as well, and this process is to outlive it
        signal.signal(number, lambda number, frame: None)
    process = subprocess.Popen(argv[1:])
    status = process.wait()
    lost = dict.fromkeys(each for each in _own_files(job["trees"]) if each not in before)
    if not job["here"]:  # the working directory is the lab's own
        lost |= dict.fromkeys(_new_files(around))
    _hand_over(walls, lost)
    return status if status >= 0 else 128 - status


def _hand_over(walls: Walls, own: Iterable[Path]) -> None:
    left, gone = [], []
    for number, below, written in walls.changes():
        if written is None:
            gone.append([number, str(below)])
            continue
        try:
            what = walls.copy_file(written, Path(OUT, KEPT, str(number), below))
        except OSError as error:
            what = error.strerror
        if what:
            left.append([number, str(below), what])
    found: dict[str, list[Any]] = {GONE: gone, LEFT: left, "own": [str(each) for each in own]}
    for name, value in found.items():
        if value:
            with suppress(OSError):
                write_whole(Path(OUT, f"{name}.json"), json.dumps(value[:NAMES]))


def _new_files(before: Collection[str]) -> Iterator[Path]:
    """Yield the files of the working directory, and in folders of it, that were not there before."""
    for name in sorted(set(os.listdir()) - set(before)):
        path = Path.cwd() / name
        if path.is_file():
            yield path
        for folder, _, names in os.walk(path):
            yield from (Path(folder, each) for each in sorted(names))


def _own_files(trees: Sequence[str]) -> Iterator[Path]:
    """Yield files with content in the lab's own folders for temporary files, and beside the folders that it was given."""
    mounted = {*map(Path, trees), *mounts_below(Path("/"))}
    beside = {parent for each in trees for parent in Path(each).parents if len(parent.parts) > 1}
    for top in sorted({*map(Path, TEMPORARY), *beside} - mounted):
        for folder, folders, names in os.walk(top):
            folders[:] = [each for each in folders if Path(folder, each) not in mounted and not each.startswith(".")]
            for name in names:
                path = Path(folder, name)
                with suppress(OSError):
                    if not _OF_MININET.fullmatch(name) and path.is_file() and not path.is_symlink() and path.stat().st_size:
                        yield path


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
