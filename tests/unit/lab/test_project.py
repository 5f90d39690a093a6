import pytest

from slownet.lab.build import project
from slownet.lab.build.project import Project
from slownet.lab.run.lab import Share
from slownet.model.errors import LabError


@pytest.fixture
def write(tmp_path):
    """Write files of a project: write("[tool.slownet]", name="pyproject.toml") -> its path."""

    def write(text, name="pyproject.toml"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    return write


def test_everything_that_a_project_can_ask_for(write, tmp_path):
    (tmp_path / "dist").mkdir()
    write("redis # fast\n\n-r more.txt\n", "requirements.txt")
    write("attrs ; python_version > '3' \\\n  --hash=sha256:00\n-c limits.txt\n", "more.txt")
    write("click<9\n", "limits.txt")
    file = write(
        '[tool.slownet]\npackages = ["postgresql", "jq", "jq"]\ndependencies = ["flask>=3", "attrs"]\n'
        'requirements = "requirements.txt"\nshare = ["./dist", "dist/../dist:rw"]\n'
        'require_confinement = true\nkernel = "wide"\n'
    )
    assert project.find(tmp_path) == Project(
        file,
        ("jq", "postgresql"),
        ("attrs", "flask>=3", "redis", "attrs ; python_version > '3'    --hash=sha256:00"),
        ("click<9",),
        (Share(tmp_path / "dist", writable=True),),
        require_confinement=True,
        kernel="wide",
    )


def test_the_nearest_file_with_the_table_counts(write, tmp_path):
    outer = write('[tool.slownet]\npackages = ["jq"]')
    write("[tool.other]", "a/pyproject.toml")
    assert project.find(tmp_path / "a").file == outer
    (tmp_path / "a" / "b").mkdir()
    inner = write('[tool.slownet]\npackages = ["redis"]', "a/b/pyproject.toml")
    own = write('packages = ["nginx"]', "a/b/c/slownet.toml")
    assert project.find(tmp_path / "a" / "b").file == inner
    assert project.find(tmp_path / "a" / "b" / "c").file == own


def test_no_file_no_project(tmp_path):
    assert project.find(tmp_path) is None


def test_others_mistakes_are_not_reported(write, tmp_path):
    write("[project\n")
    assert project.find(tmp_path) is None


def test_an_empty_table_needs_nothing(write, tmp_path):
    write("[tool.slownet]")
    assert not project.find(tmp_path).needs_layer


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ('package = ["jq"]', "unknown key 'package', {file}: did you mean 'packages'?"),
        ('packages = "jq"', 'packages is not a list of texts, {file}: write packages = ["...", "..."]'),
        ("packages = [1]", 'packages is not a list of texts, {file}: write packages = ["...", "..."]'),
        ('packages = ["jq; reboot"]', "'jq; reboot' is not a Debian package, {file}: write for example packages = [\"jq\"]"),
        ('packages = ["-t"]', "'-t' is not a Debian package, {file}: write for example packages = [\"jq\"]"),
        ('dependencies = ["-r x"]', "'-r x' is not a dependency, {file}: write for example dependencies = [\"flask>=3\"]"),
        ('requirements = ["x"]', 'requirements is not a text, {file}: write requirements = "requirements.txt"'),
        ('requirements = "no.txt"', "there is no file {folder}/no.txt, {file}: correct `requirements`"),
        ('share = ["no:rw"]', "{folder}/no is not a folder, {file}: correct `share`"),
        ('share = ["no"]', "{folder}/no is not a folder, {file}: correct `share`"),
        ('share = ["/etc"]', "/etc would hide the lab's own folder, {file}: share another folder"),
        ('write = "out"', 'write is not a list of texts, {file}: write write = ["...", "..."]'),
        ('write = ["/etc"]', "write: '/etc' is not below {folder}, {file}: name a file or folder relative to this file"),
        (
            'write = ["a/../../b"]',
            "write: 'a/../../b' is not below {folder}, {file}: name a file or folder relative to this file",
        ),
        ('write = ["."]', "write: '.' is not below {folder}, {file}: name a file or folder relative to this file"),
        ('write = ["a\\u0000"]', "write: 'a\\x00' is not below {folder}, {file}: name a file or folder relative to this file"),
        ('write = ["a/**/b"]', "write: 'a/**/b' has '**', {file}: name the folder: all that is below it is kept"),
        (
            "require_confinement = 1",
            "require_confinement is not true or false, {file}: write require_confinement = true",
        ),
        ('kernel = "big"', "unknown kernel 'big', {file}: choose from base, wide"),
        ("kernel = 1", "unknown kernel 1, {file}: choose from base, wide"),
        ("x =", "not TOML: Invalid value (at end of document), {file}"),
    ],
)
@pytest.mark.parametrize("name", ["pyproject.toml", "slownet.toml"])
def test_mistakes_are_one_line(write, tmp_path, table, message, name):
    file = write(table if name == "slownet.toml" else f"[tool.slownet]\n{table}", name)
    with pytest.raises(LabError) as error:
        project.find(tmp_path)
    assert str(error.value) == message.format(file=file, folder=tmp_path)


def test_what_tests_may_write_is_below_the_file_and_passes_no_link(write, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "project/real").mkdir(parents=True)
    (tmp_path / "project/out").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "project/inner").symlink_to("real")
    file = write('write = ["out.csv", "snapshots/*.json", "real/", "./new/deep"]', "project/slownet.toml")
    found = project.find(tmp_path / "project").write
    assert [str(each) for each in found] == ["out.csv", "snapshots/*.json", "real", "new/deep"]
    for text in ("out", "out/*.csv", "inner"):
        write(f'write = ["{text}"]', "project/slownet.toml")
        with pytest.raises(LabError) as error:
            project.find(tmp_path / "project")
        fix = f"name what it leads to, below {tmp_path}/project"
        assert str(error.value) == f"write: '{text}' is or passes a link, {file}: {fix}"


def test_a_table_that_is_none(write, tmp_path):
    file = write("[tool]\nslownet = 3")
    with pytest.raises(LabError) as error:
        project.find(tmp_path)
    assert str(error.value) == f"tool.slownet is not a table, {file}: write [tool.slownet]"


@pytest.mark.parametrize("line", ["-e .", ".", "./wheels/x.whl", "../x", "/x/y", "file:///x"])
def test_folders_of_this_machine_are_no_packages(write, tmp_path, line):
    file = write(line, "requirements.txt")
    write('requirements = "requirements.txt"', "slownet.toml")
    with pytest.raises(LabError) as error:
        project.find(tmp_path)
    assert str(error.value).startswith(f"'{line}' is a folder or file of this machine, not a package, {file}: leave it out")


def test_files_that_include_each_other_end(write, tmp_path):
    write("-r b.txt\nattrs", "a.txt")
    write("-r a.txt\nclick", "b.txt")
    write('requirements = "a.txt"', "slownet.toml")
    assert project.find(tmp_path).requirements == ("click", "attrs")
