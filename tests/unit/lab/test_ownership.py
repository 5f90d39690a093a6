"""Files that nobody named count if they are the user's own: as root and as an ordinary user, beside others' files."""

import os

import ordinary_user
import pytest

from slownet.compose import project_files, reader
from slownet.lab.build import project
from slownet.lab.host import ownership
from slownet.model.errors import ComposeError

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="gives files to other users")
NOBODY, DAEMON = 65534, 1
TABLE = 'packages = ["jq"]\n'


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    """No CI service, container or sudo around the test."""
    for name in ("SUDO_UID", "KUBERNETES_SERVICE_HOST", "container", ownership.SAFE, *ownership.CHECKOUTS):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(ownership, "CONTAINERS", ())
    ownership._say.cache_clear()


@pytest.fixture
def folder(tmp_path):
    found = tmp_path / "project"
    found.mkdir(mode=0o755)
    (found / "slownet.toml").write_text(TABLE)
    (found / "slownet.toml").chmod(0o644)
    return found


def test_an_own_file_counts(folder, capsys):
    assert project.find(folder).packages == ("jq",)
    assert capsys.readouterr().err == ""


@needs_root
@pytest.mark.parametrize("name", ["slownet.toml", "pyproject.toml"])
@pytest.mark.parametrize("below", ["", "a/b"])
def test_another_users_file_does_not_count_and_one_line_says_so(name, below, folder, capsys):
    (folder / below).mkdir(parents=True, exist_ok=True)
    file = folder / name
    (folder / "slownet.toml").unlink()
    file.write_text(TABLE if name == "slownet.toml" else f"[tool.slownet]\n{TABLE}")
    os.chown(file, NOBODY, NOBODY)
    for _ in range(2):
        assert project.find(folder / below) is None
    assert capsys.readouterr().err == (
        f"slownet: {file} is not obeyed, it belongs to nobody: to obey it, set SLOWNET_SAFE_FOLDERS={folder}\n"
    )


@needs_root
def test_the_search_goes_on_above_it(folder, tmp_path):
    (tmp_path / "slownet.toml").write_text('packages = ["redis"]\n')
    os.chown(folder / "slownet.toml", NOBODY, NOBODY)
    tmp_path.chmod(0o755)
    assert project.find(folder).file == tmp_path / "slownet.toml"


@needs_root
def test_what_does_not_concern_slownet_is_not_spoken_of(folder, capsys):
    (folder / "slownet.toml").unlink()
    (folder / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    os.chown(folder / "pyproject.toml", NOBODY, NOBODY)
    assert project.find(folder) is None
    assert capsys.readouterr().err == ""


@needs_root
@pytest.mark.parametrize("trick", ["folder", "link", "link to it", "everybody", "folder for everybody", "group"])
def test_what_others_can_exchange_does_not_count(trick, folder, tmp_path):
    file = folder / "slownet.toml"
    if trick == "folder":
        os.chown(folder, NOBODY, NOBODY)
    elif trick == "link":  # another user chose an own file
        file.rename(tmp_path / "mine")
        file.symlink_to(tmp_path / "mine")
        os.chown(file, NOBODY, NOBODY, follow_symlinks=False)
    elif trick == "link to it":
        file.rename(tmp_path / "theirs")
        os.chown(tmp_path / "theirs", NOBODY, NOBODY)
        file.symlink_to(tmp_path / "theirs")
    elif trick == "everybody":
        file.chmod(0o666)
    elif trick == "folder for everybody":
        folder.chmod(0o777)
    else:
        file.chmod(0o664)
        os.chown(file, 0, DAEMON)
    assert ownership.distrusted(file)
    assert project.find(folder) is None


def test_modes_that_harm_nobody(folder, monkeypatch):
    file = folder / "slownet.toml"
    assert not ownership.distrusted(file)
    folder.chmod(0o1777)  # as /tmp: others cannot replace the file
    assert not ownership.distrusted(file)
    folder.chmod(0o775)
    file.chmod(0o664)  # the group of the user's own name, as with umask 002
    monkeypatch.setattr(ownership, "_is_private", lambda group, user: (group, user) == (os.getegid(), os.geteuid()))
    assert not ownership.distrusted(file)
    file.chmod(0o666)
    monkeypatch.setattr(ownership, "_file_system", lambda device: "vboxsf")  # all its files have one mode
    assert not ownership.distrusted(file)


@needs_root
@pytest.mark.parametrize(
    ("variable", "value", "counts"),
    [
        ("SUDO_UID", str(NOBODY), True), ("SUDO_UID", "1", False), ("SUDO_UID", "x", False), (ownership.SAFE, "{folder}", True),
        (ownership.SAFE, "/no:{above}", True), (ownership.SAFE, "*", True), (ownership.SAFE, "{folder}/a", False),
        ("GITHUB_WORKSPACE", "{folder}", True), ("CI_PROJECT_DIR", "{folder}", True), ("CI_PROJECT_DIR", "", False),
        ("container", "podman", False),
    ],
)  # fmt: skip
def test_how_another_users_file_counts(variable, value, counts, folder, monkeypatch):
    for each in (folder, folder / "slownet.toml"):
        os.chown(each, NOBODY, NOBODY)
    monkeypatch.setenv(variable, value.format(folder=folder, above=folder.parent))
    assert bool(project.find(folder)) is counts


@needs_root
def test_a_container_whose_root_mounts_files_of_users_that_it_does_not_have(folder, monkeypatch):
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    for user, counts in ((54321, True), (NOBODY, False), (DAEMON, False)):
        os.chown(folder / "slownet.toml", user, user)
        assert bool(project.find(folder)) is counts
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST")
    os.chown(folder / "slownet.toml", 54321, 54321)
    assert not project.find(folder)


@needs_root
@pytest.mark.parametrize(("owner", "counts"), [(NOBODY, True), (0, True), (DAEMON, False)])
def test_as_an_ordinary_user(owner, counts, folder, monkeypatch):
    for each in (folder, folder / "slownet.toml"):
        os.chown(each, owner, owner)
    for each in folder.parents:
        if str(each).startswith("/tmp/"):
            each.chmod(0o755)
    monkeypatch.setenv("SUDO_UID", str(DAEMON))  # counts for root alone

    def look():
        return bool(project.find(folder)), ownership.distrusted(folder / "slownet.toml")

    assert ordinary_user.call(look) == (counts, "" if counts else "it belongs to daemon")


@needs_root
def test_neighbours_of_a_compose_file_that_nobody_named(tmp_path, capsys):
    tmp_path.chmod(0o755)
    main, over, variables = (tmp_path / name for name in ("compose.yaml", "compose.override.yaml", ".env"))
    main.write_text("services: {web: {image: 'shop:${TAG:-1}'}}\n")
    over.write_text("services: {web: {image: 'evil:1'}}\n")
    variables.write_text("TAG=evil\n")
    assert reader.read(project_files.usual(tmp_path), machine={})["web"].image == "evil:1"
    for each in (over, variables):
        os.chown(each, NOBODY, NOBODY)
    assert reader.read(project_files.usual(tmp_path), machine={})["web"].image == "shop:1"
    assert capsys.readouterr().err.splitlines() == [
        f"slownet: {each} is not obeyed, it belongs to nobody: to obey it, set SLOWNET_SAFE_FOLDERS={tmp_path}"
        for each in (over, variables)
    ]
    os.chown(main, NOBODY, NOBODY)
    with pytest.raises(ComposeError, match=rf"^{main} is refused: it belongs to nobody: to run it all the same, name it: "):
        project_files.usual(tmp_path)
    assert reader.read([main], machine={})["web"].image == "shop:1"
