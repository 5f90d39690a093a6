"""Carries an edit of the newest series of the kernel's patches over to an older one, or starts a series for another release.

    .venv/bin/python tests/kernels/carry.py                    # what changed in linux/7 since HEAD goes into linux/6.12
    .venv/bin/python tests/kernels/carry.py --to 6.18 --fresh  # a new series, from the patches alone

The newest series is stored whole, the other one as what differs from it (slownet.lab.build.kernel). At the revision
--since they belong together, so what changed in the newest since then is merged into the other as it is now, patch by patch, as
git merges branches. What this command carried since then counts as being in both. A patch that is new is merged as git's
cherry-pick does; one that the other series leaves out stays out. The newest series is written as git formats it, the other one
as the differences of those patches that do not do the same there as they stand.

Where a hunk does not fit, the patch, the file and the hunk are printed and nothing is written. Mend the file in the
repository that is named, then run the command again: git remembers the resolution (rerere). The kernels' sources are
Debian's, fetched once into the folder of work; --tree names one that is unpacked already.
"""

from __future__ import annotations

import argparse
import difflib
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from slownet.lab.build import cache, debian, kernel
from slownet.lab.build.kernel import Patch
from slownet.model.errors import LabError

WORK = "carried"  # in the user's cache
CHECKOUT = Path(__file__).parents[2]
IDENTITY = re.compile(r"^From: (.+) <(.+)>$", re.MULTILINE)
SUBJECT = re.compile(r"^Subject: \[PATCH\] (.+(?:\n .+)*)$", re.MULTILINE)
# What differs from one run of git to the next.
NOISE = re.compile(r"^(?:Date: |index [0-9a-f]+\.\.)")
CONFLICT = re.compile(r"^<<<<<<< .*?^>>>>>>> [^\n]*\n", re.MULTILINE | re.DOTALL)
FORMAT = ["--zero-commit", "--no-signature", "-N", "--no-renames"]


class UnfitError(Exception):
    """Hunks that do not fit, as text for a person."""


def message(patch: Patch) -> str:
    """The message of a patch as a commit's."""
    head = patch.text.partition("\n---\n")[0]
    subject = SUBJECT.search(head)
    assert subject, f"{patch.name} has no subject"
    return subject[1].replace("\n ", " ") + "\n" + head[subject.end() :]


def author(patch: Patch) -> tuple[str, str]:
    """Who wrote a patch: name and address."""
    found = IDENTITY.search(patch.text)
    assert found, f"{patch.name} has no author"
    return found[1], found[2]


Series = Sequence[Patch]


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
            if not patch.apply(self.folder):
                raise UnfitError(f"{what}/{patch.name} does not fit the source that it is for")
            commits.append(self.commit([commits[-1]], message(patch), author(patch)))
        return commits[1:]

    def does(self, patch: Patch, before: str, after: str) -> bool:
        """Whether a patch makes of one commit what the other one holds."""
        self.checkout(before)
        fits = patch.apply(self.folder)
        self.git("add", "--all", "--force")
        return fits and self.git("write-tree") == self.git("rev-parse", f"{after}^{{tree}}")

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
            made = kernel.read_series(Path(folder))
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

    A patch that neither has had, by its name, is picked as it is; one that only the source has had is not for the target. Where
    a patch of the source does the same in the target it stands there as it is.
    """
    every = [*source.before, *patches, *target.before]
    repository = Repository(work, set().union(*(each.files for each in every)))
    from_base, to_base = repository.base(source.tree), repository.base(target.tree)
    new = repository.applied(from_base, patches, source.name)
    old_from = _by_name(source.before, repository.applied(from_base, source.before, source.name))
    old_to = _by_name(target.before, repository.applied(to_base, target.before, target.name))
    previous, made = from_base, [to_base]
    for patch, commit in zip(patches, new, strict=True):
        if patch.name in old_to or patch.name not in old_from:
            known = patch.name in old_to
            base, ours = (old_from[patch.name], old_to[patch.name]) if known else (previous, made[-1])
            tree = repository.merged(base, ours, commit, patch)
            made.append(repository.commit_of(tree, [made[-1]], message(patch), author(patch)))
        previous = commit
    newest = repository.patches(from_base, new[-1])
    return newest, _shared(repository, newest, made)


def _shared(repository: Repository, newest: Series, commits: Sequence[str]) -> Series:
    """The series of these commits, with the newest's patches where they do what is done there."""
    titles = {_title(each): each for each in newest}
    series = []
    for patch, before, after in zip(repository.patches(commits[0], commits[-1]), commits, commits[1:], strict=False):
        same = titles[_title(patch)]
        series.append(same if repository.does(same, before, after) else Patch(same.name, patch.text))
    return series


def _title(patch: Patch) -> str:
    """A patch's name without its number, which another series may count otherwise."""
    return patch.name.partition("-")[2]


def _by_name(series: Series, commits: Sequence[str]) -> dict[str, str]:
    return dict(zip((each.name for each in series), commits, strict=True))


def write(series: Series, folder: Path, newest: Series | None = None) -> list[str]:
    """Makes a folder hold that series, as differences from the newest if that is given; returns the files that changed."""
    folder.mkdir(exist_ok=True)
    texts = {each.name: each.text for each in series} if newest is None else _differences(series, newest)
    there = {each.name: each.read_text(encoding="utf-8") for each in folder.iterdir()}
    for name in there.keys() - texts.keys():
        (folder / name).unlink()
    changed = [name for name in texts if texts[name] != there.get(name)]
    for name in changed:
        (folder / name).write_text(texts[name], encoding="utf-8")
    return sorted([*changed, *(there.keys() - texts.keys())])


def _differences(series: Series, newest: Series) -> dict[str, str]:
    """The files of a series that is stored as what differs."""
    whole = {each.name: each.text for each in newest}
    texts = {kernel.LIST: "".join(f"{each.name}\n" for each in series)}
    for name, text in ((each.name, each.text) for each in series if each.text != whole[each.name]):
        lines = difflib.unified_diff(*(each.splitlines(keepends=True) for each in (whole[name], text)), name, name, n=1)
        texts[f"{name}.diff"] = "".join(lines)
    return texts


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

    origin, target = kernel.series_folders(kernel.FILES)[0], kernel.FILES / options.to
    work = options.work / f"{options.to}-from-{origin.name}"
    # What was carried before and is not committed belongs together as well.
    revision = in_checkout(kernel.FILES, "rev-parse", f"{options.since}:./").strip()
    carried = work / ".git" / f"carried-since-{revision}"
    before = kernel.read_series(carried) if carried.exists() else series_at(options.since, origin)

    try:
        made = carry(
            work,
            side(origin.name, before),
            kernel.read_series(origin),
            side(options.to, kernel.read_series(target, before) if target.exists() else []),
        )
    except (UnfitError, LabError) as error:
        print(error, file=sys.stderr)
        return 1
    write(made[0], carried)
    for folder, changed in ((origin, write(made[0], origin)), (target, write(made[1], target, made[0]))):
        print(f"{folder.name}: {', '.join(changed) if changed else 'as it was'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
