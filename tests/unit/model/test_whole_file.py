"""Files are written whole or not at all, and never over what a command reads or what a run recorded."""

import os
import resource
import stat
import subprocess
import sys
import threading

import pytest

from slownet.comparison import record
from slownet.judge.records import samples, sweep_samples
from slownet.model import userfile, whole_file
from slownet.model.errors import ExperimentError
from slownet.reproductions import reproduction

OLD = "what was there before"


@pytest.fixture
def path(tmp_path):
    """A file that is there."""
    found = tmp_path / "page.html"
    found.write_text(OLD)
    return found


def left(folder):
    return sorted(each.name for each in folder.iterdir())


@pytest.fixture(params=["without a name", "with a name"])
def draft(request, monkeypatch):
    """Both kinds of draft: some file systems have no files without a name."""
    if request.param == "with a name":
        monkeypatch.setattr(os, "O_TMPFILE", os.O_DIRECTORY | os.O_WRONLY)  # opening a folder so is EISDIR, as on such a system


@pytest.mark.usefixtures("draft")
def test_a_file_is_replaced_whole(path):
    whole_file.write(path, "new")
    assert (path.read_text(), left(path.parent)) == ("new", ["page.html"])


@pytest.mark.usefixtures("draft")
def test_an_error_while_writing_leaves_what_was_there(path):
    def half():
        with whole_file.output(path) as file:
            file.write(b"half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        half()
    assert (path.read_text(), left(path.parent)) == (OLD, ["page.html"])


@pytest.mark.usefixtures("draft")
@pytest.mark.parametrize("write", [whole_file.write, whole_file.append])
def test_a_full_disk_leaves_what_was_there(path, write):
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))  # as a disk that takes 100 bytes
    try:
        with pytest.raises(ExperimentError, match=r"cannot write .*page.html \(File too large\).*--out") as error:
            write(path, "x" * 300, "--out")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert "\n" not in str(error.value)
    assert (path.read_text(), left(path.parent)) == (OLD, ["page.html"])


def test_a_line_is_appended(path):
    whole_file.append(path, "!")
    whole_file.append(path.with_name("new.md"), "first\n", "--out markdown")
    assert (path.read_text(), path.with_name("new.md").read_text()) == (f"{OLD}!", "first\n")


def test_mode_and_owner_are_kept(path):
    path.chmod(0o640)
    if not os.getuid():
        os.chown(path, 12, 34)
    before = path.stat()
    whole_file.write(path, "new")
    after = path.stat()
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)
    assert after.st_ino != before.st_ino


def test_a_new_file_has_the_mode_of_the_umask(tmp_path):
    before = os.umask(0o027)
    try:
        whole_file.write(tmp_path / "new", "x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640


def test_a_link_stays_and_the_file_behind_it_is_replaced(path):
    link = path.with_name("link")
    link.symlink_to(path.name)
    whole_file.write(link, "new")
    assert (link.is_symlink(), path.read_text()) == (True, "new")


def test_a_link_to_nothing_makes_the_file(tmp_path):
    (tmp_path / "link").symlink_to("there")
    whole_file.write(tmp_path / "link", "new")
    assert (tmp_path / "there").read_text() == "new"


def test_links_in_a_circle_are_an_error(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(ExperimentError, match="Too many levels of symbolic links"):
        whole_file.write(tmp_path / "a", "new")


def test_a_pipe_gets_it_directly(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    got = []
    reader = threading.Thread(target=lambda: got.append((tmp_path / "pipe").read_text()))
    reader.start()
    whole_file.write(tmp_path / "pipe", "new")
    reader.join()
    assert (got, left(tmp_path)) == (["new"], ["pipe"])


def test_a_pipe_without_a_reader_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(whole_file, "READER_S", 0.1)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ExperimentError, match="no program reads from this pipe"):
        whole_file.write(tmp_path / "pipe", "new")


def test_devices_stay():
    whole_file.write("/dev/null", "new")
    with pytest.raises(ExperimentError, match=r"No space left on device.*free space"):
        whole_file.write("/dev/full", "new")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_standard_output_gets_it_where_it_stands(tmp_path, name):
    code = f"from slownet.model import whole_file; print('before'); whole_file.write({name!r}, 'page\\n'); print('after')"
    with (tmp_path / "out").open("w") as out:
        subprocess.run([sys.executable, "-c", code], stdout=out, check=True)
    assert (tmp_path / "out").read_text() == "before\npage\nafter\n"


def test_a_folder_is_an_error(tmp_path):
    with pytest.raises(ExperimentError, match="Is a directory"):
        whole_file.write(tmp_path, "new")


@pytest.mark.skipif(os.getuid() != 0, reason="becomes another user")
def test_a_file_that_may_not_be_written_stays(path):
    path.chmod(0o444)
    assert as_nobody(path) == (2, OLD)


@pytest.mark.skipif(os.getuid() != 0, reason="becomes another user")
def test_a_folder_that_takes_no_file_has_its_file_overwritten(path):
    path.chmod(0o666)
    assert as_nobody(path) == (0, "new")


def as_nobody(path):
    """Write as an ordinary user, in a folder of root's; return the status and what is there then."""
    path.parent.chmod(0o755)
    pid = os.fork()
    if not pid:
        status = 1
        try:
            os.chdir(path.parent)  # whose parents are closed to others
            os.setgroups([])
            os.setresgid(65534, 65534, 65534)
            os.setresuid(65534, 65534, 65534)
            whole_file.write(path.name, "new")
            status = 0
        except ExperimentError:
            status = 2
        finally:
            os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return status, path.read_text()


def mounts_of_its_own():
    """Whether a process may have mounts that others do not see; in a root that is no mount itself it may not."""
    return subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(os.getuid() != 0 or not mounts_of_its_own(), reason="mounts")
def test_a_mount_of_its_own_is_overwritten_in_place(path, tmp_path):
    other = tmp_path / "mounted"
    other.write_text("")
    code = (
        f"mount --bind {path} {other} && {sys.executable} -c "
        f'\'from slownet.model import whole_file; whole_file.write("{other}", "new")\' && cat {path}'
    )
    done = subprocess.run(["unshare", "--mount", "sh", "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("new", "")


def test_new_overwrites_nothing(path):
    with pytest.raises(FileExistsError):
        whole_file.new(path, b"new")
    whole_file.new(path.with_name("other"), b"new")
    assert (path.read_text(), left(path.parent)) == (OLD, ["other", "page.html"])


def refused(path, **options):
    try:
        whole_file.write(path, "new", "--out", **options)
    except ExperimentError as error:
        return error.what.partition(", ")[0].removeprefix(str(path)).strip()
    return ""


def test_what_a_command_reads_is_not_overwritten(path):
    other = path.with_name("other")
    other.hardlink_to(path)
    with userfile.command():
        assert refused(path) == ""
        path.write_text(OLD)
        os.remove(other)
        other.hardlink_to(path)
        userfile.read_text(path)
        assert refused(path) == "is an input of this command"
        assert refused(other) == "is an input of this command"
        assert refused(path, is_input=True) == ""
    assert refused(path) == ""


@pytest.mark.parametrize("name", sorted(whole_file.RECORDS))
def test_a_record_is_not_overwritten(tmp_path, name):
    (tmp_path / name).write_text(OLD)
    assert refused(tmp_path / name) == "is a record of a run"
    assert (tmp_path / name).read_text() == OLD


AMONG = (
    "raw/ab.txt", "raw-2/ab.txt", "captures/new", "services/nginx/log.txt", "samples/part-000001.parquet", "journal.jsonl",
    "run.json",
)  # fmt: skip


@pytest.mark.parametrize("of", ["run.json", "sweep.json", "samples.jsonl"])
@pytest.mark.parametrize(
    ("name", "why"),
    [
        *((each, "is a record of a run") for each in AMONG), ("mine/page.html", ""), ("report.html", ""), ("table.csv", ""),
    ],
)  # fmt: skip
def test_nothing_is_written_among_records(tmp_path, of, name, why):
    (tmp_path / of).write_text("{}")
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    assert refused(tmp_path / name) == why


def test_a_link_to_a_record_is_a_record(tmp_path):
    (tmp_path / "run.json").write_text("{}")
    (tmp_path / "page.html").symlink_to("run.json")
    assert refused(tmp_path / "page.html") == "is a record of a run"


@pytest.mark.parametrize(
    "name", ["answers.toml", "compose.yaml", "MINE.PY", "x.parquet", ".env", ".env.local", "Dockerfile", "a.csv", "a.json"]
)
def test_a_file_of_another_kind_is_not_replaced(tmp_path, name):
    path = tmp_path / name
    assert refused(path) == ""  # it is new
    assert refused(path) == "holds something else"
    path.write_text("")
    assert refused(path) == ""  # it was made for this, by mktemp for example


def test_a_file_of_the_same_kind_is_replaced(tmp_path):
    path = tmp_path / "marks.csv"
    path.write_text("student,exercise,mark\n")
    assert refused(path, own={".csv": "student,exercise"}) == ""
    assert refused(path, own={".csv": "student,exercise"}) == "holds something else"  # "new" begins otherwise


def test_the_records_are_those_of_the_rooms():
    named = {samples.RUN, samples.SWEEP, samples.SAMPLES, samples.DAMAGED, sweep_samples.JOURNAL, sweep_samples.ASIDE}
    assert named | {reproduction.RECORD, record.FILE} <= whole_file.RECORDS
    assert all(whole_file._FOLDERS.fullmatch(each) for each in (samples.RAW, sweep_samples.SAMPLES, sweep_samples.RECORDS))
