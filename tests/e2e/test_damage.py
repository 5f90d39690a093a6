"""A lab whose files were damaged, as a person meets it. This machine's own lab is only copied."""

import json
import os
import random
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from command_line import SLOWNET, ran
from test_system_cache import ANN, linked

from slownet.lab.host import native

pytestmark = pytest.mark.skipif(not native.lacks(), reason="this machine needs no lab")


class Home:
    """A cache of its own with this machine's lab: links to its files, of which those to be damaged become copies."""

    def __init__(self, folder, built):
        self.folder = folder
        self.kernel, self.image, self.init = (
            self._of(each) for each in (built.kernel.path, built.image.path, built.tools / "confine")
        )

    def _of(self, path):
        folder = self.folder / "slownet" / path.parent.parent.name / path.parent.name
        shutil.copytree(path.parent, folder, copy_function=linked)
        return folder / path.name

    def own(self, path):
        """Make a file a copy, so that its original stays what it is."""
        copy = path.with_name("copy")
        shutil.copy2(path, copy)
        os.replace(copy, path)
        return path

    def __call__(self, *words, user=0):
        environment = {**os.environ, "XDG_CACHE_HOME": str(self.folder), "SLOWNET_SYSTEM_CACHE": ""}
        argv = [*SLOWNET, *words]
        if user:
            argv = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", *argv]
        return ran(argv, cwd="/", env=environment, text=True)

    def true(self, **how):
        return self("lab", "exec", "--clock", "real", "--", "true", **how)


@pytest.fixture
def home(built, tmp_path):
    made = Home(tmp_path, built)
    assert made.true().returncode == 0
    return made


def refused(done, line):
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"slownet: {line}\n")


def flip(path, places=()):
    """Change 200 bits, or one at each of some places, and leave the file's size and time as they are."""
    status, chance = path.stat(), random.Random(1)
    with path.open("r+b") as file:
        for place in places or [chance.randrange(status.st_size) for _ in range(200)]:
            file.seek(place)
            (byte,) = file.read(1)
            file.seek(place)
            file.write(bytes([byte ^ 1 << chance.randrange(8)]))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def test_a_truncated_kernel(home):
    size = home.kernel.stat().st_size
    os.truncate(home.own(home.kernel), 1_000_000)
    line = f"the lab's kernel is damaged: linux has 1000000 bytes, and {size} were written, {home.kernel}: slownet lab build"
    for words in ("lab exec -- true", "run client_delay", "lab info", "lab clean", "lab export /lab.tar"):
        refused(home(*words.split()), line)
    found = home("doctor", "--json")
    assert found.returncode == 1
    (lab,) = (each for each in json.loads(found.stdout)["findings"] if each["name"] == "lab")
    assert f"{lab['text']}: {lab['repair']}" == line


@pytest.mark.parametrize(
    ("text", "how"),
    [("", "is empty"), ('{"release": 7', "is not JSON, or was cut short"), ("{}", "lacks 'release'"), (None, "is missing")],
)
def test_the_kernels_facts(home, text, how):
    path = home.kernel.with_name("kernel.json")
    path.unlink()
    if text is not None:
        path.write_text(text)
    refused(home.true(), f"the lab's kernel is damaged: kernel.json {how}, {path}: slownet lab build")


def test_flipped_bits_of_the_image(home):
    image = home.own(home.image)
    flip(image)
    verified = home("doctor", "--verify", "--json")
    assert verified.returncode == 1
    findings = json.loads(verified.stdout)["findings"]
    line = (
        "the lab's image is damaged: image.squashfs has changed since it was written: its SHA-256 differs from the recorded one"
    )
    assert [each["text"] for each in findings if not each["good"] and each["needed"]] == [f"{line}, {image}"] * 2
    assert [each["name"] for each in findings if each["text"].endswith("as it was made")] == ["kernel", "init"]
    refused(home.true(), f"{line}, {image}: slownet lab build")


def test_flipped_bits_of_the_image_show_at_once_if_its_time_says_so(home):
    image = home.own(home.image)
    flip(image)
    os.utime(image)
    done = home.true()
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "image.squashfs has changed since it was written" in done.stderr


def test_a_program_that_crashes_makes_the_files_be_read(home):
    crash = ["lab", "exec", "--clock", "real", "--", "sh", "-c", "kill -SEGV $$"]
    assert home(*crash).returncode == 139
    image = home.own(home.image)
    flip(image, [image.stat().st_size // 2])  # one bit, of what no program here reads
    done = home(*crash)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "the lab's image is damaged" in done.stderr


def test_lab_build_makes_what_is_damaged_anew(home):
    confine = home.own(home.init)
    os.truncate(confine, 1000)
    size = json.loads(confine.with_name("digests.json").read_text())["files"]["confine"]["size"]
    line = f"the lab's init is damaged: confine has 1000 bytes, and {size} were written, {confine}"
    refused(home.true(), f"{line}: slownet lab build")
    done = home("lab", "build")
    assert done.returncode == 0, done.stderr
    assert f"lab: {line}: building it anew ...\n" in done.stderr
    assert "lab: kernel" not in done.stderr
    assert home.true().returncode == 0


def test_an_import_makes_what_is_damaged_anew(home, tmp_path):
    lab = tmp_path / "lab.tar"
    assert home("lab", "export", str(lab)).returncode == 0
    os.truncate(home.own(home.kernel), 1_000_000)
    done = home("lab", "import", str(lab))
    assert (done.returncode, done.stdout) == (0, "imported  kernel\n"), done.stderr
    assert home.true().returncode == 0


def test_copies_without_their_times_are_no_damage(home):
    for path in (home.kernel, home.image, home.init):
        os.utime(home.own(path))
    done = home.true()
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")
def test_what_an_ordinary_user_cannot_read(
    built,
):
    with tempfile.TemporaryDirectory(prefix="slownet-damage-", dir="/var/tmp") as name:
        home = Home(Path(name), built)
        subprocess.run(["chmod", "755", name], check=True)
        if home("--version", user=ANN).returncode:
            pytest.skip("an ordinary user cannot read this checkout")
        home.own(home.kernel).chmod(0o700)
        line = f"the lab's kernel is damaged: linux cannot be read (Permission denied), {home.kernel}: slownet lab build"
        refused(home.true(user=ANN), line)
