"""Labs that are offered in a folder, as a file or at an address, with a lab of a few bytes."""

import functools
import hashlib
import http.server
import shutil
import subprocess
import threading

import pytest

from slownet.cli.app import main
from slownet.lab.build import kernel, parts, project
from slownet.model.errors import LabError
from slownet.transfer import export, offered, release


@pytest.fixture
def lab(built, tmp_path, monkeypatch):
    """A folder with the lab of this version and the sums that name it, and a cache that is empty again."""
    folder = tmp_path / "labs"
    folder.mkdir()
    monkeypatch.setattr(offered, "SUMS", tmp_path / "lab-sums.txt")
    for function in (offered.sums, offered.publish, release.publish):
        monkeypatch.setattr(function, "__defaults__", (tmp_path / "lab-sums.txt",))
    release.publish()
    its = folder / offered.name(parts.key(None))
    export.write(its, None, images=False, only_base=True)
    shutil.rmtree(built)
    return its


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def take(monkeypatch, text=None, of=None):
    if text is not None:
        monkeypatch.setenv("SLOWNET_LAB_FROM", str(text))
    lines = []
    return offered.take(of, lines.append), lines


def stated(tmp_path, text):
    file = tmp_path / "slownet.toml"
    file.write_text(f'lab = "{text}"\n')
    return project.at(file)


def test_one_in_a_folder_is_taken_if_its_sum_is_a_known_one(lab, monkeypatch):
    taken, lines = take(monkeypatch, lab.parent)
    assert taken
    assert lines == [
        f"taking the lab of {lab}, SLOWNET_LAB_FROM",
        f"kernel, init, image taken, SHA-256 {sha256(lab)[:16]}... of lab-sums.txt",
    ]
    assert parts.need().kernel.release == "7.3.4"
    assert take(monkeypatch) == (False, [])


def test_a_file_too_and_one_of_which_the_sum_is_stated(lab, monkeypatch, tmp_path):
    other = tmp_path / "mine.tar"
    lab.rename(other)
    offered.SUMS.unlink()
    assert take(monkeypatch, f"{other}#sha256={sha256(other)}")[1][1].endswith("given there")
    assert parts.find()


def test_what_the_projects_file_names_is_relative_to_it_and_the_variable_overrides_it(lab, monkeypatch, tmp_path):
    its = stated(tmp_path, "labs")
    assert take(monkeypatch, "", its) == (False, [])
    monkeypatch.chdir("/")
    monkeypatch.delenv("SLOWNET_LAB_FROM")
    taken, lines = take(monkeypatch, of=its)
    assert (taken, lines[0]) == (True, f"taking the lab of {lab}, {tmp_path / 'slownet.toml'}, lab")


def test_a_projects_file_does_not_state_a_sum(lab, monkeypatch, tmp_path):
    """Its lab would be that of all projects of this account."""
    its = stated(tmp_path, f"labs/{lab.name}#sha256={sha256(lab)}")
    with pytest.raises(LabError, match=r"^a project's file does not decide .*slownet\.toml, lab: leave #sha256= out; .*=labs/"):
        take(monkeypatch, of=its)
    assert parts.find() is None
    offered.SUMS.unlink()
    assert take(monkeypatch, of=stated(tmp_path, "labs")) == (
        False,
        [f"lab-sums.txt has no sum for this version's lab, {tmp_path / 'slownet.toml'}, lab: building one"],
    )


@pytest.mark.parametrize("is_folder", [True, False])
def test_one_at_an_address(lab, monkeypatch, is_folder):
    handler = functools.partial(Quiet, directory=str(lab.parent))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        taken, lines = take(monkeypatch, f"http://127.0.0.1:{server.server_port}/{'' if is_folder else lab.name}")
        server.shutdown()
    assert taken
    assert lines[0] == f"taking the lab of http://127.0.0.1:{server.server_port}/{lab.name}, SLOWNET_LAB_FROM"
    assert parts.find()


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *words):
        pass


def test_another_file_of_that_name_is_refused_and_nothing_is_kept_of_it(lab, monkeypatch):
    content = lab.read_bytes()
    lab.write_bytes(content[:-1] + b"x")
    with pytest.raises(LabError) as caught:
        take(monkeypatch, lab.parent)
    line = str(caught.value)
    assert (
        f"{lab} is another file: its SHA-256 is {sha256(lab)[:16]}..., not {hashlib.sha256(content).hexdigest()[:16]}" in line
    )
    assert line.endswith("..., SLOWNET_LAB_FROM: correct it, or build a lab here: SLOWNET_LAB_FROM= slownet lab build")
    assert parts.find() is None


def test_a_file_that_is_not_there_is_one_line(lab, monkeypatch, tmp_path):
    with pytest.raises(LabError, match=r"^cannot read .*/none\.tar \(No such .*\), SLOWNET_LAB_FROM: correct it"):
        take(monkeypatch, tmp_path / "none.tar")


def test_a_sum_that_is_right_does_not_make_a_lab_of_another_version_this_ones(lab, monkeypatch):
    monkeypatch.setattr(kernel, "key", lambda kind="base": "0123456789abcdef")
    with pytest.raises(LabError, match=r"this lab is of slownet .* needs another kernel, .*tar, SLOWNET_LAB_FROM: correct it"):
        take(monkeypatch, f"{lab}#sha256={sha256(lab)}")
    assert parts.find() is None


def test_without_a_sum_of_this_version_a_lab_is_built(lab, monkeypatch):
    monkeypatch.setattr(kernel, "key", lambda kind="base": "0123456789abcdef")
    taken, (line,) = take(monkeypatch, lab.parent)
    assert not taken
    assert line.startswith(
        f"lab-sums.txt has no sum for this version's lab, and {lab.parent} is named without #sha256=, SLOWNET_"
    )
    assert line.endswith(": building one")


def test_a_folder_without_the_lab_of_this_version_is_named_and_a_lab_is_built(lab, monkeypatch):
    lab.unlink()
    assert take(monkeypatch, lab.parent) == (False, [f"{lab.parent} has no {lab.name}, SLOWNET_LAB_FROM: building one"])


def test_an_earlier_sum_of_the_same_lab_gives_way_and_those_of_others_stay(tmp_path):
    path = tmp_path / "sums.txt"
    for key, sha256 in (("x86_64-1", "a" * 64), ("x86_64-2", "b" * 64), ("x86_64-1", "c" * 64)):
        offered.publish(key, sha256, path)
    assert [(each.key, each.sha256[0]) for each in offered.sums(path)] == [("x86_64-1", "c"), ("x86_64-2", "b")]


def test_a_line_that_cannot_be_understood_is_named(tmp_path):
    path = tmp_path / "sums.txt"
    path.write_text("# sums\nx86_64-1 abc lab.tar\n")
    with pytest.raises(LabError, match=r"not the SHA-256 and the name of a lab, .*sums\.txt, line 2: make release"):
        offered.sums(path)


def test_the_sums_of_the_source_can_be_read():
    assert all(each.key.partition("-")[0] in ("x86_64", "aarch64") for each in offered.sums())


def test_sha256sum_reads_them(lab):
    done = subprocess.run(["sha256sum", "--check", "--quiet", offered.SUMS], cwd=lab.parent, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (0, b"")


def test_lab_build_takes_it(lab, monkeypatch, capfd):
    monkeypatch.setenv("SLOWNET_LAB_FROM", str(lab))
    monkeypatch.setattr(parts, "build", lambda report, only_exact: exit(7) if parts.find() and not only_exact else exit(8))
    with pytest.raises(SystemExit, match="7"):
        main(["lab", "build", "--quick"])
    assert "lab: kernel, init, image taken, " in capfd.readouterr().err


@pytest.mark.parametrize(("text", "says"), [("lab = 3", "lab is not a text"), ('lab = " "', "lab is not a text")])
def test_a_projects_file_that_names_none_is_one_line(tmp_path, text, says):
    file = tmp_path / "slownet.toml"
    file.write_text(f"{text}\n")
    with pytest.raises(LabError, match=rf"{says}, {file}: write for example lab = "):
        project.at(file)
