"""What of the cache nothing uses any more: made-up folders in a cache of their own."""

import fcntl
import json

import pytest

from slownet.lab.build import cache, cache_cleanup, layer, project
from slownet.lab.build.image import Image
from slownet.lab.build.kernel import Kernel
from slownet.lab.build.parts import Parts
from slownet.model.errors import LabError


@pytest.fixture
def home(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "slownet"


@pytest.fixture
def found(home):
    """The parts of this version, and of another one."""
    for kind in ("kernel", "image", "init"):
        for name in ("ours", "theirs"):
            (home / kind / name).mkdir(parents=True)
            (home / kind / name / "content").write_bytes(b"x" * 10_000)
            (home / kind / f".{name}.lock").touch()
    return Parts(
        Kernel(home / "kernel/ours/linux", "7", "linux-source"),
        Image(home / "image/ours/image.squashfs", "ours", {}, 0),
        home / "init/ours",
    )


@pytest.fixture
def shop(found, home, tmp_path):
    """A project whose layer exists."""
    file = tmp_path / "shop" / "slownet.toml"
    file.parent.mkdir()
    file.write_text('packages = ["jq"]\n')
    its = project.at(file)
    build(home, layer.key(its, found.image.key), ["jq"], file)
    assert layer.need(its, found.image)
    return file


def build(home, key, asked, file):
    (home / "layer" / key).mkdir(parents=True)
    facts = {"built": 0, "project": str(file), "asked": asked, "versions": {}}
    (home / "layer" / key / "layer.json").write_text(json.dumps(facts))
    (home / "layer" / key / "layer.squashfs").touch()


def names(entries):
    return [f"{each.path.parent.name}/{each.path.name}" for each in entries]


def test_other_versions_can_go_and_this_one_stays(found, home):
    kept, gone = cache_cleanup.entries(found)
    assert names(kept) == ["kernel/ours", "image/ours", "init/ours"]
    assert names(gone) == ["kernel/theirs", "image/theirs", "init/theirs"]
    assert 10_000 <= gone[0].size < 20_000
    assert str(gone[0]) == "kernel theirs, 0.0 MB: of another version of slownet"
    for each in gone:
        cache_cleanup.remove(each)
    assert cache_cleanup.entries(found) == (kept, [])
    assert sorted(path.name for path in (home / "image").iterdir()) == [".ours.lock", ".theirs.lock", "ours"]


def test_a_layer_stays_as_long_as_a_project_needs_it(found, shop, home):
    build(home, "0ld", ["jq", "sl"], shop)
    kept, gone = cache_cleanup.entries(found)
    assert str(kept[-1]).endswith(f": {shop}")
    assert [str(each) for each in gone if each.path.parent.name == "layer"] == [
        "layer 0ld, 0.0 MB: no project uses it (jq, sl)"
    ]
    shop.write_text('packages = ["sl"]\n')
    assert len(cache_cleanup.entries(found)[1]) == len(gone) + 1
    shop.write_text("packages = 7\n")  # what it needs is unknown now
    assert [each.why for each in cache_cleanup.entries(found)[0][-2:]] == [str(shop)] * 2
    shop.unlink()
    assert len(cache_cleanup.entries(found)[1]) == len(gone) + 1
    assert list(layer.known().values()) == [shop]
    cache_cleanup.forget_projects()
    assert layer.known() == {}


def test_packages_of_costs_go_with_their_layers_unless_they_are_measured(found, shop, home):
    costs = home / cache_cleanup.COSTS
    assert costs not in [each.path for each in cache_cleanup.entries(found)[1]]
    (costs / "pypi" / "k3y").mkdir(parents=True)
    (costs / "pypi" / "k3y" / "redis.py").write_bytes(b"x" * 9_000)
    own = costs / "layers" / "k3y" / shop.name
    own.parent.mkdir(parents=True)
    own.write_text('packages = ["sl"]\n')
    its = project.at(own)
    build(home, layer.key(its, found.image.key), ["sl"], own)
    assert layer.need(its, found.image)
    with cache.in_use(costs):
        kept, gone = cache_cleanup.entries(found)
        assert str(kept[-1]).endswith(" MB: slownet costs uses it")
        assert costs not in [each.path for each in gone]
        assert str(own) in [each.why for each in kept]
        cache_cleanup.remove(cache_cleanup.Entry(costs, "it was not used a moment ago"))
        assert own.exists()
    kept, gone = cache_cleanup.entries(found)
    assert str(gone[-1]).endswith("costs, 0.0 MB: packages that slownet costs fetches again")
    assert str(own) not in [each.why for each in kept]
    cache_cleanup.remove(gone[-1])
    assert not costs.exists()


def test_what_a_killed_build_left_goes_and_what_is_being_built_stays(found, home):
    for name in ("dead", "busy", "nolock"):
        (home / "layer" / f".{name}.half").mkdir(parents=True)
    (home / "layer" / ".dead.lock").touch()
    with (home / "layer" / ".busy.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        gone = [each for each in cache_cleanup.entries(found)[1] if each.path.parent.name == "layer"]
    assert names(gone) == ["layer/.dead.half", "layer/.nolock.half"]
    assert str(gone[0]) == "layer dead.half, 0.0 MB: a build was killed"
    for each in gone:
        cache_cleanup.remove(each)
    assert (home / "layer" / ".busy.half").exists()


def test_a_link_to_a_folder_elsewhere_is_removed_and_the_folder_stays(found, home, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "content").touch()
    (home / "image" / "linked").symlink_to(elsewhere)
    (entry,) = (each for each in cache_cleanup.entries(found)[1] if each.path.name == "linked")
    assert entry.size == 0
    cache_cleanup.remove(entry)
    assert (elsewhere / "content").exists()
    assert not (home / "image" / "linked").is_symlink()


def test_a_cache_of_somebody_elses_is_one_line(found, home, monkeypatch):
    def refuse(self, target):
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr("pathlib.Path.rename", refuse)
    with pytest.raises(LabError) as error:
        cache_cleanup.remove(cache_cleanup.entries(found)[1][0])
    assert str(error.value) == (f"cannot remove {home}/kernel/theirs (Permission denied): run it as the user who built the lab")
