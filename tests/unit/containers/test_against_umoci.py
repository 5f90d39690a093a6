"""Random stacks of layers give the same root as umoci, which applies them by itself."""

import os
import random
import shutil
import stat
import subprocess

import pytest

from slownet.containers import adding
from slownet.model.errors import ImageError

pytestmark = pytest.mark.skipif(
    not shutil.which("umoci") or not shutil.which("tar2sqfs"), reason="umoci and squashfs-tools-ng are not both here"
)
FOLDERS, FILES, HARD_LINKS, LINKS, EITHER = ("d1", "d2", "d3"), ("f1", "f2"), ("h1",), ("l1", "l2"), ("x1", "x2")


class Stack:
    """Makes random layers. Folders and links to folders are parents of things; what is a file is none."""

    def __init__(self, made, seed):
        self.made, self.random = made, random.Random(seed)

    def parent(self):
        return "".join(
            f"{self.random.choice(FOLDERS + LINKS[: self.random.choice((0, 1))])}/" for _ in range(self.random.randrange(4))
        )

    def owner(self):
        return {"uid": self.random.randrange(3), "gid": self.random.randrange(70_000), "mtime": self.random.randrange(2**31)}

    def layer(self, number):
        """Whiteouts first, as the specification recommends, then what is added."""
        whiteouts, added, files = [], [], []
        for _ in range(self.random.randrange(6) if number else 0):
            name = self.random.choice((".wh..wh..opq", *(f".wh.{each}" for each in FOLDERS + FILES + HARD_LINKS + EITHER)))
            whiteouts.append(self.made.member(self.parent() + name))
        for _ in range(self.random.randrange(4, 25)):
            kind = self.random.choice(("file", "file", "folder", "link", "either", "hard link"))
            parent = self.parent()
            if kind == "folder":
                added.append(
                    self.made.folder(
                        parent + self.random.choice(FOLDERS + EITHER),
                        mode=self.random.choice((0o755, 0o1777, 0o711)),
                        **self.owner(),
                    )
                )
            elif kind == "link":
                target = self.random.choice(("/", "", "../", "../../../../")) + self.random.choice(FOLDERS)
                added.append(self.made.link(parent + self.random.choice(LINKS), target, **self.owner()))
            elif kind == "hard link" and files:
                added.append(self.made.hard_link(parent + self.random.choice(HARD_LINKS), self.random.choice(files)))
            else:
                name = parent + self.random.choice(FILES if kind == "file" else EITHER)
                files = [*(each for each in files if each != name), *([name] if kind == "file" else [])]
                added.append(
                    self.made.member(
                        name, str(self.random.random()), mode=self.random.choice((0o644, 0o4755, 0o600)), **self.owner()
                    )
                )
        return self.made.tar(*whiteouts, *added)


def unpacked(root):
    """Return a listing of a folder like that of `Inside`, and each file's content and inode by its name."""
    found, contents = {}, {}
    as_root = os.geteuid() == 0
    for folder, folders, files in os.walk(root):
        for name in folders + files:
            path = os.path.join(folder, name)
            each = os.lstat(path)
            kind = {stat.S_IFDIR: "dir", stat.S_IFREG: "file", stat.S_IFLNK: "slink"}[stat.S_IFMT(each.st_mode)]
            target = [os.readlink(path)] if kind == "slink" else []
            inside = os.path.relpath(path, root)
            found[inside] = (
                kind,
                stat.S_IMODE(each.st_mode),
                each.st_uid if as_root else 0,
                each.st_gid if as_root else 0,
                *target,
            )
            if kind == "file":
                with open(path) as content:
                    contents[inside] = (content.read(), each.st_ino)
    return found, contents


def same_files(names, which):
    """Group names by the file that they name."""
    groups = {}
    for name in names:
        groups.setdefault(which(name), set()).add(name)
    return sorted(map(sorted, groups.values()))


@pytest.mark.parametrize("seed", range(25))
def test_random_layers_are_applied_as_umoci_does(layout, made, inside, tmp_path, seed):
    stack = Stack(made, seed)
    layout.image(*(stack.layer(number) for number in range(stack.random.randrange(1, 5))))
    rootless = [] if os.geteuid() == 0 else ["--rootless"]
    done = subprocess.run(
        ["umoci", "unpack", *rootless, "--image", f"{layout.folder}:1", tmp_path / "bundle"],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:  # a link to what a later member of the same layer replaced
        assert ": link: no such file" in done.stderr
        with pytest.raises(ImageError, match="the hard link"):
            adding.add(str(layout.folder))
        return
    ours = inside(adding.add(str(layout.folder)).image)
    listing, contents = unpacked(tmp_path / "bundle/rootfs")
    found = ours.listing()
    if rootless:
        found = {name: (kind, mode, 0, 0, *target) for name, (kind, mode, _, _, *target) in found.items()}
    assert found == listing
    assert {name: ours.text(name) for name in contents} == {name: text for name, (text, _) in contents.items()}
    assert same_files(contents, ours.inode) == same_files(contents, lambda name: contents[name][1])
