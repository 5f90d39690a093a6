"""Carries an edit of one series of the kernel's patches over to the other, or starts a series for another release.

    .venv/bin/python tests/kernels/carry.py                    # what changed in linux/7 since HEAD goes into linux/6.12
    .venv/bin/python tests/kernels/carry.py --to 6.18 --fresh  # a new series, from the patches alone

The two series differ by hand where the kernels do. These differences need no file of their own: at the revision --since
the series belong together, so what changed in one of them since then is merged into the other as it is now, patch by patch,
as git merges branches. What this command carried since then counts as being in both. A patch that is new is merged as git's
cherry-pick does. Both series are written as git formats them.

Where a hunk does not fit, the patch, the file and the hunk are printed and nothing is written. Mend the file in the
repository that is named, then run the command again: git remembers the resolution (rerere). The kernels' sources are
Debian's, fetched once into the folder of work; --tree names one that is unpacked already.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from slownet.lab import cache, debian, kernel
from slownet.model.errors import LabError

WORK = "carried"  # in the user's cache
CHECKOUT = Path(__file__).parents[2]
IDENTITY = re.compile(r"^From: (.+) <(.+)>$", re.MULTILINE)
SUBJECT = re.compile(r"^Subject: \[PATCH\] (.+(?:\n .+)*)$", re.MULTILINE)
CHANGED = re.compile(r"^(?:---|\+\+\+) [ab]/(\S+)", re.MULTILINE)
# What differs from one run of git to the next.
NOISE = re.compile(r"^(?:Date: |index [0-9a-f]+\.\.)")
CONFLICT = re.compile(r"^<<<<<<< .*?^>>>>>>> [^\n]*\n", re.MULTILINE | re.DOTALL)
FORMAT = ["--zero-commit", "--no-signature", "-N", "--no-renames"]


class UnfitError(Exception):
    """Hunks that do not fit, as text for a person."""


@dataclass(frozen=True)
class Patch:
    """One file of a series."""

    name: str
    text: str

    @property
    def message(self) -> str:
        head = self.text.partition("\n---\n")[0]
        subject = SUBJECT.search(head)
        assert subject, f"{self.name} has no subject"
        return subject[1].replace("\n ", " ") + "\n" + head[subject.end() :]

    @property
    def author(self) -> tuple[str, str]:
        found = IDENTITY.search(self.text)
        assert found, f"{self.name} has no author"
        return found[1], found[2]

    @property
    def files(self) -> set[str]:
        return set(CHANGED.findall(self.text))


Series = Sequence[Patch]


def series_of(folder: Path) -> Series:
    """The patches in a folder, in their order."""
    return [Patch(each.name, each.read_text(encoding="utf-8")) for each in sorted(folder.glob("*.patch"))]


def in_checkout(folder: Path, *words: str) -> str:
    """What git says in a folder of the project."""
    return subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True).stdout


def series_at(revision: str, folder: Path) -> Series:
    """The patches that a folder of a checkout had at a revision."""
    names = in_checkout(folder.parent, "ls-tree", "--name-only", revision, f"{folder.name}/").split()
    texts = {Path(each).name: in_checkout(folder.parent, "show", f"{revision}:./{each}") for each in names}
    return [Patch(name, texts[name]) for name in sorted(texts) if name.endswith(".patch")]


class Repository:
    """A git repository with those files of kernels that patches touch."""

    def __init__(self, folder: Path, files: set[str]) -> None:
        self.folder = folder
        self.files = files
        if not (folder / ".git").exists():
            folder.mkdir(parents=True, exist_ok=True)
            self.git("init", "-q")
        else:
            self.git("rerere")  # takes note of what was mended since the last run
            self.git("reset", "-q", "--hard", check=False)
        for name, value in {"rerere.enabled": "true", "rerere.autoupdate": "true", "merge.conflictStyle": "diff3"}.items():
            self.git("config", name, value)

    def git(self, *words: str, check: bool = True, **environment: str) -> str:
        # No setting of this user's or machine's has a say in how patches look.
        own = {"PATH": cache.search_path(), "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"}
        by = {f"GIT_{who}_{what}": "x" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        done = subprocess.run(
            ["git", *words], cwd=self.folder, env={**own, **by, **environment}, capture_output=True, text=True, check=False
        )
        if check and done.returncode:
            raise LabError(f"git {words[0]} failed: {done.stderr.strip()}", where=str(self.folder))
        return done.stdout.strip()

    def commit(self, parents: Sequence[str] = (), message: str = "-", author: tuple[str, str] = ("x", "x")) -> str:
        """What the folder holds, as a commit."""
        self.git("add", "--all", "--force")
        return self.commit_of(self.git("write-tree"), parents, message, author)

    def commit_of(self, tree: str, parents: Sequence[str], message: str, author: tuple[str, str]) -> str:
        name, email = author
        words = [word for parent in parents for word in ("-p", parent)]
        return self.git("commit-tree", tree, *words, "-m", message, GIT_AUTHOR_NAME=name, GIT_AUTHOR_EMAIL=email)

    def checkout(self, commit: str) -> None:
        self.git("checkout", "-q", "--force", "--detach", commit)

    def base(self, tree: Path) -> str:
        """The files of an unpacked kernel, as a commit."""
        for each in self.folder.iterdir():
            if each.name != ".git":
                shutil.rmtree(each) if each.is_dir() else each.unlink()
        for name in self.files:
            if (tree / name).is_file():
                (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(tree / name, self.folder / name)
        return self.commit()

    def applied(self, base: str, series: Series, what: str) -> list[str]:
        """A commit for each patch of a series. Raises UnfitError where one does not fit."""
        commits = [base]
        for patch in series:
            self.checkout(commits[-1])
            with tempfile.NamedTemporaryFile("w", suffix=".patch", encoding="utf-8") as file:
                file.write(patch.text)
                file.flush()
                if not kernel._apply(Path(file.name), self.folder):
                    raise UnfitError(f"{what}/{patch.name} does not fit the source that it is for")
            commits.append(self.commit([commits[-1]], patch.message, patch.author))
        return commits[1:]

    def merged(self, base: str, ours: str, theirs: str, patch: Patch) -> str:
        """The tree of `ours` with what changed from `base` to `theirs`. Raises UnfitError, the conflict left in the folder."""
        change = self.commit_of(self.git("rev-parse", f"{theirs}^{{tree}}"), [base], "the change", ("x", "x"))
        self.checkout(ours)
        self.git("cherry-pick", "--no-commit", "--allow-empty", "--keep-redundant-commits", change, check=False)
        if self.git("ls-files", "--unmerged"):
            raise UnfitError("\n".join(self._conflicts(patch)))
        return self.git("write-tree")

    def _conflicts(self, patch: Patch) -> Iterator[str]:
        names = sorted({line.split("\t")[1] for line in self.git("ls-files", "--unmerged").splitlines()})
        yield f"{patch.name} does not fit in {', '.join(names)}:"
        for name in names:
            there = self.folder / name
            text = there.read_text(encoding="utf-8") if there.is_file() else ""
            for hunk in CONFLICT.finditer(text):
                yield f"{name}:{text.count(chr(10), 0, hunk.start()) + 1}\n{hunk[0]}"
        yield f"Mend this in {self.folder} (git add is not needed), then run the command again."

    def patches(self, base: str, last: str) -> Series:
        """The commits after `base`, as files of a series."""
        with tempfile.TemporaryDirectory() as folder:
            self.git("format-patch", "-q", *FORMAT, "-o", folder, f"{base}..{last}")
            made = series_of(Path(folder))
        clean = ["".join(line for line in each.text.splitlines(keepends=True) if not NOISE.match(line)) for each in made]
        return [Patch(each.name, text.rstrip("\n") + "\n") for each, text in zip(made, clean, strict=True)]


@dataclass(frozen=True)
class Side:
    """One of the two series: its kernel's source, and its patches; of the one that was edited those from before."""

    name: str
    tree: Path
    before: Series


def carry(work: Path, source: Side, patches: Series, target: Side) -> tuple[Series, Series]:
    """Both series, with what `patches` are newer than `source.before`. Raises UnfitError.

    A patch that the target has not had, by its name, is picked as it is.
    """
    every = [*source.before, *patches, *target.before]
    repository = Repository(work, set().union(*(each.files for each in every)))
    from_base, to_base = repository.base(source.tree), repository.base(target.tree)
    new = repository.applied(from_base, patches, source.name)
    old_from = _by_name(source.before, repository.applied(from_base, source.before, source.name))
    old_to = _by_name(target.before, repository.applied(to_base, target.before, target.name))
    previous, last = from_base, to_base
    for patch, commit in zip(patches, new, strict=True):
        known = patch.name in old_from and patch.name in old_to
        base, ours = (old_from[patch.name], old_to[patch.name]) if known else (previous, last)
        tree = repository.merged(base, ours, commit, patch)
        last = repository.commit_of(tree, [last], patch.message, patch.author)
        previous = commit
    return repository.patches(from_base, new[-1]), repository.patches(to_base, last)


def _by_name(series: Series, commits: Sequence[str]) -> dict[str, str]:
    return dict(zip((each.name for each in series), commits, strict=True))


def write(series: Series, folder: Path) -> list[str]:
    """Makes a folder hold that series; returns the names of the files that changed."""
    folder.mkdir(exist_ok=True)
    texts = {each.name: each.text for each in series}
    there = {each.name: each.text for each in series_of(folder)}
    for name in there.keys() - texts.keys():
        (folder / name).unlink()
    changed = [name for name in texts if texts[name] != there.get(name)]
    for name in changed:
        (folder / name).write_text(texts[name], encoding="utf-8")
    return sorted([*changed, *(there.keys() - texts.keys())])


def packages(series: str) -> str:
    """The packages of Debian's source that a series is for: 6.12 is itself, 7 all of 7.x."""
    return f"^linux-source-{re.escape(series)}{'$' if '.' in series else '[.]'}"


def source(series: str, work: Path) -> Path:
    """The newest source of Debian's that a series is for, unpacked: fetched the first time."""
    folder = work / series
    tree = folder / "tree"
    if not (folder / "whole").exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        log = folder / "log"
        kernel._unpack(debian.download(packages(series), 1, folder, log), folder, log)
        (folder / "whole").touch()
    return tree


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--from", dest="origin", default="7", metavar="SERIES", help="the series that was edited (7)")
    parser.add_argument("--to", default="6.12", metavar="SERIES", help="the one to change (6.12)")
    parser.add_argument("--since", default="HEAD", metavar="REVISION", help="when both belonged together (HEAD)")
    parser.add_argument("--fresh", action="store_true", help="make the series anew, without what it has now")
    parser.add_argument("--tree", action="append", default=[], metavar="SERIES=FOLDER", help="an unpacked source of Debian's")
    parser.add_argument("--work", type=Path, default=cache.root() / WORK, help="sources and repository (in the user's cache)")
    return parser.parse_args()


def main() -> int:
    options = _arguments()
    trees = {name: Path(folder) for name, _, folder in (each.partition("=") for each in options.tree)}

    def side(name: str, before: Series) -> Side:
        return Side(name, trees.get(name) or source(name, options.work), [] if options.fresh else before)

    origin, target = kernel.FILES / options.origin, kernel.FILES / options.to
    work = options.work / f"{options.to}-from-{options.origin}"
    # What was carried before and is not committed belongs together as well.
    revision = in_checkout(kernel.FILES, "rev-parse", f"{options.since}:./").strip()
    carried = work / ".git" / f"carried-since-{revision}"
    before = series_of(carried) if carried.exists() else series_at(options.since, origin)

    try:
        made = carry(
            work,
            side(options.origin, before),
            series_of(origin),
            side(options.to, series_of(target)),
        )
    except (UnfitError, LabError) as error:
        print(error, file=sys.stderr)
        return 1
    write(made[0], carried)
    for name, series in zip((options.origin, options.to), made, strict=True):
        changed = write(series, kernel.FILES / name)
        print(f"{name}: {', '.join(changed) if changed else 'as it was'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
