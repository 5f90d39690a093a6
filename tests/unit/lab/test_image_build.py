"""Building an image from stand-ins for Debian's archive, for the lab and for squashfs tools: when the lab has to be booted."""

import json

import pytest

from slownet.lab.build import cache, image, wordpress_site
from slownet.model.errors import DamagedError

MMDEBSTRAP = """#!/bin/sh
for word in "$@"; do
    case $word in *=copy-out*) into=${word##* } ;; esac
done
cp "$ARCHIVE/passwd" "$ARCHIVE/group" "$into"
cat "$ARCHIVE/packages" >&2
cat "$ARCHIVE/base"
env >"$ARCHIVE/environment"
"""
TAR2SQFS = '#!/bin/sh\nfor last in "$@"; do :; done\ncat >"$last"\n'
SQFS2TAR = '#!/bin/sh\nfor last in "$@"; do :; done\ncat "$last"\n'
PROGRAMS = {"mmdebstrap": MMDEBSTRAP, "tar2sqfs": TAR2SQFS, "sqfs2tar": SQFS2TAR}
END_OF_TAR = bytes(1024)


class Machine:
    """A machine that builds an image: what it is told and how often it boots a lab."""

    def __init__(self, home, monkeypatch):
        self.archive = home / "archive"
        self.boots, self.said = 0, []
        self._caches = home
        self._set = monkeypatch
        self._set.setenv("ARCHIVE", str(self.archive))

    def build(self, name):
        """Return the image that is built in the cache of that name."""
        self._set.setenv("XDG_CACHE_HOME", str(self._caches / name))
        return image.build(self._boot, self.said.append)

    def wheel(self, built):
        """Let a wheel carry the site of an image; return the file in it."""
        folder = cache.BUNDLE / wordpress_site.KIND / built.site_key
        folder.mkdir(parents=True)
        (folder / wordpress_site.NAME).write_bytes(built.site.read_bytes())
        return folder / wordpress_site.NAME

    def _boot(self, root, megabytes, shares):
        assert root.read_bytes() == b"base"
        self._out = shares[-1].path
        return self

    def run(self, argv, **options):
        self.boots += 1
        (self._out / "site.tar").write_bytes(b"site" + END_OF_TAR)
        return 0


@pytest.fixture
def machine(tmp_path, monkeypatch):
    for folder in ("archive", "bin", "bundle"):
        (tmp_path / folder).mkdir()
    for name, content in {
        "base": "base",
        "packages": "PACKAGE libc6 2.41\n",
        "passwd": "mysql:100",
        "group": "mysql:101",
    }.items():
        (tmp_path / "archive" / name).write_text(content)
    for name in {**image.PROGRAMS, **PROGRAMS}:
        (tmp_path / "bin" / name).write_text(PROGRAMS.get(name, "#!/bin/sh\n"))
        (tmp_path / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.setenv("SLOWNET_SYSTEM_CACHE", "")
    monkeypatch.setattr(cache, "BUNDLE", tmp_path / "bundle")
    monkeypatch.setattr(cache, "need_space", lambda *words: None)
    monkeypatch.setattr(image.wheels, "fetch", lambda *words: None)
    return Machine(tmp_path, monkeypatch)


def facts(built):
    return json.loads(built.path.with_name("image.json").read_text())["site"]


def test_the_site_that_a_lab_made_is_kept_beside_the_image(machine):
    built = machine.build("one")
    assert (machine.boots, facts(built)) == (1, {"key": built.site_key, "carried": False})
    assert built.path.read_bytes() == b"sitebase"
    wordpress_site.unpack(built.site, built.path.with_name("site.tar"))
    assert built.path.with_name("site.tar").read_bytes() == b"site" + END_OF_TAR
    assert built.key == image.key()


def test_a_wheels_site_makes_the_same_image_without_a_lab(machine):
    first = machine.build("one")
    machine.wheel(first)
    second = machine.build("two")
    assert (machine.boots, facts(second)) == (1, {"key": first.site_key, "carried": True})
    assert second.path.read_bytes() == first.path.read_bytes()
    assert second.site.read_bytes() == first.site.read_bytes()
    assert machine.said == []


@pytest.mark.parametrize(
    ("file", "content"), [("packages", "PACKAGE libc6 2.42\n"), ("passwd", "mysql:101"), ("group", "mysql:102")]
)
def test_other_packages_or_owners_need_a_site_of_their_own(machine, file, content):
    first = machine.build("one")
    machine.wheel(first)
    (machine.archive / file).write_text(content)
    second = machine.build("two")
    assert (machine.boots, facts(second)) == (2, {"key": second.site_key, "carried": False})
    assert second.site_key != first.site_key
    assert machine.said == []


def test_a_damaged_site_is_named_and_made_anew(machine):
    first = machine.build("one")
    carried = machine.wheel(first)
    carried.write_bytes(carried.read_bytes()[:-1])
    second = machine.build("two")
    assert (machine.boots, facts(second)["carried"]) == (2, False)
    (line,) = machine.said
    assert line.startswith("the WordPress site is damaged (")
    assert line.endswith(f", {carried}: making it anew")
    assert second.site.read_bytes() == first.site.read_bytes()


def test_packages_are_installed_without_the_users_settings_for_python(machine, monkeypatch):
    for name in ("PYTHONDONTWRITEBYTECODE", "PYTHONHASHSEED"):
        monkeypatch.setenv(name, "1")
    machine.build("one")
    environment = (machine.archive / "environment").read_text()
    assert "PYTHON" not in environment
    assert f"SOURCE_DATE_EPOCH={image.FILES_UNTIL}\n" in environment


def test_an_image_that_is_damaged_is_built_anew(machine):
    built = machine.build("one")
    whole = built.path.read_bytes()
    built.path.write_bytes(whole[:1])
    with pytest.raises(DamagedError, match=r"^the lab's image is damaged: image.squashfs has 1 bytes, "):
        image.find()
    assert machine.build("one").path.read_bytes() == whole
    assert image.find().path == built.path


def test_an_image_of_a_version_that_kept_no_site_stays_valid(machine):
    built = machine.build("one")
    file = built.path.with_name("image.json")
    content = json.loads(file.read_text())
    del content["site"]
    file.write_text(json.dumps(content))
    built.site.unlink()
    file.with_name("digests.json").unlink()  # nor did it record and check them
    (note,) = file.parents[1].glob(".*.checked")
    note.unlink()
    found = image.find()
    assert (found.path, found.site_key) == (built.path, None)
    assert machine.build("one") == found
